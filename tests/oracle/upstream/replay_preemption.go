// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// ReplayToPreemption takes decisions of profiles that may preempt, and reports the first that upstream could not have
// made. It ends with the first one that evicts pods: when the others see the room is not said. It changes the state.
func (s *State) ReplayToPreemption(decisions []Decision) error {
	for i, d := range decisions {
		evicts, err := s.stepToPreemption(d)
		if err != nil {
			return fmt.Errorf("decision %d: %w", i+1, err)
		}
		if evicts {
			return nil
		}
	}
	return nil
}

func (s *State) stepToPreemption(d Decision) (evicts bool, err error) {
	pod := s.pending[d.Pod]
	if pod == nil || d.Node != nil {
		return false, s.step(d)
	}
	err = s.withVolumesOrWithout(pod, func() error {
		evicts, err = s.decideToPreempt(pod, d)
		return err
	})
	return evicts, err
}

func (s *State) decideToPreempt(pod *corev1.Pod, d Decision) (evicts bool, err error) {
	v := s.judge(pod, nominatedFirst)
	if v.Result != Unschedulable || v.Preemption == nil {
		return false, s.decide(pod, d)
	}
	if messages := v.messages(); !slices.Contains(messages, d.Message) {
		return false, &Refusal{Kind: "message", Pod: d.Pod, Verdict: v,
			Detail: fmt.Sprintf("%q; upstream's is one of %q", d.Message, messages)}
	}
	if v.Preemption.clears {
		s.clearNomination(pod)
	}
	return len(v.Preemption.Candidates) > 0, nil
}

// messages are all that the FailedScheduling event could say, with PostFilter's part.
func (v *Verdict) messages() []string {
	if len(v.Preemption.Candidates) == 0 {
		return []string{v.Message + " " + v.Preemption.Message}
	}
	var messages []string
	for _, name := range v.Preemption.choices {
		messages = append(messages, fmt.Sprintf("%s preemption: found a potential placement for pod on node %s, preempting %d victims",
			v.Message, name, len(v.Preemption.Candidates[name].Victims)))
	}
	return messages
}
