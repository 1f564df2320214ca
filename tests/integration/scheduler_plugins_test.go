// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// Profiles as they are written for kubernetes-sigs/scheduler-plugins.
const allocatableProfiles = `
clientConnection: {qps: 5000, burst: 5000}
profiles:
- schedulerName: least
  plugins:
    preScore: {disabled: [{name: "*"}]}
    score:
      disabled: [{name: "*"}]
      enabled: [{name: NodeResourcesAllocatable, weight: 50000}]
  pluginConfig:
  - name: NodeResourcesAllocatable
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesAllocatableArgs
      mode: Least
      resources: [{name: memory, weight: 10}]
- schedulerName: most
  plugins:
    preScore: {disabled: [{name: "*"}]}
    score:
      disabled: [{name: "*"}]
      enabled: [{name: NodeResourcesAllocatable, weight: 50000}]
  pluginConfig:
  - name: NodeResourcesAllocatable
    args:
      mode: Most
      resources: [{name: memory, weight: 10}]
`

// With Least small pods fill the small nodes, and the large node is there for a large pod; with Most every pod goes to
// the large one.
func TestNodesAreChosenByWhatTheyHaveInAll(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"small-1", "small-2"} {
		e.createNodes(workload.Node(name, workload.Allocatable("pods", "32", "cpu", "500m", "memory", "500Mi")))
	}
	e.createNodes(workload.Node("large", workload.Allocatable("pods", "32", "cpu", "500m", "memory", "5000Mi")))
	e.start(allocatableProfiles)

	for _, scheduler := range []string{"least", "most"} {
		e.oneByOne(scheduler, 4, workload.Requests("memory", "100Mi"), workload.Scheduler(scheduler))
		e.createPods(workload.Pod("large-"+scheduler, workload.Requests("memory", "2000Mi"), workload.Scheduler(scheduler)))
		e.awaitNode(e.within(30*time.Second), "large-"+scheduler, "large")
	}
	if nodes := e.nodesOf("least", 4); nodes["large"] != 0 {
		e.Errorf("Least put small pods on %v, want the small nodes", nodes)
	}
	if nodes := e.nodesOf("most", 4); nodes["large"] != 4 {
		e.Errorf("Most put small pods on %v, want the large node", nodes)
	}
	e.checkAllocatable()
}

const weightedProfile = `
clientConnection: {qps: 5000, burst: 5000}
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: WeightedTopologySpread, weight: 50}]
  pluginConfig:
  - name: WeightedTopologySpread
    args:
      constraints:
      - labelSelector: {matchExpressions: [{key: shares, operator: Exists}]}
        matchLabelKeys: [shares]
        topologyKey: karpenter.sh/capacity-type
        weights: [{value: spot, weight: 7}, {value: on-demand, weight: 3}]
        whenUnsatisfiable: DoNotSchedule
      - labelSelector: {matchExpressions: [{key: shares, operator: DoesNotExist}]}
        topologyKey: pool
        order: [first, second]
        whenUnsatisfiable: ScheduleAnyway
`

func TestSharesOfSpotNodesAndPoolsInOrder(t *testing.T) {
	e := newEnv(t)
	node := func(name, capacity, pool string) *corev1.Node {
		return workload.Node(name, workload.NodeLabel("karpenter.sh/capacity-type", capacity), workload.NodeLabel("pool", pool),
			workload.Allocatable("pods", "110", "cpu", "20", "memory", "64Gi"))
	}
	e.createNodes(node("spot-1", "spot", "second"), node("spot-2", "spot", "second"),
		node("other-1", "on-demand", "second"), node("other-2", "on-demand", "first"))
	e.start(weightedProfile)
	labelled := func(pod *corev1.Pod) { pod.Labels = map[string]string{"app": "web", "shares": "web"} }

	// Twenty at once, and ten one after the other.
	e.manyPods(20, "burst", labelled, workload.Requests("cpu", "100m"))
	for i := range 20 {
		_, err := e.pods.AwaitPod(e.within(30*time.Second), fmt.Sprintf("burst-%d", i), "bound", workload.IsBound)
		e.must(err)
	}
	e.oneByOne("single", 10, labelled, workload.Requests("cpu", "100m"))
	spot := 0
	for name, pods := range map[string]int{"burst": 20, "single": 10} {
		nodes := e.nodesOf(name, pods)
		spot += nodes["spot-1"] + nodes["spot-2"]
	}
	if spot != 21 {
		e.Errorf("%d of 30 pods are on spot nodes, want 21", spot)
	}

	// Pods without the label fill the first pool: it has 20 CPUs, of which those above have some.
	e.oneByOne("pool", 3, workload.Requests("cpu", "5"))
	if nodes := e.nodesOf("pool", 3); nodes["other-2"] != 3 {
		e.Errorf("the first pods are on %v, want other-2, the node of the first pool", nodes)
	}
	e.oneByOne("later", 1, workload.Requests("cpu", "10"))
	if nodes := e.nodesOf("later", 1); nodes["other-2"] != 0 {
		e.Errorf("a pod that has no room in the first pool is on %v", nodes)
	}

	// Without spot nodes on-demand may be one pod ahead of its share: 10 of 31 pods are, 11 of 32 would be more.
	for _, name := range []string{"spot-1", "spot-2"} {
		e.patchNode(name, `{"spec":{"unschedulable":true}}`)
	}
	e.oneByOne("ahead", 1, labelled)
	e.createPods(workload.Pod("waits", labelled))
	e.awaitUnschedulable("waits", "0/4 nodes are available: 2 node(s) didn't match weighted topology spread constraints, "+
		"2 node(s) were unschedulable. preemption: 0/4 nodes are available: 2 No preemption victims found for incoming pod, "+
		"2 Preemption is not helpful for scheduling.")
	e.patchNode("spot-1", `{"spec":{"unschedulable":false}}`)
	e.awaitNode(e.within(30*time.Second), "waits", "spot-1")
	e.checkAllocatable()
}
