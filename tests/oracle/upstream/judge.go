// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// reasonOfPreFilter stands for a node that PreFilter ruled out.
const reasonOfPreFilter = "prefilter"

// JudgeAll judges each pending pod alone, in the order of their names.
func (s *State) JudgeAll() []*Verdict {
	s.enqueue(nil)
	names := sets.KeySet(s.pending)
	verdicts := make([]*Verdict, 0, len(names))
	for _, name := range sets.List(names) {
		verdicts = append(verdicts, s.judge(s.pending[name], overAllNodes))
	}
	return verdicts
}

// scope is which nodes a pod is judged on.
type scope bool

const (
	overAllNodes scope = false
	// nominatedFirst is what upstream's scheduling cycle does: where the node that the pod is nominated to will do, it
	// looks no further; where it will not, what it said of this node and by which plugin counts in the message even if
	// PreFilter rules the node out.
	nominatedFirst scope = true
)

// judge says what upstream thinks of the pod in the state as it is.
func (s *State) judge(pod *corev1.Pod, over scope) *Verdict {
	v := &Verdict{Pod: Name(pod), Nodes: map[string]Node{}, ResizeOn: pod.Spec.NodeName}
	profile, known := s.scheduler.Profiles[pod.Spec.SchedulerName]
	if known {
		v.Profile = pod.Spec.SchedulerName
	}
	if !known || pod.DeletionTimestamp != nil {
		v.Result = Ignored
		return v
	}
	for _, plugin := range profile.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(s.ctx, pod); !status.IsSuccess() {
			v.Result, v.Message = Gated, status.Message()
			return v
		}
	}
	nodes, err := s.snapshot.NodeInfos().List()
	if err == nil && len(nodes) == 0 {
		err = scheduler.ErrNoNodesAvailable
	}
	if err == nil {
		c := cycle{State: s, Framework: profile, state: framework.NewCycleState(), pod: pod, over: over, verdict: v}
		err = c.run(nodes)
	}
	if err != nil {
		return &Verdict{Pod: v.Pod, Profile: v.Profile, ResizeOn: v.ResizeOn, Nodes: map[string]Node{}, Result: Error, Message: err.Error(), Errors: v.Errors}
	}
	return v
}

// cycle is one scheduling cycle of one pod, up to the choice of the node.
type cycle struct {
	*State
	framework.Framework
	state   fwk.CycleState
	pod     *corev1.Pod
	over    scope
	verdict *Verdict
}

func (c *cycle) run(nodes []fwk.NodeInfo) error {
	diagnosis := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	feasible, err := c.findFeasible(nodes, &diagnosis)
	if err != nil {
		if !c.looksNoFurtherThanNominated(&diagnosis) {
			return err
		}
		c.verdict.Remark = err.Error()
		// PreFilter may have left the nominated one out.
		feasible = slices.DeleteFunc(slices.Clone(nodes), func(node fwk.NodeInfo) bool { return !c.verdict.Nodes[node.Node().Name].Feasible })
	}
	if len(feasible) == 0 {
		fitError := &framework.FitError{Pod: c.pod, NumAllNodes: len(nodes), Diagnosis: diagnosis}
		c.verdict.Result, c.verdict.Message = Unschedulable, fitError.Error()
		if c.verdict.Preemption, err = c.preempt(&diagnosis); err != nil {
			return err
		}
		if !c.verdict.evicts() {
			c.verdict.failure, err = c.postFilter(nodes)
		}
		return err
	}
	c.verdict.Result = Scheduled
	if c.pod.Spec.NodeName != "" {
		c.verdict.chooseBest() // It runs there: nothing is scored or reserved.
		return nil
	}
	if err := c.score(feasible); err != nil {
		if c.over == nominatedFirst || !c.verdict.chooseUnscored(feasible, c.pod.Status.NominatedNodeName) {
			return err
		}
		c.verdict.Remark = err.Error()
	}
	if err := c.chooseVolumes(feasible); err != nil || !c.wantsDevices() {
		return err
	}
	return c.chooseDevices(feasible)
}

// findFeasible runs PreFilter, and Filter on every node that PreFilter left.
func (c *cycle) findFeasible(nodes []fwk.NodeInfo, diagnosis *framework.Diagnosis) ([]fwk.NodeInfo, error) {
	for _, node := range nodes {
		c.verdict.Nodes[node.Node().Name] = Node{
			Code: fwk.UnschedulableAndUnresolvable.String(), Reasons: []string{reasonOfPreFilter},
		}
	}
	result, status, plugins := c.RunPreFilterPlugins(c.ctx, c.state, c.pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			return nil, status.AsError()
		}
		diagnosis.NodeToStatus.SetAbsentNodesStatus(status)
		diagnosis.PreFilterMsg = status.Message()
		return nil, nil
	}
	// One set for both, as upstream has it: a plugin that rejects the nominated node gets into the text below.
	diagnosis.UnschedulablePlugins = plugins
	if nominated, err := c.snapshot.Get(c.pod.Status.NominatedNodeName); err == nil && c.over == nominatedFirst {
		feasible, err := c.filter([]fwk.NodeInfo{nominated}, diagnosis)
		if err == nil && len(feasible) > 0 {
			return feasible, nil
		}
	}
	if !result.AllNodes() {
		diagnosis.NodeToStatus.SetAbsentNodesStatus(fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(plugins))))
	}
	left := slices.DeleteFunc(slices.Clone(nodes), func(node fwk.NodeInfo) bool {
		return !result.AllNodes() && !result.NodeNames.Has(node.Node().Name)
	})
	return c.filter(left, diagnosis)
}

// filter runs Filter on each of the nodes.
func (c *cycle) filter(nodes []fwk.NodeInfo, diagnosis *framework.Diagnosis) ([]fwk.NodeInfo, error) {
	var feasible []fwk.NodeInfo
	var failed error
	for _, node := range nodes {
		name := node.Node().Name
		status := c.RunFilterPluginsWithNominatedPods(c.ctx, c.state, c.pod, node)
		switch {
		case status.IsSuccess():
			feasible = append(feasible, node)
			c.verdict.Nodes[name] = Node{Feasible: true}
		case status.IsRejected():
			diagnosis.NodeToStatus.Set(name, status)
			diagnosis.AddPluginStatus(status)
			reasons := slices.Clone(status.Reasons())
			slices.Sort(reasons)
			c.verdict.Nodes[name] = Node{Plugin: status.Plugin(), Code: status.Code().String(), Reasons: reasons}
		default:
			failed = status.AsError()
			c.verdict.Errors = append(c.verdict.Errors, failed.Error())
			c.verdict.Nodes[name] = Node{Code: fwk.Error.String(), Reasons: []string{failed.Error()}}
		}
	}
	return feasible, failed
}

// looksNoFurtherThanNominated says whether the pod's scheduling cycle ends with the node that it is nominated to, so that
// what fails over another node is no failure of the cycle.
func (c *cycle) looksNoFurtherThanNominated(diagnosis *framework.Diagnosis) bool {
	nominated, err := c.snapshot.Get(c.pod.Status.NominatedNodeName)
	if err != nil || c.over == nominatedFirst || len(c.verdict.Errors) == 0 {
		return false
	}
	feasible, err := c.filter([]fwk.NodeInfo{nominated}, diagnosis)
	return err == nil && len(feasible) > 0
}

// score runs PreScore and Score, also where there is just one node to choose.
func (c *cycle) score(feasible []fwk.NodeInfo) error {
	if !c.HasScorePlugins() {
		// Upstream gives every node 1 then; a document has sums of scores only.
		c.verdict.chooseBest()
		return nil
	}
	if status := c.RunPreScorePlugins(c.ctx, c.state, c.pod, feasible); !status.IsSuccess() {
		return status.AsError()
	}
	scores, status := c.RunScorePlugins(c.ctx, c.state, c.pod, feasible)
	if !status.IsSuccess() {
		return status.AsError()
	}
	for _, ofNode := range scores {
		node := Node{Feasible: true, Total: ofNode.TotalScore, Scores: map[string]Score{}}
		for _, weighted := range ofNode.Scores {
			node.Scores[weighted.Name] = Score{Weighted: weighted.Score}
		}
		for _, raw := range ofNode.RawScores {
			score := node.Scores[raw.Name]
			score.Raw = raw.Score
			node.Scores[raw.Name] = score
		}
		if !c.waitsForVolumes() {
			// It has 0 for every node; Berth does not ask it.
			delete(node.Scores, names.VolumeBinding)
		}
		c.verdict.Nodes[ofNode.Name] = node
	}
	c.verdict.chooseBest()
	return nil
}

// chooseUnscored chooses the node that a scheduling cycle would take without a score, and returns whether there is one: the
// only one, or the nominated one.
func (v *Verdict) chooseUnscored(feasible []fwk.NodeInfo, nominated string) bool {
	for _, node := range feasible {
		if name := node.Node().Name; len(feasible) == 1 || name == nominated {
			v.Best = []string{name}
			return true
		}
	}
	return false
}

func (v *Verdict) chooseBest() {
	var best int64
	for name, node := range v.Nodes {
		switch {
		case !node.Feasible:
		case len(v.Best) == 0 || node.Total > best:
			best, v.Best = node.Total, []string{name}
		case node.Total == best:
			v.Best = append(v.Best, name)
		}
	}
	slices.Sort(v.Best)
}
