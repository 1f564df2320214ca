// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// Preemption is what evictions would come to for a pod that fits nowhere.
type Preemption struct {
	// Best has every candidate that upstream could choose, sorted.
	Best []string `json:"best,omitempty"`
	// Candidates are all of them, by node.
	Candidates map[string]Candidate `json:"candidates,omitempty"`
	// Message is what preemption says where there is no candidate.
	Message string `json:"message,omitempty"`

	// choices are the nodes that a cycle could choose: the best, or any where its search may end early.
	choices []string
}

// Candidate is a node where evictions make room.
type Candidate struct {
	PDBViolations int64 `json:"pdbViolations,omitempty"`
	// Victims are the pods that must go, most important first.
	Victims []string `json:"victims"`
}

// preempts says whether the profile has the plugin.
func preempts(profile framework.Framework) bool {
	enabled := func(plugin config.Plugin) bool { return plugin.Name == names.DefaultPreemption }
	return slices.ContainsFunc(profile.ListPlugins().PostFilter.Enabled, enabled)
}

// preempt says what upstream's PostFilter would do, over all nodes, after the cycle that gave the diagnosis.
func (c *cycle) preempt(diagnosis *framework.Diagnosis) (*Preemption, error) {
	if !preempts(c.Framework) {
		return nil, nil
	}
	plugin, err := defaultpreemption.New(c.ctx, c.preemptionArgs[c.ProfileName()], c.Framework,
		feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return nil, err
	}
	c.askNominated(diagnosis)
	var candidates []preemption.Candidate
	enough := int32(0)
	nominated := diagnosis.NodeToStatus.Get(c.pod.Status.NominatedNodeName)
	if may, _ := plugin.PodEligibleToPreemptOthers(c.ctx, c.pod, nominated); may {
		potential, err := diagnosis.NodeToStatus.NodesForStatusCode(c.snapshot.NodeInfos(), fwk.Unschedulable)
		if err != nil {
			return nil, err
		}
		if len(potential) > 0 {
			_, enough = plugin.Evaluator.GetOffsetAndNumCandidates(int32(len(potential)))
			// More than there can be: no search ends early. What fails is part of the message, if there is one.
			candidates, _, _ = plugin.Evaluator.DryRunPreemption(c.ctx, c.state, c.pod, potential, c.budgets, 0,
				int32(len(potential)+1))
		}
	}
	if len(candidates) == 0 {
		_, status := plugin.PostFilter(c.ctx, c.state, c.pod, diagnosis.NodeToStatus)
		return &Preemption{Message: status.Message()}, nil
	}
	p := &Preemption{Candidates: map[string]Candidate{}, Best: best(candidates)}
	for _, candidate := range candidates {
		victims := candidate.Victims()
		shown := Candidate{PDBViolations: victims.NumPDBViolations}
		for _, pod := range victims.Pods {
			shown.Victims = append(shown.Victims, Name(pod))
		}
		p.Candidates[candidate.Name()] = shown
	}
	p.choices = p.Best
	if len(candidates) > int(enough) {
		p.choices = slices.Sorted(maps.Keys(p.Candidates))
	}
	if chosen := plugin.Evaluator.SelectCandidate(c.ctx, candidates).Name(); !slices.Contains(p.Best, chosen) {
		return nil, fmt.Errorf("upstream chooses %s for %s, the oracle one of %v", chosen, Name(c.pod), p.Best)
	}
	return p, nil
}

// askNominated does what a scheduling cycle does first: it asks the nominated node, even where PreFilter rules it out.
func (c *cycle) askNominated(diagnosis *framework.Diagnosis) {
	name := c.pod.Status.NominatedNodeName
	node, err := c.snapshot.Get(name)
	if err != nil || diagnosis.PreFilterMsg != "" || !slices.Equal(c.verdict.Nodes[name].Reasons, []string{reasonOfPreFilter}) {
		return
	}
	if status := c.RunFilterPluginsWithNominatedPods(c.ctx, c.state, c.pod, node); status.IsRejected() {
		diagnosis.NodeToStatus.Set(name, status)
	}
}

// best are the candidates that upstream chooses from at random, sorted. It has no function for them, only one that
// chooses.
func best(candidates []preemption.Candidate) []string {
	now := time.Now()
	var names []string
	var least []int64
	for _, candidate := range candidates {
		cost := costs(candidate.Victims(), now)
		order := slices.Compare(cost, least)
		if len(names) == 0 || order < 0 {
			names, least, order = nil, cost, 0
		}
		if order == 0 {
			names = append(names, candidate.Name())
		}
	}
	slices.Sort(names)
	return names
}

// costs are what upstream compares, one after the other; less is better.
func costs(victims *extenderv1.Victims, now time.Time) []int64 {
	highest, sum, earliest := int32(math.MinInt32), int64(0), now
	for _, pod := range victims.Pods {
		priority, started := corev1helpers.PodPriority(pod), startOf(pod, now)
		sum += int64(priority) + math.MaxInt32 + 1
		if priority > highest || priority == highest && started.Before(earliest) {
			highest, earliest = priority, started
		}
	}
	return []int64{victims.NumPDBViolations, int64(highest), sum, int64(len(victims.Pods)), -earliest.UnixNano()}
}

func startOf(pod *corev1.Pod, now time.Time) time.Time {
	if pod.Status.StartTime == nil {
		return now
	}
	return pod.Status.StartTime.Time
}
