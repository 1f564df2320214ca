// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/internal/daemon/workload"
)

// A profile as it is written for kubernetes-sigs/scheduler-plugins.
const numaProfile = `
clientConnection: {qps: 5000, burst: 5000}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
profiles:
- schedulerName: default-scheduler
  plugins:
    filter: {enabled: [{name: NodeResourceTopologyMatch}]}
    score: {enabled: [{name: NodeResourceTopologyMatch}]}
    reserve: {enabled: [{name: NodeResourceTopologyMatch}]}
  pluginConfig:
  - name: NodeResourceTopologyMatch
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourceTopologyMatchArgs
      scoringStrategy: {type: LeastAllocated}
`

// What of the agents' CustomResourceDefinition matters here.
const topologyDefinition = `{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "noderesourcetopologies.topology.node.k8s.io",
    "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes/enhancements/pull/1870"}},
  "spec": {"group": "topology.node.k8s.io", "scope": "Cluster",
    "names": {"kind": "NodeResourceTopology", "listKind": "NodeResourceTopologyList", "plural": "noderesourcetopologies",
      "singular": "noderesourcetopology"},
    "versions": [{"name": "v1alpha2", "served": true, "storage": true,
      "schema": {"openAPIV3Schema": {"type": "object", "required": ["zones"], "properties": {
        "topologyPolicies": {"type": "array", "items": {"type": "string"}},
        "attributes": {"type": "array", "items": {"type": "object", "required": ["name", "value"],
          "properties": {"name": {"type": "string"}, "value": {"type": "string"}}}},
        "zones": {"type": "array", "items": {"type": "object", "required": ["name", "type"], "properties": {
          "name": {"type": "string"}, "type": {"type": "string"}, "parent": {"type": "string"},
          "costs": {"type": "array", "items": {"type": "object", "required": ["name", "value"],
            "properties": {"name": {"type": "string"}, "value": {"type": "integer", "format": "int64"}}}},
          "resources": {"type": "array", "items": {"type": "object",
            "required": ["allocatable", "available", "capacity", "name"], "properties": {
              "name": {"type": "string"}, "capacity": {"x-kubernetes-int-or-string": true},
              "allocatable": {"x-kubernetes-int-or-string": true},
              "available": {"x-kubernetes-int-or-string": true}}}}}}}}}}}]}}`

const topologiesPath = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"

func (e *env) defineTopologies() {
	e.Helper()
	e.defineKind("noderesourcetopologies.topology.node.k8s.io", topologyDefinition, topologiesPath)
}

// zones is the member of a topology with NUMA nodes that have so many cpus left, a number as it is and text quoted.
func zones(cpus ...string) string {
	var list []string
	for i, cpu := range cpus {
		list = append(list, fmt.Sprintf(`{"name":"node-%d","type":"Node","resources":[
			{"name":"cpu","capacity":16,"allocatable":"16","available":%s},
			{"name":"memory","capacity":"64Gi","allocatable":"64Gi","available":"32Gi"}]}`, i, cpu))
	}
	return `"zones":[` + strings.Join(list, ",") + "]"
}

// createTopology writes what an agent would: of a node with the policy single-numa-node.
func (e *env) createTopology(node, scope string, cpus ...string) {
	e.Helper()
	body := fmt.Sprintf(`{"apiVersion":"topology.node.k8s.io/v1alpha2","kind":"NodeResourceTopology","metadata":{"name":%q},
		"attributes":[{"name":"topologyManagerPolicy","value":"single-numa-node"},{"name":"topologyManagerScope","value":%q}],
		%s}`, node, scope, zones(cpus...))
	e.must(e.rest().Post().AbsPath(topologiesPath).Body([]byte(body)).Do(e.ctx).Error())
}

// guaranteed is a pod whose containers have so many cpus each, and 1Gi.
func guaranteed(name string, cpus ...string) *corev1.Pod {
	return workload.Pod(name, func(pod *corev1.Pod) {
		container := pod.Spec.Containers[0]
		pod.Spec.Containers = nil
		for i, cpu := range cpus {
			container.Name = fmt.Sprintf("c%d", i)
			container.Resources.Requests = corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("1Gi"),
			}
			container.Resources.Limits = container.Resources.Requests
			pod.Spec.Containers = append(pod.Spec.Containers, *container.DeepCopy())
		}
	})
}

func (e *env) awaitMisfit(pod, message string) {
	e.Helper()
	_, err := e.pods.AwaitPod(e.within(30*time.Second), pod, message, func(pod *corev1.Pod) bool {
		condition := workload.ScheduledCondition(pod)
		return condition != nil && strings.Contains(condition.Message, message)
	})
	e.must(err)
}

// TestPodsGoWhereOneNUMANodeHasAllOfThem with the custom resource and a profile of scheduler-plugins, and with no right
// that deploy/components/numa does not give.
func TestPodsGoWhereOneNUMANodeHasAllOfThem(t *testing.T) {
	e := newEnv(t)
	e.defineTopologies()
	e.grantComponent("numa")
	for _, node := range []string{"split", "whole", "containers"} {
		e.createNodes(workload.Node(node, workload.Allocatable("cpu", "32", "memory", "128Gi", "pods", "110")))
	}
	e.createTopology("split", "pod", "4", `"4"`)
	e.createTopology("whole", "pod", "7")
	e.createTopology("containers", "container", "4", "4")
	e.start(numaProfile)

	e.createPods(guaranteed("large", "6"))
	e.awaitNode(e.within(30*time.Second), "large", "whole")
	e.createPods(guaranteed("pair", "4", "4"))
	e.awaitNode(e.within(30*time.Second), "pair", "containers")
	e.createPods(guaranteed("larger", "9"))
	e.awaitMisfit("larger", "1 cannot align container, 2 cannot align pod")
	e.createPods(workload.Pod("plain", workload.Requests("cpu", "9")))
	_, err := e.pods.AwaitPod(e.within(30*time.Second), "plain", "bound", workload.IsBound)
	e.must(err)

	// The agent reports again.
	e.must(e.rest().Patch(types.MergePatchType).AbsPath(topologiesPath, "split").Body([]byte("{" + zones("10", "4") + "}")).
		Do(e.ctx).Error())
	e.awaitNode(e.within(30*time.Second), "larger", "split")
	e.checkAllocatable()
}

// TestPlacedPodsCountUntilAnAgentReportsThem: the object stays as it is, and two pods do not share its one free place.
func TestPlacedPodsCountUntilAnAgentReportsThem(t *testing.T) {
	e := newEnv(t)
	e.defineTopologies()
	e.grantComponent("numa")
	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "32", "memory", "128Gi", "pods", "110")))
	e.createTopology("a", "pod", "4", "4")
	e.start(strings.Replace(numaProfile, "scoringStrategy:", "cacheResyncPeriodSeconds: 1\n      scoringStrategy:", 1))
	e.createPods(guaranteed("first", "3"))
	e.awaitNode(e.within(30*time.Second), "first", "a")
	e.createPods(guaranteed("second", "3"))
	e.awaitMisfit("second", "cannot align pod")
}

// TestTopologiesAreFoundWhenTheirDefinitionAndTheRightCome: until then that is told once, and no node is checked.
func TestTopologiesAreFoundWhenTheirDefinitionAndTheRightCome(t *testing.T) {
	e := newEnv(t)
	e.refusals = true
	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "32", "memory", "128Gi", "pods", "110")))
	d := e.start(numaProfile)
	e.createPods(guaranteed("before", "9"))
	e.awaitNode(e.within(30*time.Second), "before", "a")
	absent := func() int {
		return strings.Count(d.Log(), `it counts as empty until that changes" resource="noderesourcetopologies.topology.node.k8s.io"`)
	}
	e.eventually("the line about the right", func() bool { return absent() > 0 })
	e.letPass(3 * time.Second)
	if absent() != 1 {
		t.Errorf("%d lines about the kind: want one", absent())
	}
	e.defineTopologies()
	e.createTopology("a", "pod", "4")
	e.grantComponent("numa")
	e.eventually("a node that is checked", func() bool {
		name := fmt.Sprintf("after-%d", time.Now().UnixMilli())
		e.createPods(guaranteed(name, "9"))
		pod, err := e.pods.AwaitPod(e.within(30*time.Second), name, "decided", func(pod *corev1.Pod) bool {
			return workload.IsBound(pod) || workload.ScheduledCondition(pod) != nil
		})
		e.must(err)
		if workload.IsBound(pod) {
			e.deletePod(name)
			return false
		}
		return strings.Contains(workload.ScheduledCondition(pod).Message, "cannot align pod")
	})
}
