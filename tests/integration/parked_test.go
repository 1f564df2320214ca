// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/internal/daemon/workload"
)

// parkedCase is a pod that fits nowhere, and the one change that lets it fit.
type parkedCase struct {
	name    string
	nodes   []*corev1.Node
	others  []*corev1.Pod // on their nodes from the beginning
	pod     *corev1.Pod
	message string
	change  func(e *env)
	node    string
	limit   time.Duration // from the change to the bound pod; 0 is promptly
}

func parkedCases() []parkedCase {
	small := workload.Allocatable("cpu", "1")
	needsTwo := workload.Pod("parked", workload.Requests("cpu", "2"))
	return []parkedCase{{
		name:    "the first node of all is added",
		pod:     workload.Pod("parked"),
		message: "no nodes available to schedule pods",
		change:  func(e *env) { e.createNodes(workload.Node("first")) },
		node:    "first",
		// No plugin rejected it, so that it is tried again after its backoff, as after an error.
		limit: 4 * time.Second,
	}, {
		name:    "a greater node is added",
		nodes:   []*corev1.Node{workload.Node("small", small)},
		pod:     needsTwo,
		message: "0/1 nodes are available: 1 Insufficient cpu.",
		change:  func(e *env) { e.createNodes(workload.Node("great")) },
		node:    "great",
	}, {
		name:    "a node grows",
		nodes:   []*corev1.Node{workload.Node("small", small), workload.Node("other", small)},
		pod:     needsTwo,
		message: "0/2 nodes are available: 2 Insufficient cpu.",
		change: func(e *env) {
			e.patchNode("small", `{"status":{"allocatable":{"cpu":"3"},"capacity":{"cpu":"3"}}}`, "status")
		},
		node: "small",
	}, {
		name:    "a node offers an extended resource",
		nodes:   []*corev1.Node{workload.Node("plain")},
		pod:     workload.Pod("parked", workload.Requests("example.com/gpu", "1")),
		message: "0/1 nodes are available: 1 Insufficient example.com/gpu.",
		change: func(e *env) {
			e.createNodes(workload.Node("gpu", workload.Allocatable("example.com/gpu", "1")))
		},
		node: "gpu",
	}, {
		name:    "a node gets a label",
		nodes:   []*corev1.Node{workload.Node("a"), workload.Node("b")},
		pod:     workload.Pod("parked", workload.NodeSelector("disk", "ssd")),
		message: "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
		change:  func(e *env) { e.patchNode("b", `{"metadata":{"labels":{"disk":"ssd"}}}`) },
		node:    "b",
	}, {
		name:    "a taint is removed",
		nodes:   []*corev1.Node{workload.Node("a", workload.NoSchedule("k")), workload.Node("b", workload.NoSchedule("k"))},
		pod:     workload.Pod("parked"),
		message: "0/2 nodes are available: 2 node(s) had untolerated taint(s).",
		change:  func(e *env) { e.patchNode("b", `{"spec":{"taints":null}}`) },
		node:    "b",
	}, {
		name:    "the pod gets a toleration",
		nodes:   []*corev1.Node{workload.Node("a", workload.NoSchedule("k"))},
		pod:     workload.Pod("parked"),
		message: "0/1 nodes are available: 1 node(s) had untolerated taint(s).",
		change: func(e *env) {
			e.patchPod("parked", `{"spec":{"tolerations":[{"key":"k","operator":"Exists"}]}}`)
		},
		node: "a",
	}, {
		name:    "a node is made schedulable",
		nodes:   []*corev1.Node{workload.Node("a", workload.Cordoned())},
		pod:     workload.Pod("parked"),
		message: "0/1 nodes are available: 1 node(s) were unschedulable.",
		change:  func(e *env) { e.patchNode("a", `{"spec":{"unschedulable":false}}`) },
		node:    "a",
	}, {
		name:    "a pod that takes the CPU is deleted",
		nodes:   []*corev1.Node{workload.Node("a")},
		others:  []*corev1.Pod{workload.Pod("other", workload.OnNode("a"), workload.Requests("cpu", "3"))},
		pod:     needsTwo,
		message: "0/1 nodes are available: 1 Insufficient cpu.",
		change:  func(e *env) { e.deletePod("other") },
		node:    "a",
	}, {
		name:    "a pod that takes the CPU finishes",
		nodes:   []*corev1.Node{workload.Node("a")},
		others:  []*corev1.Pod{workload.Pod("other", workload.OnNode("a"), workload.Requests("cpu", "3"))},
		pod:     needsTwo,
		message: "0/1 nodes are available: 1 Insufficient cpu.",
		change:  func(e *env) { e.patchPod("other", `{"status":{"phase":"Succeeded"}}`, "status") },
		node:    "a",
	}, {
		name:    "a pod that takes the CPU is resized",
		nodes:   []*corev1.Node{workload.Node("a")},
		others:  []*corev1.Pod{workload.Pod("other", workload.OnNode("a"), workload.Requests("cpu", "3"))},
		pod:     needsTwo,
		message: "0/1 nodes are available: 1 Insufficient cpu.",
		change: func(e *env) {
			e.patchPod("other", `{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"1"}}}]}}`, "resize")
		},
		node: "a",
	}, {
		name:    "a pod that takes the last place is deleted",
		nodes:   []*corev1.Node{workload.Node("a", workload.Allocatable("pods", "1"))},
		others:  []*corev1.Pod{workload.Pod("other", workload.OnNode("a"))},
		pod:     workload.Pod("parked"),
		message: "0/1 nodes are available: 1 Too many pods.",
		change:  func(e *env) { e.deletePod("other") },
		node:    "a",
	}, {
		name:    "a pod that takes the host port is deleted",
		nodes:   []*corev1.Node{workload.Node("a")},
		others:  []*corev1.Pod{workload.Pod("other", workload.OnNode("a"), workload.HostPort(8080))},
		pod:     workload.Pod("parked", workload.HostPort(8080)),
		message: "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
		change:  func(e *env) { e.deletePod("other") },
		node:    "a",
	}, {
		name: "one of several obstacles goes",
		nodes: []*corev1.Node{
			workload.Node("small", small, workload.NodeLabel("disk", "ssd")),
			workload.Node("tainted", workload.NoSchedule("k"), workload.NodeLabel("disk", "ssd")),
			workload.Node("unlabelled"),
			workload.Node("cordoned", workload.Cordoned()),
		},
		pod: workload.Pod("parked", workload.Requests("cpu", "2"), workload.NodeSelector("disk", "ssd")),
		message: "0/4 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector, " +
			"1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.",
		change: func(e *env) { e.patchNode("tainted", `{"spec":{"taints":null}}`) },
		node:   "tainted",
	}}
}

func TestParkedPodIsBoundByTheEventThatLetsItFit(t *testing.T) {
	e := newEnv(t)
	e.start(fast())
	// The first pod shows that the daemon is ready, which is not what is measured below.
	e.createNodes(workload.Node("warm-up"))
	e.createPods(workload.Pod("warm-up"))
	e.awaitNode(e.within(30*time.Second), "warm-up", "warm-up")
	e.clear()
	for _, c := range parkedCases() {
		t.Run(c.name, func(t *testing.T) {
			inner := *e
			inner.T = t
			inner.runParked(c)
		})
		e.clear()
	}
}

func (e *env) runParked(c parkedCase) {
	e.createNodes(c.nodes...)
	for _, node := range c.nodes {
		e.awaitSeen(node.Name)
	}
	e.createPods(c.others...)
	e.createPods(c.pod)
	e.awaitUnschedulable(c.pod.Name, c.message)
	e.checkFailureEvent(c.pod.Name, c.message)

	// Longer than the backoff of a first failure, which is a second, rounded up to a whole one.
	e.letPass(2100 * time.Millisecond)
	if bound := e.pods.BoundAt(c.pod.Name); !bound.IsZero() {
		e.Fatalf("the pod was bound to %s", e.pods.Pod(c.pod.Name).Spec.NodeName)
	}
	c.change(e)
	changed := time.Now()
	e.awaitNode(e.within(10*time.Second), c.pod.Name, c.node)
	took := e.pods.BoundAt(c.pod.Name).Sub(changed)
	e.Logf("bound after %s", took.Round(100*time.Microsecond))
	if limit := cmp.Or(c.limit, promptly); took > limit {
		e.Errorf("the pod was bound %s after it could be, want at most %s", took, limit)
	}
}

// checkFailureEvent checks that the pod has one event FailedScheduling with that note.
func (e *env) checkFailureEvent(pod, note string) {
	e.Helper()
	uid := e.pods.Pod(pod).UID
	var found int
	e.eventually("an event FailedScheduling", func() bool {
		found = 0
		for _, event := range e.events("FailedScheduling", pod) {
			if event.Regarding.UID != uid {
				continue
			}
			found++
			if event.Note != note || event.Type != corev1.EventTypeWarning || event.Action != "Scheduling" {
				e.Errorf("event of type %s, action %s, note %q, want %q", event.Type, event.Action, event.Note, note)
			}
		}
		return found > 0
	})
	if found != 1 {
		e.Errorf("there are %d events FailedScheduling", found)
	}
}

// clear removes the pods and nodes, so that the next case finds none, nor does the daemon. The tracker forgets the pods.
func (e *env) clear() {
	e.Helper()
	e.must(workload.DeletePods(e.ctx, e.admin, e.namespace))
	e.must(workload.DeleteNodes(e.ctx, e.admin, ""))
	e.must(e.pods.AwaitGone(e.within(10 * time.Second)))
	e.awaitNoNodes()
	e.pods.Forget()
}

func (e *env) patchNode(name, patch string, subresources ...string) {
	e.Helper()
	_, err := e.admin.CoreV1().Nodes().Patch(e.ctx, name, types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{}, subresources...)
	e.must(err)
}

func (e *env) patchPod(name, patch string, subresources ...string) {
	e.Helper()
	_, err := e.admin.CoreV1().Pods(e.namespace).Patch(e.ctx, name, types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{}, subresources...)
	e.must(err)
}

func (e *env) deletePod(name string) {
	e.Helper()
	e.must(workload.DeletePod(e.ctx, e.admin, e.namespace, name))
}

// attempts is how often the scheduler has tried the pod in vain: its failures are one event for
// each version of the pod, and the repeats are counted in a series.
func (e *env) attempts(pod string) int {
	e.Helper()
	attempts := 0
	for _, event := range e.events("FailedScheduling", pod) {
		attempts++
		if event.Series != nil {
			attempts += int(event.Series.Count) - 1
		}
	}
	return attempts
}

func TestParkedPodIsNotTriedAgainByOtherEvents(t *testing.T) {
	e := newEnv(t)
	e.createNodes(workload.Node("a"), workload.Node("tainted", workload.NoSchedule("k")))
	e.start(fast())
	e.createPods(workload.Pod("parked", workload.Requests("cpu", "5")))
	e.awaitUnschedulable("parked", "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).")
	e.checkFailureEvent("parked", e.message("parked"))
	// Neither a label, nor a taint that stays, nor a pod that comes gives the parked pod what it lacks.
	for i := range 5 {
		e.patchNode("a", fmt.Sprintf(`{"metadata":{"labels":{"step":"%d"}}}`, i))
		e.patchNode("tainted", fmt.Sprintf(`{"spec":{"taints":[{"key":"k","value":"%d","effect":"NoSchedule"}]}}`, i))
		name := fmt.Sprintf("marker-%d", i)
		e.createPods(workload.Pod(name))
		e.awaitNode(e.within(10*time.Second), name, "a")
	}
	e.awaitEvents("Scheduled", "marker-4", 1) // and so the events before it
	if n := e.attempts("parked"); n != 1 {
		e.Errorf("the pod was tried %d times", n)
	}
}

func (e *env) message(pod string) string {
	return workload.ScheduledCondition(e.pods.Pod(pod)).Message
}
