// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/demo/story"
)

// convert makes an object of the API of a plain one, or the other way round: both have the same JSON, as far as the plain one
// goes.
func convert[To any](from any) *To {
	text, err := json.Marshal(from)
	to := new(To)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		panic(fmt.Sprintf("convert %T: %v", from, err)) // a mistake in the story's types
	}
	return to
}

// template is the group's pod as a workload object holds it.
func template(g story.Group) corev1.PodTemplateSpec {
	pod := convert[corev1.Pod](g.Pod(0))
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec}
}

func selector(g story.Group) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": g.Name}}
}

func deployment(g story.Group) *appsv1.Deployment {
	replicas := int32(g.Replicas)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: g.Name},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector(g), Template: template(g)},
	}
}

func daemonSet(g story.Group) *appsv1.DaemonSet {
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: g.Name},
		Spec:       appsv1.DaemonSetSpec{Selector: selector(g), Template: template(g)},
	}
}
