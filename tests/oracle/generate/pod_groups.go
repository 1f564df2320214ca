// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podGroup is a group in the making.
type podGroup struct {
	object *schedulingv1beta1.PodGroup
	// alike says that all pods are as the first one is.
	alike   bool
	first   *corev1.Pod
	members int
}

// gather has pods that belong to groups, and little else that keeps them off nodes.
func (m *mood) gather(r random) {
	m.groups, m.members = r.between(1, 8), 0.4+0.5*r.Float64()
	m.lone, m.strange = r.feature(0.1), r.feature(0.05)
	// All that may have to go differ in their start, and one budget covers a pod: else upstream's order is not said.
	m.noStart, m.budgets = 0, min(m.budgets, 1)
	// Upstream forgets where images are on nodes that a group's dry run takes pods from.
	m.images = 0
	for _, feature := range []*float64{&m.taints, &m.unschedulable, &m.nodeSelector, &m.nodeAffinity, &m.affinity,
		&m.antiAffinity, &m.hardSpread, &m.wantsExtended, &m.wantsHuge, &m.huge, &m.needsFeature, &m.ports, &m.gated,
		&m.terminating, &m.otherScheduler} {
		*feature /= 4
	}
}

// podGroups makes the groups, and some of the pods their members.
func (g *generator) podGroups(pods []*corev1.Pod) []any {
	if g.mood.groups == 0 {
		return nil
	}
	groups := make([]*podGroup, g.mood.groups)
	for i := range groups {
		groups[i] = g.podGroup(i)
	}
	for i, pod := range pods {
		if pod.Status.StartTime != nil {
			pod.Status.StartTime = ptr(metav1.NewTime(someTime.Add(time.Duration(i*7%len(pods)) * time.Minute)))
		}
		if g.chance(g.mood.members) {
			g.join(pod, pick(g.random, groups))
		}
	}
	var objects []any
	for _, group := range groups {
		if policy := &group.object.Spec.SchedulingPolicy; policy.Gang != nil {
			policy.Gang.MinCount = int32(max(1, pick(g.random, []int{group.members, group.members, group.members - 1,
				group.members + 1, (group.members + 1) / 2, 1})))
		}
		if !g.chance(g.mood.lone) {
			objects = append(objects, group.object)
		}
	}
	return objects
}

func (g *generator) podGroup(i int) *podGroup {
	object := &schedulingv1beta1.PodGroup{
		TypeMeta:   metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1beta1", Kind: "PodGroup"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("g%d", i), Namespace: g.namespace()},
	}
	if g.chance(0.75) {
		object.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{}
	} else {
		object.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
	}
	if g.chance(g.mood.priority) {
		object.Spec.Priority = ptr(pick(g.random, g.mood.waitingPriorities))
	}
	switch g.IntN(4) {
	case 0, 1:
		object.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
	case 2:
		object.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
	}
	return &podGroup{object: object, alike: g.chance(0.5)}
}

// join makes the pod one of the group's, with what all of them must have in common.
func (g *generator) join(pod *corev1.Pod, group *podGroup) {
	group.members++
	if group.first == nil {
		group.first = pod
	} else if group.alike {
		node, gates := pod.Spec.NodeName, pod.Spec.SchedulingGates
		pod.Labels, pod.Spec = group.first.Labels, *group.first.Spec.DeepCopy()
		pod.Spec.NodeName, pod.Spec.SchedulingGates = node, gates
		if node != "" {
			g.dropTakenPorts(pod)
		}
	}
	pod.Namespace = group.object.Namespace
	pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr(group.object.Name)}
	pod.Spec.Priority = group.object.Spec.Priority
	if pod.Spec.Priority == nil || *pod.Spec.Priority <= 0 {
		// Of a pod in flight upstream knows no priority: it is 0, and the pod takes one of the places on its nominated node.
		pod.Status.NominatedNodeName = ""
	}
	pod.Spec.SchedulerName, pod.Spec.PreemptionPolicy = group.first.Spec.SchedulerName, group.first.Spec.PreemptionPolicy
	if pod.Spec.NodeName == "" && g.chance(g.mood.strange) {
		pod.Spec.Priority = ptr[int32](7)
	}
}
