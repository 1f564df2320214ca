// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"
	"time"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

const twoProfiles = `
clientConnection: {qps: 5000, burst: 5000}
profiles:
- schedulerName: spreading
  plugins:` + withoutExtras + `
- schedulerName: packing
  plugins:` + withoutExtras + `      - {name: TaintToleration}
      - {name: NodeResourcesBalancedAllocation}
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}
`

func TestTwoProfilesWithDifferentPluginsInOneProcess(t *testing.T) {
	e := newEnv(t)
	e.manyNodes(4, workload.NoSchedule("k"))
	e.start(twoProfiles)

	e.createPods(workload.Pod("repelled", workload.Scheduler("spreading")))
	e.awaitUnschedulable("repelled", "0/4 nodes are available: 4 node(s) had untolerated taint(s).")

	one := []workload.PodOption{workload.Requests("cpu", "1", "memory", "1Gi"), workload.Tolerate("k")}
	e.oneByOne("spread", 4, append(one, workload.Scheduler("spreading"))...)
	if nodes := e.nodesOf("spread", 4); len(nodes) != 4 {
		e.Errorf("LeastAllocated put 4 pods on nodes %v, want one on each", nodes)
	}
	// The other profile sees the pods of the first, and no taints.
	packed := []workload.PodOption{workload.Requests("cpu", "1", "memory", "1Gi"), workload.Scheduler("packing")}
	e.oneByOne("pack", 3, packed...)
	if nodes := e.nodesOf("pack", 3); len(nodes) != 1 {
		e.Errorf("MostAllocated put 3 pods on nodes %v, want one node", nodes)
	}
	for pod, controller := range map[string]string{"spread-0": "spreading", "pack-0": "packing"} {
		if event := e.awaitEvents("Scheduled", pod, 1)[0]; event.ReportingController != controller {
			e.Errorf("%s was reported by %s, want %s", pod, event.ReportingController, controller)
		}
	}
	e.checkAllocatable()
}

// oneByOne creates each pod when the one before is bound.
func (e *env) oneByOne(name string, n int, options ...workload.PodOption) {
	e.Helper()
	for i := range n {
		pod := workload.Pod(fmt.Sprintf("%s-%d", name, i), options...)
		e.createPods(pod)
		_, err := e.pods.AwaitPod(e.within(10*time.Second), pod.Name, "bound", workload.IsBound)
		e.must(err)
	}
}

// nodesOf counts the pods name-0 to name-(n-1) by node.
func (e *env) nodesOf(name string, n int) map[string]int {
	e.Helper()
	nodes := map[string]int{}
	for i := range n {
		nodes[e.pods.Pod(fmt.Sprintf("%s-%d", name, i)).Spec.NodeName]++
	}
	return nodes
}

func TestRunsWithoutAConfigurationFile(t *testing.T) {
	e := newEnv(t)
	e.createNodes(workload.Node("a"))
	e.startAs(controlplane.Berth, "")
	e.createPods(workload.Pod("pod", workload.Requests("cpu", "1")))
	e.awaitNode(e.within(30*time.Second), "pod", "a")
	e.awaitEvents("Scheduled", "pod", 1)
}
