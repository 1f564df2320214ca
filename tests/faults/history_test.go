// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

var dawn = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(second int) time.Time { return dawn.Add(time.Duration(second) * time.Second) }

func named(name string, options ...workload.PodOption) *corev1.Pod {
	pod := workload.Pod(name)
	pod.UID, pod.Labels["app"] = types.UID(name), "kin"
	for _, option := range options {
		option(pod)
	}
	return pod
}

func bound(pod, node string, second int) controlplane.Binding {
	return controlplane.Binding{Pod: pod, UID: pod, Node: node, Code: 201, Received: at(second), Answered: at(second)}
}

// judged is what a history of these pods, bound as told, says of overcommitment.
func judged(h *history, bindings ...controlplane.Binding) string {
	if len(h.epochs) == 0 {
		h.epochs = []epoch{{from: dawn}}
	}
	var pods []corev1.Pod
	for _, pod := range h.pods {
		pods = append(pods, *pod)
	}
	return h.overcommitted(h.stays(bindings, pods, at(100)))
}

func past(pods ...*corev1.Pod) *history {
	h := &history{
		nodes: []*corev1.Node{
			workload.Node("one", workload.Allocatable("cpu", "1"), workload.NodeLabel(corev1.LabelTopologyZone, "za")),
			workload.Node("two", workload.Allocatable("cpu", "1"), workload.NodeLabel(corev1.LabelTopologyZone, "zb"))},
		pods: map[string]*corev1.Pod{}, deleted: map[string]time.Time{},
	}
	for _, pod := range pods {
		h.pods[string(pod.UID)] = pod
	}
	return h
}

func TestAPodThatAnEvictionRemovedAtOnceIsNotCounted(t *testing.T) {
	half := workload.Requests("cpu", "600m")
	h := past(named("victim", half), named("urgent", half))
	h.epochs = []epoch{{from: dawn}}
	left := []corev1.Pod{*h.pods["urgent"]}
	stays := h.stays([]controlplane.Binding{bound("victim", "one", 1), bound("urgent", "one", 3)}, left, at(100))
	if wrong := h.overcommitted(stays); wrong != "" || len(stays) != 1 {
		t.Errorf("%d stays: %s", len(stays), wrong)
	}
}

func TestHistorySeesWhatWasTogether(t *testing.T) {
	half := workload.Requests("cpu", "600m")
	cases := []struct {
		name  string
		pod   workload.PodOption
		wrong bool // if two such pods are on one node
	}{
		{"resources", half, true},
		{"ports", workload.HostPort(80), true},
		{"anti-affinity", workload.Apart(), true},
		{"nothing", workload.Requests("cpu", "400m"), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := past(named("a", c.pod), named("b", c.pod))
			if wrong := judged(h, bound("a", "one", 1), bound("b", "two", 2)); wrong != "" {
				t.Errorf("on two nodes: %s", wrong)
			}
			if wrong := judged(h, bound("a", "one", 1), bound("b", "one", 2)); (wrong != "") != c.wrong {
				t.Errorf("on one node: %q, want wrong: %v", wrong, c.wrong)
			}
			h.deleted["a"] = at(2)
			if wrong := judged(h, bound("a", "one", 1), bound("b", "one", 3)); wrong != "" {
				t.Errorf("one after the other: %s", wrong)
			}
		})
	}
}

func TestHistoryBeginsAgainWithARestore(t *testing.T) {
	h := past(named("a", workload.Requests("cpu", "600m")), named("b", workload.Requests("cpu", "600m")))
	h.epochs = []epoch{{from: dawn, until: at(5)}, {from: at(6), bound: map[string]string{"b": "two"}}}
	lost := []controlplane.Binding{bound("b", "two", 1), bound("a", "one", 4), bound("a", "one", 7)}
	if wrong := h.boundTwice(lost); wrong != "" {
		t.Errorf("a binding that the restore undid counts: %s", wrong)
	}
	if wrong := judged(h, lost...); wrong != "" {
		t.Error(wrong)
	}
	if h.boundTwice(append(lost, bound("b", "two", 8))) == "" {
		t.Error("a pod that the restored state has on a node may be bound again")
	}
	if judged(h, bound("b", "two", 1), bound("a", "two", 7)) == "" {
		t.Error("what the restored state has on a node is not counted")
	}
}

func TestHistoryCountsWhatIsThereWithoutABinding(t *testing.T) {
	h := past(named("a", workload.Requests("cpu", "600m")), named("b", workload.Requests("cpu", "600m")))
	h.epochs = []epoch{{from: dawn}}
	there := *h.pods["b"]
	there.Spec.NodeName = "one"
	if h.overcommitted(h.stays([]controlplane.Binding{bound("a", "one", 1)}, []corev1.Pod{*h.pods["a"], there}, at(9))) == "" {
		t.Error("a pod that is there without a binding is not counted")
	}
}

func TestHistorySeesAnUnevenSpread(t *testing.T) {
	spread := workload.Spread(corev1.LabelTopologyZone, corev1.DoNotSchedule)
	pods := []*corev1.Pod{named("a", spread), named("b", spread)}
	h := past(pods...)
	pods[0].Spec.NodeName, pods[1].Spec.NodeName = "one", "two"
	if wrong := h.skewed(pods); wrong != "" {
		t.Error(wrong)
	}
	pods[1].Spec.NodeName = "one"
	if h.skewed(pods) == "" {
		t.Error("two of two pods in one of two zones are called even")
	}
}

func TestHistorySeesAMisplacedPod(t *testing.T) {
	h := past()
	h.epochs = []epoch{{from: dawn}}
	pod := *named("a")
	pod.Spec.NodeName = "two"
	if h.misplaced([]controlplane.Binding{bound("a", "one", 1)}, []corev1.Pod{pod}, true) == "" {
		t.Error("a pod is elsewhere than it was bound")
	}
	cutOff := bound("a", "two", 1)
	cutOff.Code = 500
	if wrong := h.misplaced([]controlplane.Binding{cutOff}, []corev1.Pod{pod}, false); wrong != "" {
		t.Errorf("a binding whose client went away may have been done, but: %s", wrong)
	}
	if h.misplaced(nil, []corev1.Pod{pod}, false) == "" {
		t.Error("a pod is bound that no binding bound")
	}
	if wrong := h.misplaced(nil, []corev1.Pod{pod}, true); wrong != "" {
		t.Errorf("a crash loses lines of the audit log, but: %s", wrong)
	}
}
