// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// Each kind has a watch of its own, and no order holds between two of them: a daemon may hear of a pod before it hears of a
// node that was there first. Where a test is about what a pod finds, these wait until the daemon knows it.

// awaitSeen returns when the daemon knows the node, and what was done before to it, to other nodes and to pods. It has a pod
// bound to the node, which must have room for one more that requests nothing, and deletes it.
func (e *env) awaitSeen(node string) {
	e.Helper()
	probe := e.createProbe(workload.RequireNode(corev1.LabelHostname, node))
	e.awaitNode(e.within(30*time.Second), probe, node)
	e.deletePod(probe)
	e.awaitPodGone(probe)
}

// awaitNoNodes returns when the daemon knows no node.
func (e *env) awaitNoNodes() {
	e.Helper()
	for none := false; !none; {
		probe := e.createProbe()
		_, err := e.pods.AwaitPod(e.within(30*time.Second), probe, "tried", func(pod *corev1.Pod) bool {
			condition := workload.ScheduledCondition(pod)
			none = condition != nil && condition.Message == "no nodes available to schedule pods"
			return none || workload.IsBound(pod)
		})
		e.must(err)
		e.deletePod(probe)
		e.awaitPodGone(probe)
	}
}

// createProbe creates a pod that tolerates all taints, and returns its name.
func (e *env) createProbe(options ...workload.PodOption) string {
	e.Helper()
	const name = "probe"
	e.createPods(workload.Pod(name, append(options, workload.Tolerate(""))...))
	return name
}

func (e *env) awaitPodGone(name string) {
	e.Helper()
	e.must(e.pods.Await(e.within(10*time.Second), "pod "+name+" to be gone",
		func(pods map[string]*corev1.Pod) bool { return pods[name] == nil }))
}
