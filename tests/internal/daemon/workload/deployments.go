// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Deployment keeps so many of Pod(name, options...).
func Deployment(name string, replicas int, options ...PodOption) *appsv1.Deployment {
	count := int32(replicas)
	pod := Pod(name, options...)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &count,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(pod.Labels)},
				Spec:       pod.Spec,
			},
		},
	}
}

// Service is before the pods of the Deployment of that name.
func Service(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": name},
			Ports:    []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
		},
	}
}

// Lags is what a Deployment's status says is still to be done; "" if all its pods are there, are of
// its newest template and are ready, and no others are left.
func Lags(d *appsv1.Deployment) string {
	want, status := *d.Spec.Replicas, d.Status
	if status.ObservedGeneration >= d.Generation && status.Replicas == want &&
		status.UpdatedReplicas == want && status.AvailableReplicas == want {
		return ""
	}
	return fmt.Sprintf("Deployment %s wants %d pods and has %d, %d up to date, %d available",
		d.Name, want, status.Replicas, status.UpdatedReplicas, status.AvailableReplicas)
}
