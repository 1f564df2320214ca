// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/demo/story"
	"berth.dev/tests/internal/daemon/workload"
)

// reportCrowd shows how fast and where the pods were bound.
func (s *show) reportCrowd(cpu time.Duration) {
	times := s.tracker.BoundTimes()
	took := times[len(times)-1].Sub(s.begin)
	s.Step("%s pods bound in %s, for %s of CPU", s.Bold(fmt.Sprint(len(times))), story.Rounded(took), story.Rounded(cpu))

	s.Heading("Pods bound over time")
	since := make([]time.Duration, len(times))
	for i, at := range times {
		since[i] = at.Sub(s.begin)
	}
	s.Plot(since)

	s.Heading("What was asked for, and the time from seen to bound")
	table := [][]string{{"PODS", "OF", "THAT ASK FOR", "MEDIAN", "SLOWEST"}}
	for _, g := range s.Groups {
		waits := s.waits(g)
		table = append(table, []string{fmt.Sprint(len(waits)), g.Kind + " " + g.Name, g.What,
			story.Rounded(workload.Percentile(waits, 50)), story.Rounded(workload.Percentile(waits, 100))})
	}
	s.Table(table)
	s.ReportSpread()
}

// waits are the times from the first sight of each pod to its binding, in ascending order.
func (s *show) waits(g story.Group) []time.Duration {
	var waits []time.Duration
	for _, pod := range s.PodsOf(g) {
		waits = append(waits, s.tracker.BoundAt(pod.Metadata.Name).Sub(s.tracker.SeenAt(pod.Metadata.Name)))
	}
	slices.Sort(waits)
	return waits
}

// reportMisfits shows why each pod that is left has no node.
func (s *show) reportMisfits(ctx context.Context) error {
	held := story.Gated().Metadata.Name
	_, err := s.tracker.AwaitPod(ctx, held, "held back", func(pod *corev1.Pod) bool {
		return workload.HasReason(pod, corev1.PodReasonSchedulingGated)
	})
	if err != nil {
		return err
	}
	s.ReportMisfits(func(pod string) string { return workload.ScheduledCondition(s.tracker.Pod(pod)).Message }, held)
	return nil
}

// addLateNode adds the node that most of them lack, and then releases the pod that is held back.
func (s *show) addLateNode(ctx context.Context) error {
	s.Heading("A node comes with 96 CPUs, 16 GPUs and a free port 443")
	node := story.LateNode()
	name := node.Metadata.Name
	s.Nodes[name] = node
	if err := workload.CreateNodes(ctx, s.cluster.client, convert[corev1.Node](node)); err != nil {
		return err
	}
	added := time.Now()
	for _, m := range story.Misfits() {
		if m.Fixed {
			continue
		}
		if err := s.reportLanding(ctx, m.Name(), added); err != nil {
			return err
		}
		if on := s.tracker.Pod(m.Name()).Spec.NodeName; on != name {
			s.Fault("%s is on node %s, want %s", m.Name(), on, name)
		}
	}
	s.Heading("The gate is removed")
	pods := s.cluster.client.CoreV1().Pods(story.Namespace)
	held, err := pods.Get(ctx, story.Gated().Metadata.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read the gated pod: %w", err)
	}
	held.Spec.SchedulingGates = nil
	if _, err := pods.Update(ctx, held, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("remove the gate: %w", err)
	}
	return s.reportLanding(ctx, held.Name, time.Now())
}

// landingLimit is how soon a pod must be bound after the event that lets it fit. It allows for the
// backoff of a pod that has just been tried once more.
const landingLimit = 3 * time.Second

func (s *show) reportLanding(ctx context.Context, name string, since time.Time) error {
	pod, err := s.tracker.AwaitPod(ctx, name, "bound", workload.IsBound)
	if err != nil {
		return err
	}
	took := s.tracker.BoundAt(name).Sub(since)
	if took > landingLimit {
		s.Fault("%s was bound %s after it could be", name, story.Rounded(took))
	}
	s.Line("  %s %-14s on %s after %s", s.Green("✓"), name, pod.Spec.NodeName, story.Rounded(max(took, 0)))
	return nil
}
