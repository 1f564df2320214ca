// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/demo/story"
	"berth.dev/tests/internal/daemon"
)

// asked is a Berth that answers about this cluster.
func (s *show) asked(program daemon.Program) (story.Berth, error) {
	text, err := controlplane.CompleteSchedulerConfig(story.Config, s.cluster.daemonKubeconfig)
	if err != nil {
		return story.Berth{}, err
	}
	file := filepath.Join(s.cluster.dir, "questions.yaml")
	return story.Berth{Path: program.Path, Of: []string{"--kubeconfig", s.cluster.daemonKubeconfig, "--config", file}},
		os.WriteFile(file, text, 0o600)
}

// askQuestions asks what would let pods schedule, and does it, and what a drain would come to.
func (s *show) askQuestions(ctx context.Context, program daemon.Program) error {
	berth, err := s.asked(program)
	if err != nil {
		return err
	}
	for _, m := range story.Misfits() {
		if m.Fixed {
			if err := s.fix(ctx, berth, m.Name()); err != nil {
				return err
			}
		}
	}
	return s.AskDrain(ctx, berth)
}

// fix makes the smallest change that lets a pod schedule, by the API server, and sees where the daemon binds the pod.
func (s *show) fix(ctx context.Context, berth story.Berth, name string) error {
	fix, err := s.AskFix(ctx, berth, name)
	if err != nil {
		return err
	}
	patches, err := fix.Patches(convert[story.Pod](s.tracker.Pod(name)), s.Nodes)
	if err != nil {
		return err
	}
	made := time.Now()
	core := s.cluster.client.CoreV1()
	for _, patch := range patches {
		s.Line("  %s the first of these is done: %s %s is patched", s.Bold("→"), patch.Kind, patch.Name)
		if patch.Kind == "Pod" {
			_, err = core.Pods(story.Namespace).Patch(ctx, patch.Name, types.MergePatchType, patch.Body, metav1.PatchOptions{})
		} else {
			_, err = core.Nodes().Patch(ctx, patch.Name, types.MergePatchType, patch.Body, metav1.PatchOptions{})
		}
		if err != nil {
			return fmt.Errorf("patch %s %s: %w", patch.Kind, patch.Name, err)
		}
	}
	if err := s.reportLanding(ctx, name, made); err != nil {
		return err
	}
	s.CheckFixed(fix, name, s.tracker.Pod(name).Spec.NodeName)
	return nil
}
