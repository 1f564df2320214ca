// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/daemon/workload"
)

// reportCrowd shows how fast and where the pods were bound.
func (s *show) reportCrowd(cpu time.Duration) {
	times := s.tracker.BoundTimes()
	took := times[len(times)-1].Sub(s.begin)
	s.step("%s pods bound in %s, for %s of CPU", s.bold(fmt.Sprint(len(times))), rounded(took), rounded(cpu))

	s.heading("Pods bound over time")
	since := make([]time.Duration, len(times))
	for i, at := range times {
		since[i] = at.Sub(s.begin)
	}
	s.plot(since)

	s.heading("What was asked for, and the time from seen to bound")
	table := [][]string{{"PODS", "OF", "THAT ASK FOR", "MEDIAN", "SLOWEST"}}
	for _, g := range s.groups {
		waits := s.waits(g)
		table = append(table, []string{fmt.Sprint(len(waits)), g.kind + " " + g.name, g.what,
			rounded(workload.Percentile(waits, 50)), rounded(workload.Percentile(waits, 100))})
	}
	s.table(table)
	s.reportSpread()
}

// waits are the times from the first sight of each pod to its binding, in ascending order.
func (s *show) waits(g group) []time.Duration {
	var waits []time.Duration
	for _, pod := range s.podsOf(g) {
		waits = append(waits, s.tracker.BoundAt(pod.Name).Sub(s.tracker.SeenAt(pod.Name)))
	}
	slices.Sort(waits)
	return waits
}

// reportSpread shows each zone, and in it each node by the share of its CPU that is taken.
func (s *show) reportSpread() {
	s.heading("Spread over zones and nodes; each column is a node, as high as its CPU is taken")
	used := s.usage()
	pods, most := map[string]int{}, 0
	for name, list := range used {
		zone := s.nodes[name].Labels[corev1.LabelTopologyZone]
		pods[zone] += int(quantityOf(list, corev1.ResourcePods))
		most = max(most, pods[zone])
	}
	names := make([]string, 0, len(used))
	for name := range used {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, zone := range zones {
		var columns strings.Builder
		for _, name := range names {
			node := s.nodes[name]
			if node.Labels[corev1.LabelTopologyZone] == zone {
				share := quantityOf(used[name], corev1.ResourceCPU) / quantityOf(node.Status.Allocatable, corev1.ResourceCPU)
				columns.WriteString(s.column(share, node.Labels["pool"]))
			}
		}
		s.line("  %s %s %3d pods  %s", zone, s.bar(pods[zone], most, 18), pods[zone], columns.String())
	}
	if s.terminal {
		s.line("  nodes: %s, %s, %s", s.poolColour("general", "general"), s.poolColour("batch", "batch"), s.poolColour("gpu", "gpu"))
	}
}

func quantityOf(list corev1.ResourceList, name corev1.ResourceName) float64 {
	quantity := list[name]
	return quantity.AsApproximateFloat64()
}

// reportMisfits shows why each pod that is left has no node.
func (s *show) reportMisfits(ctx context.Context) error {
	s.heading("Pods that fit nowhere, and why")
	table := [][]string{{"POD", "CONDITION"}}
	for _, m := range misfits() {
		condition := workload.ScheduledCondition(s.tracker.Pod(m.pod.Name))
		table = append(table, []string{m.pod.Name, condition.Message})
		if !strings.Contains(condition.Message, m.reason) {
			s.fault("the message of %s does not say %q: %q", m.pod.Name, m.reason, condition.Message)
		}
	}
	held, err := s.tracker.AwaitPod(ctx, gated().Name, "held back", func(pod *corev1.Pod) bool {
		return workload.HasReason(pod, corev1.PodReasonSchedulingGated)
	})
	if err != nil {
		return err
	}
	s.table(append(table, []string{held.Name, workload.ScheduledCondition(held).Message}))
	return nil
}

// addLateNode adds the node that they lack, and then releases the pod that is held back.
func (s *show) addLateNode(ctx context.Context) error {
	s.heading("A node comes with 96 CPUs, 16 GPUs, a tape drive and a free port 443")
	node := lateNode()
	s.nodes[node.Name] = node
	if err := workload.CreateNodes(ctx, s.cluster.client, node); err != nil {
		return err
	}
	added := time.Now()
	for _, m := range misfits() {
		if err := s.reportLanding(ctx, m.pod.Name, added); err != nil {
			return err
		}
		if on := s.tracker.Pod(m.pod.Name).Spec.NodeName; on != node.Name {
			s.fault("%s is on node %s, want %s", m.pod.Name, on, node.Name)
		}
	}
	s.heading("The gate is removed")
	pods := s.cluster.client.CoreV1().Pods(namespace)
	held, err := pods.Get(ctx, gated().Name, metav1.GetOptions{})
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
		s.fault("%s was bound %s after it could be", name, rounded(took))
	}
	s.line("  %s %-14s on %s after %s", s.green("✓"), name, pod.Spec.NodeName, rounded(max(took, 0)))
	return nil
}
