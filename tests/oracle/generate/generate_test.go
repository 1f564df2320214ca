// SPDX-License-Identifier: Apache-2.0

package generate_test

import (
	"bytes"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"berth.dev/tests/oracle/generate"
	"berth.dev/tests/oracle/upstream"
)

func TestTheSameSeedMakesTheSameCase(t *testing.T) {
	for seed := range uint64(20) {
		a, b := generate.New(seed, generate.Options{Nodes: 60, Volumes: true}), generate.New(seed, generate.Options{Nodes: 60, Volumes: true})
		if !bytes.Equal(a.ClusterJSON(), b.ClusterJSON()) || !bytes.Equal(a.ConfigYAML(), b.ConfigYAML()) {
			t.Errorf("seed %d makes two cases", seed)
		}
	}
	if a, b := generate.New(1, generate.Options{Nodes: 60}), generate.New(2, generate.Options{Nodes: 60}); bytes.Equal(a.ClusterJSON(), b.ClusterJSON()) {
		t.Error("seeds 1 and 2 make the same cluster")
	}
}

// The controller of volumes takes a claim for lost that was bound and names no volume, or one that is not there.
func TestASettledClaimThatLostItsVolumeIsLost(t *testing.T) {
	claim := func(name, volumeName string) map[string]any {
		return map[string]any{"kind": "PersistentVolumeClaim", "spec": map[string]any{"volumeName": volumeName},
			"metadata": map[string]any{"name": name, "annotations": map[string]any{volume.AnnBindCompleted: "yes"}}}
	}
	c := generate.Case{Objects: []map[string]any{claim("nameless", ""), claim("deleted", "gone")}}.Settled()
	for _, object := range c.Objects {
		if status, _ := object["status"].(map[string]any); status["phase"] != "Lost" {
			t.Errorf("%v", object)
		}
	}
}

func TestASettledCaseHasNoClaimForControllersToBind(t *testing.T) {
	for seed := range uint64(50) {
		c := generate.New(seed, generate.Options{Nodes: 20, Volumes: true}).Settled()
		if again := c.Settled(); !bytes.Equal(c.ClusterJSON(), again.ClusterJSON()) {
			t.Errorf("seed %d: settling it twice changes it", seed)
		}
		cluster, err := upstream.ReadCluster(c.ClusterJSON())
		if err != nil {
			t.Fatal(err)
		}
		claims := map[types.UID]bool{}
		for _, claim := range cluster.PersistentVolumeClaims {
			claims[claim.UID] = claim.Status.Phase == corev1.ClaimBound
			if claim.Status.Phase == corev1.ClaimPending && claim.Annotations[volume.AnnSelectedNode] != "" {
				t.Errorf("seed %d: claim %s has a node and no volume", seed, claim.Name)
			}
		}
		for _, pv := range cluster.PersistentVolumes {
			if pv.Spec.ClaimRef != nil && !claims[pv.Spec.ClaimRef.UID] {
				t.Errorf("seed %d: volume %s waits for a claim", seed, pv.Name)
			}
		}
	}
}

func TestBothFormsOfAClusterAreReadAlike(t *testing.T) {
	for seed := range uint64(10) {
		c := generate.New(seed, generate.Options{Nodes: 20, Volumes: true})
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
	for seed := range uint64(250) {
		kase := generate.New(seed, generate.Options{Nodes: 30, Volumes: true})
		c.add(verdicts(t, kase, kase.ClusterJSON()))
	}
	t.Logf("%v %v %v, %d of %d pods mixed", c.results, c.rejected, c.scored, c.mixed, c.pods)
	c.preemptions.check(t)
	c.volumes.check(t)
	for _, result := range []upstream.Result{upstream.Scheduled, upstream.Unschedulable, upstream.Gated, upstream.Ignored} {
		if c.results[result] < 20 {
			t.Errorf("%d pods are %s", c.results[result], result)
		}
	}
	if share := float64(c.mixed) / float64(c.pods); share < 0.4 {
		t.Errorf("only %.2f of the pods fit on some nodes and not on others", share)
	}
	for _, plugin := range []string{names.NodeUnschedulable, names.TaintToleration, names.NodeAffinity, names.NodePorts,
		names.NodeResourcesFit, names.PodTopologySpread, names.InterPodAffinity, names.NodeDeclaredFeatures,
		names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone} {
		if c.rejected[plugin] < 100 {
			t.Errorf("%s rejects %d times", plugin, c.rejected[plugin])
		}
	}
	for _, plugin := range []string{names.TaintToleration, names.NodeAffinity, names.NodeResourcesFit, names.PodTopologySpread,
		names.InterPodAffinity, names.NodeResourcesBalancedAllocation, names.ImageLocality, names.VolumeBinding} {
		if c.scored[plugin] < 100 {
			t.Errorf("%s gives a score %d times", plugin, c.scored[plugin])
		}
	}
}

func TestDeferredResizesAreOfAllKinds(t *testing.T) {
	if err := upstream.UseDeferredResizes(true); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := upstream.UseDeferredResizes(false); err != nil {
			t.Fatal(err)
		}
	}()
	fits, full, disabled, tooLarge, victims := 0, 0, 0, 0, 0
	for seed := range uint64(60) {
		kase := generate.New(seed, generate.Options{Nodes: 30, Volumes: true, Devices: true, DeferredResizes: true})
		for _, v := range verdicts(t, kase, kase.ClusterJSON()) {
			node := v.Nodes[v.ResizeOn]
			switch {
			case v.ResizeOn == "" || v.Result == upstream.Ignored:
			case v.Result == upstream.Scheduled:
				fits++
			case node.Plugin == names.DeferredPodScheduling:
				disabled++
			case node.Plugin == names.NodeResourcesFit && node.Code == "UnschedulableAndUnresolvable":
				tooLarge++
			case node.Plugin == names.NodeResourcesFit:
				full++
			}
			if v.ResizeOn != "" && v.Preemption != nil && len(v.Preemption.Candidates) > 0 {
				victims++
			}
		}
	}
	for what, count := range map[string]int{"fit": fits, "find their node full": full, "may not have others evicted": disabled,
		"want more than their node has": tooLarge, "have victims": victims} {
		if count < 20 {
			t.Errorf("%d deferred resizes %s", count, what)
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

// volumeCounts counts pods and nodes by what volumes come to.
type volumeCounts struct {
	static, provisioned, both int
	reasons, messages         string
}

func (c *volumeCounts) add(v *upstream.Verdict) {
	if v.Result == upstream.Unschedulable || v.Result == upstream.Error {
		c.messages += v.Message + "\n"
	}
	static, provisioned := false, false
	for _, node := range v.Nodes {
		for _, claim := range node.Claims {
			static, provisioned = static || claim.Volume != "", provisioned || claim.Provisioner != ""
		}
		c.reasons += strings.Join(node.Reasons, "\n") + "\n"
	}
	switch {
	case static && provisioned:
		c.both++
	case static:
		c.static++
	case provisioned:
		c.provisioned++
	}
}

func (c *volumeCounts) check(t *testing.T) {
	t.Logf("%d pods have or take volumes, %d get new ones, %d both", c.static, c.provisioned, c.both)
	if min(c.static, c.provisioned) < 50 || c.both < 1 {
		t.Error("one of these is too rare")
	}
	for _, reason := range []string{"node(s) didn't match PersistentVolume's node affinity",
		"node(s) didn't find available persistent volumes to bind", "node(s) did not have enough free storage",
		"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)", "node(s) had no available disk",
		"node(s) had no available volume zone", "node(s) exceed max volume count", "CSI driver is not installed on the node",
		"ReadWriteOncePod access mode already in-use by another pod"} {
		if !strings.Contains(c.reasons, reason) {
			t.Errorf("a node never has the reason %q", reason)
		}
	}
	for _, message := range []string{"pod has unbound immediate PersistentVolumeClaims", "not found", "is being deleted",
		"bound to non-existent persistentvolume", "waiting for ephemeral volume controller", "pod is not owner"} {
		if !strings.Contains(c.messages, message) {
			t.Errorf("a message never says %q", message)
		}
	}
}

// census counts what verdicts say.
type census struct {
	results                   map[upstream.Result]int
	rejected, reasons, scored map[string]int
	pods, mixed               int
	preemptions               preemptions
	volumes                   volumeCounts
}

func (c *census) add(verdicts []*upstream.Verdict) {
	if c.results == nil {
		c.results = map[upstream.Result]int{}
		c.rejected, c.reasons, c.scored = map[string]int{}, map[string]int{}, map[string]int{}
	}
	for _, v := range verdicts {
		c.results[v.Result]++
		c.preemptions.add(v.Preemption)
		c.volumes.add(v)
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
