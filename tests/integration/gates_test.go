// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/internal/daemon/workload"
)

func TestGatesHoldAndRelease(t *testing.T) {
	e := newEnv(t)
	e.createNodes(workload.Node("a"))
	e.start(fast())
	e.createPods(workload.Pod("gated", workload.Gates("example.com/one", "example.com/two")))
	e.expectHeld("before")
	e.patchPod("gated", `{"spec":{"$setElementOrder/schedulingGates":[{"name":"example.com/two"}],`+
		`"schedulingGates":[{"name":"example.com/one","$patch":"delete"}]}}`)
	e.expectHeld("between")
	e.patchPod("gated", `{"spec":{"schedulingGates":null}}`)
	released := time.Now()
	e.awaitNode(e.within(10*time.Second), "gated", "a")
	if took := e.pods.BoundAt("gated").Sub(released); took > promptly {
		e.Errorf("the pod was bound %s after its release", took)
	}
	e.awaitEvents("Scheduled", "gated", 1)
	if failures := e.events("FailedScheduling", "gated"); len(failures) > 0 {
		e.Errorf("a held pod is no failure, but there is the event %q", failures[0].Note)
	}
}

// expectHeld checks that the gated pod stays where it is while a later one is bound.
func (e *env) expectHeld(later string) {
	e.Helper()
	e.createPods(workload.Pod(later))
	e.awaitNode(e.within(30*time.Second), later, "a")
	if pod := e.pods.Pod("gated"); !workload.HasReason(pod, corev1.PodReasonSchedulingGated) {
		e.Errorf("the gated pod has node %q and condition %+v", pod.Spec.NodeName, workload.ScheduledCondition(pod))
	}
}
