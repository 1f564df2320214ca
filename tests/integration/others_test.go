// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

func TestPodsOfOtherSchedulersAreLeftAloneButCounted(t *testing.T) {
	e := newEnv(t)
	other := workload.Scheduler("other")
	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "4")))
	e.createPods(
		workload.Pod("foreign-bound", other, workload.OnNode("a"), workload.Requests("cpu", "3")),
		workload.Pod("foreign-pending", other))
	e.start(fast())
	e.createPods(workload.Pod("own", workload.Requests("cpu", "2")), workload.Pod("small", workload.Requests("cpu", "1")))
	e.awaitUnschedulable("own", "0/1 nodes are available: 1 Insufficient cpu.")
	e.awaitNode(e.within(10*time.Second), "small", "a")

	e.deletePod("foreign-bound")
	e.awaitNode(e.within(10*time.Second), "own", "a")
	pending := e.pods.Pod("foreign-pending")
	if pending.Spec.NodeName != "" || len(pending.Status.Conditions) > 0 {
		e.Errorf("the other scheduler's pod has node %q and conditions %v", pending.Spec.NodeName, pending.Status.Conditions)
	}
	for _, b := range e.bindings() {
		if b.Pod == "foreign-pending" {
			e.Errorf("the other scheduler's pod was to be bound: %+v", b)
		}
	}
}

func TestDeletedPodsAreDropped(t *testing.T) {
	e := newEnv(t)
	e.start(fast())
	e.createNodes(workload.Node("small", workload.Allocatable("cpu", "1")))
	big := workload.Requests("cpu", "3")
	e.createPods(workload.Pod("deleted", big))
	e.awaitUnschedulable("deleted", "0/1 nodes are available: 1 Insufficient cpu.")
	e.createPods(workload.Pod("ending", big, workload.Finalizer("example.com/slow")))
	e.awaitUnschedulable("ending", "0/1 nodes are available: 1 Insufficient cpu.")
	e.deletePod("deleted")
	e.must(e.admin.CoreV1().Pods(e.namespace).Delete(e.ctx, "ending", metav1.DeleteOptions{}))
	e.awaitSeen("small")

	// Room for one of them: only the pod that stays may take it.
	e.createNodes(workload.Node("great"))
	e.createPods(workload.Pod("stays", big))
	e.awaitNode(e.within(10*time.Second), "stays", "great")
	want := "skip schedule deleting pod: " + e.namespace + "/ending"
	e.eventually("the event about the pod that is being deleted", func() bool {
		for _, event := range e.events("FailedScheduling", "ending") {
			if event.Note == want {
				return true
			}
		}
		return false
	})
	for _, b := range e.bindings() {
		if b.Pod == "deleted" || b.Pod == "ending" {
			e.Errorf("a deleted pod was to be bound: %+v", b)
		}
	}
}
