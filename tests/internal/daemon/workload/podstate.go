// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// ScheduledCondition is the pod's PodScheduled condition, or nil.
func ScheduledCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodScheduled {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// IsBound says whether the pod has a node and says so in its condition.
func IsBound(pod *corev1.Pod) bool {
	condition := ScheduledCondition(pod)
	return pod.Spec.NodeName != "" && condition != nil && condition.Status == corev1.ConditionTrue
}

// IsUnschedulable says whether the scheduler has said that no node fits the pod.
func IsUnschedulable(pod *corev1.Pod) bool { return HasReason(pod, corev1.PodReasonUnschedulable) }

// HasReason says whether the pod has no node, for a reason such as Unschedulable.
func HasReason(pod *corev1.Pod, reason string) bool {
	condition := ScheduledCondition(pod)
	return pod.Spec.NodeName == "" && condition != nil && condition.Status == corev1.ConditionFalse &&
		condition.Reason == reason
}

// Overfull tells of a node whose pods request more than it has to give; "" if there is none.
func Overfull(nodes []*corev1.Node, pods []*corev1.Pod) string {
	type usage struct{ cpu, memory, pods int64 }
	used := map[string]usage{}
	for _, pod := range pods {
		u := used[pod.Spec.NodeName]
		for i := range pod.Spec.Containers {
			requests := pod.Spec.Containers[i].Resources.Requests
			u.cpu += requests.Cpu().MilliValue()
			u.memory += requests.Memory().Value()
		}
		u.pods++
		used[pod.Spec.NodeName] = u
	}
	for _, node := range nodes {
		u, free := used[node.Name], node.Status.Allocatable
		if u.cpu > free.Cpu().MilliValue() || u.memory > free.Memory().Value() || u.pods > free.Pods().Value() {
			return fmt.Sprintf("node %s holds %v CPUs, %v of memory and %v pods, and has %+v on it",
				node.Name, free.Cpu(), free.Memory(), free.Pods(), u)
		}
	}
	return ""
}

// Pointers to the elements, such as those of a list that the API server sent.
func Pointers[T any](items []T) []*T {
	pointers := make([]*T, len(items))
	for i := range items {
		pointers[i] = &items[i]
	}
	return pointers
}

// ScheduledEvents are those that tell where pods of the namespace were put.
func ScheduledEvents(ctx context.Context, client kubernetes.Interface, namespace string) ([]eventsv1.Event, error) {
	list, err := client.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=Scheduled"})
	if err != nil {
		return nil, fmt.Errorf("list the events: %w", err)
	}
	return list.Items, nil
}
