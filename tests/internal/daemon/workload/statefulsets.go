// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// StatefulSet keeps so many of Pod(name, options...), all made at once, each with a claim like this one.
func StatefulSet(name string, replicas int, claim *corev1.PersistentVolumeClaim, options ...PodOption) *appsv1.StatefulSet {
	count := int32(replicas)
	pod := Pod(name, options...)
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas:             &count,
			PodManagementPolicy:  appsv1.ParallelPodManagement,
			Selector:             Kin(pod),
			ServiceName:          name,
			Template:             corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*claim},
		},
	}
}

// DeleteStatefulSets deletes those of the namespace, and leaves their pods.
func DeleteStatefulSets(ctx context.Context, client kubernetes.Interface, namespace string) error {
	background := metav1.DeletePropagationBackground
	err := client.AppsV1().StatefulSets(namespace).DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("delete the StatefulSets: %w", err)
	}
	return nil
}
