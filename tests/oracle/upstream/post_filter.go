// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// failure is what becomes of a pod that fits nowhere, and for which no eviction makes room.
type failure struct {
	// message is that of the FailedScheduling event.
	message string
	// clears says that the pod loses its nomination.
	clears bool
	// deallocated are the claims of which one loses its devices; upstream draws it.
	deallocated map[string]*resourcev1.ResourceClaim
}

// postFilter runs PostFilter, after the cycle that ended with the error.
func (c *cycle) postFilter(fitError *framework.FitError) failure {
	if !c.HasPostFilterPlugins() {
		return failure{message: fitError.Error(), clears: true}
	}
	c.devices.deallocated = map[string]*resourcev1.ResourceClaim{}
	result, status := c.RunPostFilterPlugins(c.ctx, c.state, c.pod, fitError.Diagnosis.NodeToStatus)
	// Only what is drawn is told.
	for again := 0; len(c.devices.deallocated) > 0 && again < 20; again++ {
		c.RunPostFilterPlugins(c.ctx, c.state, c.pod, fitError.Diagnosis.NodeToStatus)
	}
	fitError.Diagnosis.PostFilterMsg = status.Message()
	return failure{
		message: fitError.Error(), deallocated: c.devices.deallocated,
		clears: result != nil && result.Mode() == fwk.ModeOverride,
	}
}

// said is the message of the FailedScheduling event.
func (v *Verdict) said() string {
	if v.failure.message != "" {
		return v.failure.message
	}
	return v.Message
}

// fail does what follows from the verdict for a pod that got no node. It says whether upstream could have gone on in
// another way.
func (s *State) fail(pod *corev1.Pod, v *Verdict) (ambiguous bool, err error) {
	f := v.failure
	if f.clears || v.Result != Unschedulable {
		s.clearNomination(pod)
	}
	if len(f.deallocated) > 1 {
		return true, nil
	}
	for _, claim := range f.deallocated {
		if err := s.devices.write(claim); err != nil {
			return false, err
		}
	}
	return false, nil
}
