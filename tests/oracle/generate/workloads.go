// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// controller is an owner of pods, whose selector says which pods the default constraints spread.
type controller struct {
	kind, apiVersion, name, namespace string
	labels                            map[string]string
}

func (g *generator) namespaceObjects() []any {
	var objects []any
	for _, name := range namespaces[:len(namespaces)-1] {
		labels := g.labels(namespaceLabelKeys, namespaceLabels, 0.7)
		labels[corev1.LabelMetadataName] = name
		objects = append(objects, &corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		})
	}
	return objects
}

// workloads are services and controllers; the controllers are kept for own.
func (g *generator) workloads() []any {
	var objects []any
	if g.chance(g.mood.services) {
		for i := range g.between(1, 4) {
			objects = append(objects, &corev1.Service{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("s%d", i), Namespace: g.namespace()},
				Spec:       corev1.ServiceSpec{Selector: g.labels(podLabelKeys, podLabels, 0.4)},
			})
		}
	}
	if g.mood.owners > 0 {
		for i := range g.between(1, 6) {
			objects = append(objects, g.controller(i))
		}
	}
	return objects
}

func (g *generator) controller(i int) any {
	c := controller{name: fmt.Sprintf("w%d", i), namespace: g.namespace(), labels: g.labels(podLabelKeys, podLabels, 0.6)}
	if len(c.labels) == 0 {
		c.labels["app"] = "web"
	}
	meta := metav1.ObjectMeta{Name: c.name, Namespace: c.namespace}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: c.labels}}
	var object any
	switch g.IntN(3) {
	case 0:
		c.apiVersion, c.kind = "v1", "ReplicationController"
		object = &corev1.ReplicationController{TypeMeta: c.typeMeta(), ObjectMeta: meta,
			Spec: corev1.ReplicationControllerSpec{Selector: c.labels, Template: &template}}
	case 1:
		c.apiVersion, c.kind = "apps/v1", "ReplicaSet"
		object = &appsv1.ReplicaSet{TypeMeta: c.typeMeta(), ObjectMeta: meta,
			Spec: appsv1.ReplicaSetSpec{Selector: g.selectorOf(c), Template: template}}
	default:
		c.apiVersion, c.kind = "apps/v1", "StatefulSet"
		object = &appsv1.StatefulSet{TypeMeta: c.typeMeta(), ObjectMeta: meta,
			Spec: appsv1.StatefulSetSpec{Selector: g.selectorOf(c), Template: template, ServiceName: "s0"}}
	}
	g.controllers = append(g.controllers, c)
	return object
}

func (c controller) typeMeta() metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: c.apiVersion, Kind: c.kind}
}

// selectorOf selects the controller's own labels, in one way or another.
func (g *generator) selectorOf(c controller) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	for _, key := range podLabelKeys {
		value, has := c.labels[key]
		switch {
		case !has:
		case g.chance(0.3):
			selector.MatchExpressions = append(selector.MatchExpressions,
				metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value}})
		default:
			selector = metav1.AddLabelToSelector(selector, key, value)
		}
	}
	return selector
}

// own gives the pod to a controller, and mostly its labels too. The controller may be of a kind that spreading
// does not know, and may not exist.
func (g *generator) own(pod *corev1.Pod) {
	c := controller{kind: "Job", apiVersion: "batch/v1", name: "j"}
	if len(g.controllers) > 0 && g.chance(0.9) {
		c = pick(g.random, g.controllers)
		pod.Namespace = c.namespace
	}
	if g.chance(0.1) {
		c.name = "gone"
	}
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: c.apiVersion, Kind: c.kind, Name: c.name, UID: "owner", Controller: ptr(g.chance(0.95)),
	}}
	if g.chance(0.9) {
		maps.Copy(pod.Labels, c.labels)
	}
}
