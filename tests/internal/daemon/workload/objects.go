// SPDX-License-Identifier: Apache-2.0

// Package workload makes nodes and pods in a cluster and sees what a scheduler does with them.
package workload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeOption changes a node in the making.
type NodeOption func(*corev1.Node)

// Node is a Ready node with 4 CPUs, 32 GiB and room for 110 pods.
func Node(name string, options ...NodeOption) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
				LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
			}},
		},
	}
	Allocatable("cpu", "4", "memory", "32Gi", "pods", "110")(node)
	for _, option := range options {
		option(node)
	}
	return node
}

// Allocatable sets resources, given as pairs of name and quantity.
func Allocatable(pairs ...string) NodeOption {
	return func(node *corev1.Node) {
		if node.Status.Allocatable == nil {
			node.Status.Allocatable = corev1.ResourceList{}
		}
		for name, quantity := range resources(pairs) {
			node.Status.Allocatable[name] = quantity
		}
		node.Status.Capacity = node.Status.Allocatable.DeepCopy()
	}
}

// NodeLabel sets a label.
func NodeLabel(key, value string) NodeOption {
	return func(node *corev1.Node) { node.Labels[key] = value }
}

// NoSchedule adds a taint that repels pods.
func NoSchedule(key string) NodeOption {
	return func(node *corev1.Node) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}
}

// Cordoned makes the node unschedulable.
func Cordoned() NodeOption {
	return func(node *corev1.Node) { node.Spec.Unschedulable = true }
}

// PodOption changes a pod in the making.
type PodOption func(*corev1.Pod)

// Pod is a pod of one container that requests nothing.
func Pod(name string, options ...PodOption) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "registry.k8s.io/pause:3.10"}},
		},
	}
	for _, option := range options {
		option(pod)
	}
	return pod
}

// Requests sets what the container requests, as pairs of name and quantity. Where the API demands a
// limit too, as for extended resources, it is the same.
func Requests(pairs ...string) PodOption {
	return func(pod *corev1.Pod) {
		container := &pod.Spec.Containers[0]
		container.Resources.Requests = resources(pairs)
		for name, quantity := range container.Resources.Requests {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
				continue
			}
			if container.Resources.Limits == nil {
				container.Resources.Limits = corev1.ResourceList{}
			}
			container.Resources.Limits[name] = quantity
		}
	}
}

// HostPort asks for a TCP port of the node.
func HostPort(port int32) PodOption {
	return func(pod *corev1.Pod) {
		container := &pod.Spec.Containers[0]
		container.Ports = append(container.Ports, corev1.ContainerPort{ContainerPort: port, HostPort: port})
	}
}

// NodeSelector demands a label of the node.
func NodeSelector(key, value string) PodOption {
	return func(pod *corev1.Pod) {
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		pod.Spec.NodeSelector[key] = value
	}
}

// RequireNode demands that the node's label has one of the values.
func RequireNode(key string, values ...string) PodOption {
	return func(pod *corev1.Pod) {
		nodeAffinity(pod).RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{labelIn(key, values)},
		}
	}
}

// PreferNode prefers, with the greatest weight, that the node's label has one of the values.
func PreferNode(key string, values ...string) PodOption {
	return func(pod *corev1.Pod) {
		affinity := nodeAffinity(pod)
		affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
			affinity.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: 100, Preference: labelIn(key, values)})
	}
}

func nodeAffinity(pod *corev1.Pod) *corev1.NodeAffinity {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if pod.Spec.Affinity.NodeAffinity == nil {
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	return pod.Spec.Affinity.NodeAffinity
}

func labelIn(key string, values []string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
		Key: key, Operator: corev1.NodeSelectorOpIn, Values: values,
	}}}
}

// Spread keeps the numbers of pods with the pod's own labels alike, to a difference of 1, over what
// the node label tells apart.
func Spread(key string, when corev1.UnsatisfiableConstraintAction) PodOption {
	return func(pod *corev1.Pod) {
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: when, LabelSelector: Kin(pod),
		})
	}
}

// Apart keeps pods with the pod's own labels off the same host.
func Apart() PodOption {
	return func(pod *corev1.Pod) {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{SameHost(pod)},
		}}
	}
}

// Kin selects the pods with the pod's labels.
func Kin(pod *corev1.Pod) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: pod.Labels}
}

// SameHost is the term of a pod's kin on one host.
func SameHost(pod *corev1.Pod) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: Kin(pod)}
}

// Tolerate lets the pod onto nodes with a taint of that key.
func Tolerate(key string) PodOption {
	return func(pod *corev1.Pod) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations,
			corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	}
}

// Gates hold the pod back until they are removed.
func Gates(names ...string) PodOption {
	return func(pod *corev1.Pod) {
		for _, name := range names {
			pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
		}
	}
}

// PriorityClass names the class of the pod's priority.
func PriorityClass(name string) PodOption {
	return func(pod *corev1.Pod) { pod.Spec.PriorityClassName = name }
}

// Scheduler names the scheduler that is to place the pod.
func Scheduler(name string) PodOption {
	return func(pod *corev1.Pod) { pod.Spec.SchedulerName = name }
}

// OnNode makes a pod that is on a node from the beginning.
func OnNode(name string) PodOption {
	return func(pod *corev1.Pod) { pod.Spec.NodeName = name }
}

// Finalizer keeps a deleted pod around until the finalizer is removed.
func Finalizer(name string) PodOption {
	return func(pod *corev1.Pod) { pod.Finalizers = append(pod.Finalizers, name) }
}

func resources(pairs []string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i+1 < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}
