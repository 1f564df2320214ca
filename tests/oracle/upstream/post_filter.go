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

// mostDraws is how often PostFilter is asked which claim it draws.
const mostDraws = 20

// postFilter says what PostFilter does with the pod, which fits none of the nodes.
func (c *cycle) postFilter(nodes []fwk.NodeInfo) (failure, error) {
	f := failure{deallocated: map[string]*resourcev1.ResourceClaim{}}
	c.devices.deallocated = f.deallocated
	for draws := 0; draws == 0 || len(f.deallocated) > 0 && draws < mostDraws; draws++ {
		// What a dry run finds out about claims stays in a cycle's state.
		again := cycle{State: c.State, Framework: c.Framework, state: framework.NewCycleState(), pod: c.pod, over: c.over,
			verdict: &Verdict{Nodes: map[string]Node{}}}
		diagnosis := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
		if _, err := again.findFeasible(nodes, &diagnosis); err != nil {
			return f, err
		}
		fitError := &framework.FitError{Pod: c.pod, NumAllNodes: len(nodes), Diagnosis: diagnosis}
		if !c.HasPostFilterPlugins() {
			return failure{message: fitError.Error(), clears: true}, nil
		}
		again.askNominated(&diagnosis)
		result, status := c.RunPostFilterPlugins(c.ctx, again.state, c.pod, diagnosis.NodeToStatus)
		fitError.Diagnosis.PostFilterMsg = status.Message()
		f.message, f.clears = fitError.Error(), result != nil && result.Mode() == fwk.ModeOverride
	}
	return f, nil
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
	for name, claim := range f.deallocated {
		if s.devices.reserved[name] != nil {
			return true, nil // Pods that were to use it are not bound.
		}
		if err := s.devices.free(claim, Name(pod)); err != nil {
			return false, err
		}
	}
	return false, nil
}
