// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/daemon/workload"
)

const (
	urgentClass    = "berth-demo-urgent"
	urgentPriority = 1000000
)

// group is pods that are alike.
type group struct {
	name     string
	what     string // in words
	kind     string // Deployment, DaemonSet or Pod
	replicas int
	options  []workload.PodOption

	// belongs says whether a node is right for such a pod, as far as the pod alone decides.
	belongs func(*corev1.Node) bool
	// apart says that no two of them share a node.
	apart bool
}

func crowd(nodes int) []group {
	requests := workload.Requests
	return []group{{
		name: "web", what: "anything will do", kind: "Deployment", replicas: 240,
		options: []workload.PodOption{requests("cpu", "250m", "memory", "512Mi")},
		belongs: func(n *corev1.Node) bool { return len(n.Spec.Taints) == 0 },
	}, {
		name: "cache", what: "nodeSelector disk=ssd", kind: "Deployment", replicas: 40,
		options: []workload.PodOption{requests("cpu", "1", "memory", "4Gi"), workload.NodeSelector("disk", "ssd")},
		belongs: hasLabel("disk", "ssd"),
	}, {
		name: "api", what: "node affinity: zone-a or zone-b", kind: "Deployment", replicas: 60,
		options: []workload.PodOption{requests("cpu", "500m", "memory", "1Gi"),
			workload.RequireNode(corev1.LabelTopologyZone, "zone-a", "zone-b")},
		belongs: func(n *corev1.Node) bool {
			return len(n.Spec.Taints) == 0 && n.Labels[corev1.LabelTopologyZone] != "zone-c"
		},
	}, {
		name: "batch", what: "tolerates and prefers the batch nodes", kind: "Deployment", replicas: 60,
		options: []workload.PodOption{requests("cpu", "1", "memory", "1Gi"), workload.Tolerate("batch"),
			workload.PreferNode("pool", "batch")},
		belongs: func(n *corev1.Node) bool { return n.Labels["pool"] != "gpu" },
	}, {
		name: "trainer", what: "one GPU each, tolerates the GPU nodes", kind: "Deployment", replicas: 40,
		options: []workload.PodOption{requests("cpu", "2", "memory", "8Gi", gpu, "1"), workload.Tolerate("gpu")},
		belongs: hasLabel("pool", "gpu"),
	}, {
		name: "node-agent", what: "a DaemonSet, tolerates everything", kind: "DaemonSet", replicas: nodes,
		options: []workload.PodOption{requests("cpu", "50m", "memory", "64Mi"), workload.Tolerate("")},
		belongs: func(*corev1.Node) bool { return true }, apart: true,
	}, {
		name: "ingress", what: "host port 443 on the edge nodes", kind: "Pod", replicas: edgeNodes(demoNodes()),
		options: []workload.PodOption{workload.HostPort(443), workload.NodeSelector("edge", "yes")},
		belongs: hasLabel("edge", "yes"), apart: true,
	}}
}

// urgent pods come last and are to be bound first.
func urgent() group {
	return group{
		name: "urgent", what: "of high priority, created in the middle", kind: "Pod", replicas: 5,
		options: []workload.PodOption{workload.Requests("cpu", "100m"), workload.PriorityClass(urgentClass)},
		belongs: func(n *corev1.Node) bool { return len(n.Spec.Taints) == 0 },
	}
}

// misfit is a pod that fits nowhere, and what its message must say.
type misfit struct {
	pod    *corev1.Pod
	reason string
}

func misfits() []misfit {
	pod := func(name string, options ...workload.PodOption) *corev1.Pod {
		return workload.Pod(name, slices.Concat(options, everyPod)...)
	}
	return []misfit{
		{pod("too-big", workload.Requests("cpu", "64")), "Insufficient cpu"},
		{pod("no-such-disk", workload.NodeSelector("disk", "tape")), "node(s) didn't match Pod's node affinity/selector"},
		{pod("many-gpus", workload.Requests(gpu, "8"), workload.Tolerate("gpu")), "Insufficient " + gpu},
		{pod("repelled", workload.NodeSelector("pool", "gpu")), "node(s) had untolerated taint(s)"},
		{pod("port-taken", workload.HostPort(443), workload.NodeSelector("edge", "yes")),
			"node(s) didn't have free ports for the requested pod ports"},
	}
}

// gated is a pod that is held back until its gate is removed.
func gated() *corev1.Pod {
	return workload.Pod("gated", slices.Concat([]workload.PodOption{workload.Gates("example.com/wait")}, everyPod)...)
}

var everyPod = []workload.PodOption{
	workload.Scheduler(schedulerName),
	workload.NodeSelector(demoLabel, "yes"),
}

func edgeNodes(nodes []*corev1.Node) (count int) {
	for _, node := range nodes {
		if node.Labels["edge"] != "" {
			count++
		}
	}
	return count
}

func hasLabel(key, value string) func(*corev1.Node) bool {
	return func(node *corev1.Node) bool { return node.Labels[key] == value }
}

// template is the group's pod as a workload object holds it.
func (g group) template() corev1.PodTemplateSpec {
	pod := workload.Pod(g.name, slices.Concat(g.options, everyPod)...)
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(pod.Labels)},
		Spec:       pod.Spec,
	}
}

func (g group) deployment() *appsv1.Deployment {
	return workload.Deployment(g.name, g.replicas, slices.Concat(g.options, everyPod)...)
}

func (g group) daemonSet() *appsv1.DaemonSet {
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: g.name},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": g.name}},
			Template: g.template(),
		},
	}
}
