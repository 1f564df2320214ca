// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// SchedulePod is the walk from point to point that upstream itself does.
func (s *State) SchedulePod(name string) (scheduler.ScheduleResult, error) {
	pod := s.pending[name]
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return scheduler.ScheduleResult{}, err
	}
	var state fwk.CycleState = framework.NewCycleState()
	return s.scheduler.SchedulePod(s.ctx, s.scheduler.Profiles[pod.Spec.SchedulerName], state,
		&framework.QueuedPodInfo{PodInfo: info})
}

// Decide is what a replay holds a decision about the pod against.
func (s *State) Decide(name string) *Verdict { return s.judge(s.pending[name], nominatedFirst) }
