// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"time"

	corev1 "k8s.io/api/core/v1"
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

// Percentile is the value of sorted that p percent of them do not exceed.
func Percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}
