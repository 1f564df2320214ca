// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/daemon"
	"berth.dev/tests/daemon/workload"
)

// answerLines is how much of an answer is shown.
const answerLines = 14

// askQuestions shows what would let one more pod schedule, and what a drain would come to: asked of
// the cluster, whose pods and nodes stay as they are.
func (s *show) askQuestions(ctx context.Context, program daemon.Program) error {
	if program.Peer {
		return nil // kube-scheduler answers no questions
	}
	const name = "giant"
	giant := workload.Pod(name, slices.Concat([]workload.PodOption{workload.Requests("cpu", "128")}, everyPod)...)
	if err := s.createPod(ctx, giant); err != nil {
		return err
	}
	if _, err := s.tracker.AwaitPod(ctx, name, "found unschedulable", workload.IsUnschedulable); err != nil {
		return err
	}
	file, err := s.writeConfig()
	if err != nil {
		return err
	}
	s.heading("What would let a pod of 128 CPUs schedule")
	fixes, err := ask(ctx, program, "explain", "--kubeconfig", s.cluster.daemonKubeconfig, "--config", file, "--pod", namespace+"/"+name, "--fix")
	if err != nil {
		return err
	}
	if !s.excerpt(fixes, "  What would let it schedule", "  COST") {
		s.fault("no change would let %s schedule: %s", name, fixes)
	}
	drained := lateNode().Name
	s.heading("What if " + drained + " were drained")
	answer, err := ask(ctx, program, "simulate", "--kubeconfig", s.cluster.daemonKubeconfig, "--config", file, "--drain", drained)
	if err != nil {
		return err
	}
	if !s.excerpt(answer, "       NODES", "Drain of "+drained) {
		s.fault("the drain of %s is not answered: %s", drained, answer)
	}
	return nil
}

// writeConfig puts the daemon's configuration into a file.
func (s *show) writeConfig() (string, error) {
	text, err := controlplane.CompleteSchedulerConfig(config, s.cluster.daemonKubeconfig)
	if err != nil {
		return "", err
	}
	file := filepath.Join(s.cluster.dir, "questions.yaml")
	return file, os.WriteFile(file, text, 0o600)
}

// ask runs a command of Berth that answers "no" with code 1.
func ask(ctx context.Context, program daemon.Program, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program.Path, args...).Output()
	var failed *exec.ExitError
	if err == nil || (errors.As(err, &failed) && failed.ExitCode() == 1) {
		return string(out), nil
	}
	if failed != nil {
		return "", fmt.Errorf("berth %s: %w: %s", args[0], err, failed.Stderr)
	}
	return "", fmt.Errorf("berth %s: %w", args[0], err)
}

// excerpt shows an answer from the line that begins so. It says whether a line that begins with
// `holds` is in it.
func (s *show) excerpt(answer, from, holds string) (found bool) {
	lines := strings.Split(strings.TrimRight(answer, "\n"), "\n")
	begin := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, from) })
	if begin < 0 {
		return false
	}
	lines = lines[begin:]
	for i, line := range lines {
		found = found || strings.HasPrefix(line, holds)
		switch {
		case i < answerLines:
			s.line("  %s", strings.TrimPrefix(line, "  "))
		case i == answerLines:
			s.line("  ... and %d more lines", len(lines)-answerLines)
		}
	}
	return found
}
