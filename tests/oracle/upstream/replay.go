// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// Decision is one line of `berth simulate -o json`: about a pod, a pod group or an eviction.
type Decision struct {
	Pod string `json:"pod"`
	// Node is nil where the pod fitted nowhere; Message then says why.
	Node    *string `json:"node"`
	Message string  `json:"message,omitempty"`
	// Tried is where a pod would have gone had its group fitted, Nominated where it is nominated from then on.
	Tried     string `json:"tried"`
	Nominated string `json:"nominated"`
	// PodGroup is the group whose cycle ends with this line, after those of its pods.
	PodGroup string `json:"podGroup"`
	// CompositePodGroup is the one at the top of the tree that the group was tried with.
	CompositePodGroup string `json:"compositePodGroup"`
	Status            string `json:"status"`
	Reason            string `json:"reason"`
	// Evicted is the pod that is gone.
	Evicted string `json:"evicted"`
}

// ParseDecisions reads what `berth simulate -o json` printed: decisions, and a summary as the last line.
func ParseDecisions(text []byte) ([]Decision, error) {
	var decisions []Decision
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<24)
	summary := false
	for number := 1; lines.Scan(); number++ {
		var line struct {
			Decision
			Summary json.RawMessage `json:"summary"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if summary {
			return nil, fmt.Errorf("line %d: comes after the summary", number)
		}
		if line.Summary != nil {
			summary = true
			continue
		}
		decisions = append(decisions, line.Decision)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !summary {
		return nil, fmt.Errorf("no summary in the last line")
	}
	return decisions, nil
}

// Refusal is a decision that upstream could not have made, or one that is missing.
type Refusal struct {
	// Kind says what is wrong, without names.
	Kind string
	Pod  string
	// Detail has the names.
	Detail string
	// Verdict is upstream's of that moment, if there was one.
	Verdict *Verdict
	// Nodes are what upstream would have chosen from, if any.
	Nodes []string
}

func (r *Refusal) Error() string { return r.Pod + ": " + r.Kind + ": " + r.Detail }

// Replay takes the decisions one after the other, each against the state that the ones before it made, and
// reports the first that upstream could not have made. It changes the state. No profile may preempt.
func (s *State) Replay(decisions []Decision) error {
	for name, profile := range s.scheduler.Profiles {
		if preempts(profile) {
			return fmt.Errorf("profile %s: preemption cannot be replayed: list %s under plugins.multiPoint.disabled",
				name, names.DefaultPreemption)
		}
	}
	tried := map[string]int{}
	lostNomination := -1
	for i, d := range decisions {
		pod := s.pending[d.Pod]
		ends, err := s.step(d)
		if err != nil {
			return fmt.Errorf("decision %d: %w", i+1, err)
		}
		if ends {
			return nil
		}
		tried[d.Pod] = i
		if nominated := pod.Status.NominatedNodeName; d.Node != nil && nominated != "" && nominated != *d.Node {
			lostNomination = i
		}
	}
	for _, v := range s.JudgeAll() {
		last, wasTried := tried[v.Pod]
		switch v.Result {
		case Scheduled:
			// Upstream wakes no pod when a nominated pod goes to another node, which gives the room on the first one
			// back: the others are tried again only after five minutes.
			if wasTried && last < lostNomination {
				continue
			}
			if s.tooEarly[v.Pod] {
				continue
			}
			return &Refusal{Kind: "left without a node", Pod: v.Pod, Detail: fmt.Sprintf("it fits on %v", v.Best),
				Verdict: v, Nodes: v.Best}
		case Unschedulable, Error:
			if !wasTried {
				return &Refusal{Kind: "not tried", Pod: v.Pod, Detail: v.Message, Verdict: v}
			}
		}
	}
	return nil
}

// step takes one decision. It says whether the replay ends there: what upstream would have done next is not said.
func (s *State) step(d Decision) (ends bool, err error) {
	pod := s.pending[d.Pod]
	if pod == nil {
		return false, &Refusal{Kind: "not pending", Pod: d.Pod, Detail: "there is no such pod, or it has a node"}
	}
	mayFailToBind := s.devices.mayFailToBind(pod)
	v := &Verdict{}
	early, err := s.withClaimsOrWithout(pod, func() error {
		v, ends, err = s.decide(pod, d, mayFailToBind)
		return err
	})
	s.tooEarly[d.Pod] = early && v.rejectedBy(names.NodeVolumeLimits) && !v.rejectedBy(names.VolumeBinding)
	return ends, err
}

// decide takes one decision about a pending pod; see step. The verdict is upstream's.
func (s *State) decide(pod *corev1.Pod, d Decision, mayFailToBind bool) (v *Verdict, ends bool, err error) {
	v = s.judge(pod, nominatedFirst)
	refuse := func(kind, format string, args ...any) (*Verdict, bool, error) {
		return v, false, &Refusal{Kind: kind, Pod: d.Pod, Detail: fmt.Sprintf(format, args...), Verdict: v, Nodes: v.Best}
	}
	switch {
	case d.Node == nil && v.Result == Scheduled:
		return refuse("no node", "%q; upstream has %v", d.Message, v.Best)
	case d.Node == nil && !v.mayHaveSaid(d.Message):
		return refuse("message", "%q; upstream's is one of %q", d.Message, v.messages())
	case d.Node == nil && v.evicts():
		return v, true, nil // When the others see the room is not said.
	case d.Node == nil:
		ends, err = s.fail(pod, v)
		return v, ends, err
	case v.Result != Scheduled:
		return refuse("node of a pod that fits nowhere", "%s; upstream: %s, %q", *d.Node, v.Result, v.Message)
	case !slices.Contains(v.Best, *d.Node):
		return refuse("not the best node", "%s; upstream takes one of %v", *d.Node, v.Best)
	}
	chosen := v.choices[*d.Node]
	if mayFailToBind || s.failsToBind(pod, chosen, *d.Node) {
		return v, true, nil // When the others see the room again is not said.
	}
	if others, err := s.getsOthersEarlier(pod, *d.Node, v); others || err != nil {
		return v, true, err // Which of the devices it got is not said.
	}
	return v, false, s.place(pod, *d.Node, chosen)
}

// rejectedBy says whether the plugin's Filter kept the pod off some node.
func (v *Verdict) rejectedBy(plugin string) bool {
	for _, node := range v.Nodes {
		if node.Plugin == plugin {
			return true
		}
	}
	return false
}
