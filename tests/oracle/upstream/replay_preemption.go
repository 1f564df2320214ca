// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"fmt"
	"slices"
)

// ReplayToPreemption takes decisions of profiles that may preempt, and reports the first that upstream could not have
// made. It ends with the first one that evicts pods: when the others see the room is not said. It changes the state.
func (s *State) ReplayToPreemption(decisions []Decision) error {
	for i, d := range decisions {
		ends, err := s.step(d)
		if err != nil {
			return fmt.Errorf("decision %d: %w", i+1, err)
		}
		if ends {
			return nil
		}
	}
	return nil
}

// evicts says whether upstream would make room for the pod.
func (v *Verdict) evicts() bool { return v.Preemption != nil && len(v.Preemption.Candidates) > 0 }

// mayHaveSaid says whether the message could be the FailedScheduling event's.
func (v *Verdict) mayHaveSaid(message string) bool {
	message = WithSortedErrors(message)
	return slices.ContainsFunc(v.messages(), func(m string) bool { return WithSortedErrors(m) == message })
}

// messages are all that the FailedScheduling event could say.
func (v *Verdict) messages() []string {
	if !v.evicts() {
		return append([]string{v.said()}, v.Errors...)
	}
	var messages []string
	for _, name := range v.Preemption.choices {
		messages = append(messages, fmt.Sprintf("%s preemption: found a potential placement for pod on node %s, preempting %d victims",
			v.Message, name, len(v.Preemption.Candidates[name].Victims)))
	}
	return messages
}
