// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/features"
)

// UseDeferredResizes sets the gate by which pods whose resize is deferred go through the scheduler, for the whole
// process. No State may be open.
func UseDeferredResizes(on bool) error {
	if err := settings(); err != nil {
		return err
	}
	return utilfeature.DefaultMutableFeatureGate.Set(DeferredResizesGate(on))
}

// DeferredResizesGate is what Berth is started with.
func DeferredResizesGate(on bool) string {
	if on {
		return string(features.InPlacePodVerticalScalingSchedulerPreemption) + "=true"
	}
	return string(features.InPlacePodVerticalScalingSchedulerPreemption) + "=false"
}

// resizeWaits says that the pod, which runs, is queued for its resize.
func resizeWaits(pod *corev1.Pod) bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.InPlacePodVerticalScalingSchedulerPreemption) &&
		resourcehelper.IsPodResizeDeferred(pod)
}
