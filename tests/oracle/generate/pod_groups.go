// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
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
	pods    []*corev1.Pod
	// root is what it has in common with the other groups of its tree.
	root *rootGroup
}

// rootGroup is the top of a tree of groups, a pod group or a composite one.
type rootGroup struct {
	priority *int32
	first    *corev1.Pod
}

// compositePodGroup is a composite group in the making.
type compositePodGroup struct {
	object   *schedulingv1alpha3.CompositePodGroup
	children int
	depth    int
	root     *rootGroup
}

// gather has pods that belong to groups, and little else that keeps them off nodes.
func (m *mood) gather(r random, trees bool) {
	m.groups, m.members = r.between(1, 8), 0.4+0.5*r.Float64()
	if trees {
		m.groups, m.composites = r.between(2, 8), r.between(1, 5)
	}
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
	composites := g.compositePodGroups()
	groups := make([]*podGroup, g.mood.groups)
	for i := range groups {
		groups[i] = g.podGroup(i)
		g.plant(groups[i], composites)
	}
	g.groups = groups
	for i, pod := range pods {
		if pod.Status.StartTime != nil {
			pod.Status.StartTime = ptr(metav1.NewTime(someTime.Add(time.Duration(i*7%len(pods)) * time.Minute)))
		}
		if g.chance(g.mood.members) {
			g.join(pod, pick(g.random, groups))
		}
	}
	objects := g.completed(composites)
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
	return &podGroup{object: object, alike: g.chance(0.5), root: &rootGroup{priority: object.Spec.Priority}}
}

// compositePodGroups makes trees of up to three levels, each group after the one that it is part of.
func (g *generator) compositePodGroups() []*compositePodGroup {
	composites := make([]*compositePodGroup, g.mood.composites)
	for i := range composites {
		object := &schedulingv1alpha3.CompositePodGroup{
			TypeMeta:   metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1alpha3", Kind: "CompositePodGroup"},
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c%d", i), Namespace: g.namespace(), CreationTimestamp: g.created()},
		}
		made := &compositePodGroup{object: object, depth: 1, root: &rootGroup{}}
		if g.chance(0.7) {
			object.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{}
		} else {
			object.Spec.SchedulingPolicy.Basic = &schedulingv1alpha3.CompositeBasicSchedulingPolicy{}
		}
		if g.chance(0.3) {
			object.Spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{All: &schedulingv1alpha3.AllCompositeDisruptionMode{}}
		}
		if i > 0 && g.chance(0.5) {
			if parent := pick(g.random, composites[:i]); parent.depth < 3 {
				object.Namespace = parent.object.Namespace
				object.Spec.ParentCompositePodGroupName = ptr(parent.object.Name)
				made.depth, made.root = parent.depth+1, parent.root
				parent.children++
			}
		}
		if made.depth == 1 && g.chance(g.mood.priority) {
			made.root.priority = ptr(pick(g.random, g.mood.waitingPriorities))
		}
		object.Spec.Priority = made.root.priority
		composites[i] = made
	}
	return composites
}

// plant makes the group part of a tree, or not.
func (g *generator) plant(group *podGroup, composites []*compositePodGroup) {
	if len(composites) == 0 {
		return
	}
	group.object.CreationTimestamp = g.created()
	if g.chance(0.2) {
		return
	}
	parent := pick(g.random, composites)
	parent.children++
	group.root = parent.root
	group.object.Namespace = parent.object.Namespace
	group.object.Spec.ParentCompositePodGroupName = ptr(parent.object.Name)
	group.object.Spec.Priority = parent.root.priority
}

// created is one of a few times: groups are tried in that order, and some have the same.
func (g *generator) created() metav1.Time {
	return metav1.NewTime(someTime.Add(time.Duration(g.IntN(3)) * time.Minute))
}

// completed has gangs need what there is of children, about.
func (g *generator) completed(composites []*compositePodGroup) []any {
	var objects []any
	for _, group := range composites {
		if policy := &group.object.Spec.SchedulingPolicy; policy.Gang != nil {
			policy.Gang.MinGroupCount = int32(max(1, pick(g.random, []int{group.children, group.children, group.children - 1, 1})))
		}
		if !g.chance(g.mood.lone / 2) {
			objects = append(objects, group.object)
		}
	}
	return objects
}

// join makes the pod one of the group's, with what all of them must have in common.
func (g *generator) join(pod *corev1.Pod, group *podGroup) {
	group.members++
	group.pods = append(group.pods, pod)
	if group.root.first == nil {
		group.root.first = pod
	}
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
	first := group.root.first.Spec
	pod.Spec.SchedulerName, pod.Spec.PreemptionPolicy = first.SchedulerName, first.PreemptionPolicy
	if pod.Spec.NodeName == "" && g.chance(g.mood.strange) {
		pod.Spec.Priority = ptr[int32](7)
	}
}
