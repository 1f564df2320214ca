// SPDX-License-Identifier: Apache-2.0

package generate_test

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"berth.dev/tests/oracle/generate"
	"berth.dev/tests/oracle/upstream"
)

func TestTheSameSeedMakesTheSameCase(t *testing.T) {
	for seed := range uint64(20) {
		a, b := generate.New(seed, generate.Options{Nodes: 60}), generate.New(seed, generate.Options{Nodes: 60})
		if !bytes.Equal(a.ClusterJSON(), b.ClusterJSON()) || !bytes.Equal(a.ConfigYAML(), b.ConfigYAML()) {
			t.Errorf("seed %d makes two cases", seed)
		}
	}
	if a, b := generate.New(1, generate.Options{Nodes: 60}), generate.New(2, generate.Options{Nodes: 60}); bytes.Equal(a.ClusterJSON(), b.ClusterJSON()) {
		t.Error("seeds 1 and 2 make the same cluster")
	}
}

func TestBothFormsOfAClusterAreReadAlike(t *testing.T) {
	for seed := range uint64(10) {
		c := generate.New(seed, generate.Options{Nodes: 20})
		if a, b := judge(t, c, c.ClusterJSON()), judge(t, c, c.ClusterYAML()); !bytes.Equal(a, b) {
			t.Errorf("seed %d: YAML and JSON differ", seed)
		}
	}
}

// judge has the documents, a line each.
func judge(t *testing.T, c generate.Case, text []byte) []byte {
	t.Helper()
	var lines []byte
	for _, v := range verdicts(t, c, text) {
		lines = append(append(lines, v.Line()...), '\n')
	}
	return lines
}

func verdicts(t *testing.T, c generate.Case, text []byte) []*upstream.Verdict {
	t.Helper()
	cluster, err := upstream.ReadCluster(text)
	if err != nil {
		t.Fatalf("seed %d: %v", c.Seed, err)
	}
	config, err := upstream.ReadConfig(c.ConfigYAML())
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", c.Seed, err, c.ConfigYAML())
	}
	state, err := upstream.NewState(cluster, config)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", c.Seed, err, c.ConfigYAML())
	}
	defer state.Close()
	return state.JudgeAll()
}

// Clusters in which everything fits, or nothing, or where a plugin never speaks, would prove little.
func TestCasesAreOfAllKinds(t *testing.T) {
	var c census
	for seed := range uint64(150) {
		kase := generate.New(seed, generate.Options{Nodes: 30})
		c.add(verdicts(t, kase, kase.ClusterJSON()))
	}
	t.Logf("%+v", c)
	c.preemptions.check(t)
	for _, result := range []upstream.Result{upstream.Scheduled, upstream.Unschedulable, upstream.Gated, upstream.Ignored} {
		if c.results[result] < 20 {
			t.Errorf("%d pods are %s", c.results[result], result)
		}
	}
	if share := float64(c.mixed) / float64(c.pods); share < 0.4 {
		t.Errorf("only %.2f of the pods fit on some nodes and not on others", share)
	}
	for _, plugin := range []string{names.NodeUnschedulable, names.TaintToleration, names.NodeAffinity, names.NodePorts,
		names.NodeResourcesFit, names.PodTopologySpread, names.InterPodAffinity, names.NodeDeclaredFeatures} {
		if c.rejected[plugin] < 100 {
			t.Errorf("%s rejects %d times", plugin, c.rejected[plugin])
		}
	}
	for _, plugin := range []string{names.TaintToleration, names.NodeAffinity, names.NodeResourcesFit, names.PodTopologySpread,
		names.InterPodAffinity, names.NodeResourcesBalancedAllocation, names.ImageLocality} {
		if c.scored[plugin] < 100 {
			t.Errorf("%s gives a score %d times", plugin, c.scored[plugin])
		}
	}
}

func (p preemptions) check(t *testing.T) {
	for what, count := range map[string]int{
		"have candidates": p.pods, "have several best candidates": p.ties, "have a choice of candidates": p.choices,
		"break budgets on some candidate": p.broken, "need several victims on some candidate": p.several,
	} {
		if count < 10 {
			t.Errorf("%d pods %s", count, what)
		}
	}
	for _, message := range []string{"No preemption victims found", "Preemption is not helpful", "preemptionPolicy=Never",
		"a terminating pod on the nominated node", "Insufficient cpu", "didn't satisfy existing pods anti-affinity",
		"didn't match pod topology spread constraints", "didn't have free ports"} {
		if !strings.Contains(p.messages, message) {
			t.Errorf("PostFilter never says %q", message)
		}
	}
}

// preemptions counts pods by what preemption comes to for them.
type preemptions struct {
	pods, ties, choices, broken, several int
	messages                             string
}

func (p *preemptions) add(of *upstream.Preemption) {
	if of == nil || len(of.Candidates) == 0 {
		if of != nil && !strings.Contains(p.messages, of.Message) {
			p.messages += of.Message + "\n"
		}
		return
	}
	p.pods++
	if len(of.Best) > 1 {
		p.ties++
	}
	if len(of.Candidates) > len(of.Best) {
		p.choices++
	}
	broken, several := false, false
	for _, candidate := range of.Candidates {
		broken = broken || candidate.PDBViolations > 0
		several = several || len(candidate.Victims) > 1
	}
	if broken {
		p.broken++
	}
	if several {
		p.several++
	}
}

// census counts what verdicts say.
type census struct {
	results                   map[upstream.Result]int
	rejected, reasons, scored map[string]int
	pods, mixed               int
	preemptions               preemptions
}

func (c *census) add(verdicts []*upstream.Verdict) {
	if c.results == nil {
		c.results = map[upstream.Result]int{}
		c.rejected, c.reasons, c.scored = map[string]int{}, map[string]int{}, map[string]int{}
	}
	for _, v := range verdicts {
		c.results[v.Result]++
		c.preemptions.add(v.Preemption)
		feasible := 0
		for _, node := range v.Nodes {
			if node.Feasible {
				feasible++
			}
			c.rejected[node.Plugin]++
			for _, reason := range node.Reasons {
				c.reasons[reason]++
			}
			for plugin, score := range node.Scores {
				if score.Raw != 0 {
					c.scored[plugin]++
				}
			}
		}
		if len(v.Nodes) > 0 {
			c.pods++
		}
		if feasible > 0 && feasible < len(v.Nodes) {
			c.mixed++
		}
	}
}
