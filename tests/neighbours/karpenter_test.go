// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

const (
	slowPool   = "slow" // its nodes come with a taint that an agent takes away
	agentTaint = "example.com/agent"
	perNode    = 4 // pods of 900m on a node of four CPUs, of which Karpenter's provider keeps 100m
)

// nodePool is one whose nodes have four CPUs each, and are not consolidated before it is told to.
func nodePool(name, template string) string {
	return fmt.Sprintf(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %s}
spec:
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: Never, budgets: [{nodes: "2"}]}
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      expireAfter: Never
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [s-4x-amd64-linux]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
%s`, name, template)
}

var nodePools = strings.Join([]string{`
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
`, nodePool("plain", ""), nodePool(slowPool, `
      startupTaints: [{key: `+agentTaint+`, effect: NoSchedule}]
      taints: [{key: pool, value: slow, effect: NoSchedule}]
    metadata: {labels: {pool: slow}}
`)}, "---")

// provisioned is what Karpenter made for the pods that one scheduler found no node for.
type provisioned struct {
	spread, plain, slow batch
	before, after       int // nodes, of the consolidation
	moved               int // pods, by it
}

// batch are pods that fit nowhere until nodes were made for them.
type batch struct {
	pods, nodes int
	p50, last   time.Duration // from a pod's creation to its binding
}

func (b batch) String() string {
	return fmt.Sprintf("%d on %d nodes, p50 %s, last %s", b.pods, b.nodes, b.p50.Round(10*time.Millisecond),
		b.last.Round(10*time.Millisecond))
}

func (p provisioned) String() string {
	return fmt.Sprintf("spread: %s; plain: %s; with a start-up taint: %s; consolidated from %d nodes to %d, %d pods moved",
		p.spread, p.plain, p.slow, p.before, p.after, p.moved)
}

// TestKarpenterMakesNodesForWhatFitsNowhere has Karpenter make nodes for pods that the scheduler refuses: over zones that do
// not exist yet, several to a node, and on nodes with a start-up taint. All land, on the nodes that were made for them, and no
// further node is made. Then most pods go, Karpenter empties nodes, and what it evicts lands again; a pod that is not to be
// disrupted stays.
func TestKarpenterMakesNodesForWhatFitsNowhere(t *testing.T) {
	ours, theirs, told := besideBoth(t, controlplane.Options{ControllerManager: true, Kwok: true}, provision)
	if !told {
		return
	}
	for name, nodes := range map[string][2]int{
		"spread": {ours.spread.nodes, theirs.spread.nodes}, "plain": {ours.plain.nodes, theirs.plain.nodes},
		"slow": {ours.slow.nodes, theirs.slow.nodes}, "the rest": {ours.after, theirs.after},
	} {
		if nodes[0] > nodes[1]+1 {
			t.Errorf("%d nodes for %s, beside kube-scheduler %d", nodes[0], name, nodes[1])
		}
	}
}

func provision(s *story) provisioned {
	for _, manifests := range []string{"kwok/charts/crds", "kwok/apis/crds"} {
		s.applySource(Karpenter, manifests)
	}
	s.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd/nodepools.karpenter.sh",
		"crd/nodeclaims.karpenter.sh", "crd/nodeoverlays.karpenter.sh", "crd/kwoknodeclasses.karpenter.kwok.sh")
	s.apply(nodePools)
	s.start(Karpenter, []string{
		"KUBECONFIG=" + s.plane.Kubeconfig(controlplane.Admin), "DISABLE_LEADER_ELECTION=true", "SYSTEM_NAMESPACE=kube-system",
		"METRICS_PORT=0", "HEALTH_PROBE_PORT=0",
	})
	s.kubectl("wait", "--for=condition=Ready", "--timeout=60s", "nodepool", "--all")

	var p provisioned
	cpu := workload.Requests("cpu", "900m", "memory", "1Gi")
	p.spread = s.provisionFor("spread", 8, cpu, workload.Spread(corev1.LabelTopologyZone, corev1.DoNotSchedule))
	s.checkZones("spread")
	p.plain = s.provisionFor("plain", 24, cpu)
	s.playAgent()
	p.slow = s.provisionFor("slow", 8, cpu, workload.NodeSelector("pool", slowPool), workload.Tolerate("pool"))
	if want := 8 / perNode; p.slow.nodes != want {
		s.Errorf("%d nodes with a start-up taint for pods that fill %d", p.slow.nodes, want)
	}
	if want := 24 / perNode; p.plain.nodes > want {
		s.Errorf("%d nodes for pods that fill %d", p.plain.nodes, want)
	}
	s.checkRoom()

	s.consolidate(&p)
	return p
}

// provisionFor makes a Deployment for which there is no room, and tells what was made for it when all is placed and Karpenter
// has had the time to make more.
func (s *story) provisionFor(name string, replicas int, options ...workload.PodOption) batch {
	s.Helper()
	before, placed := s.nodes(), len(s.pods.Pods())
	began := time.Now()
	s.createDeployment(name, replicas, options...)
	s.awaitPlaced(3*time.Minute, placed+replicas)
	s.letPass(5 * time.Second) // several times what Karpenter gathers pods for
	b := batch{pods: replicas, nodes: len(s.nodes()) - len(before)}
	latencies := s.pods.Latencies(began, func(pod string) bool { return strings.HasPrefix(pod, name+"-") })
	b.p50, b.last = workload.Percentile(latencies, 50), latencies[len(latencies)-1]
	used := map[string]bool{}
	for _, pod := range s.pods.Pods() {
		used[pod.Spec.NodeName] = true
	}
	for node := range s.nodes() {
		if !used[node] {
			s.Errorf("node %s was made for %s, and has no pod", node, name)
		}
	}
	return b
}

// checkZones checks that the Deployment's pods are spread over the zones that its nodes are in.
func (s *story) checkZones(app string) {
	s.Helper()
	zones, nodes := map[string]int{}, s.nodes()
	for _, pod := range s.pods.Pods() {
		if pod.Labels["app"] == app {
			zones[nodes[pod.Spec.NodeName].Labels[corev1.LabelTopologyZone]]++
		}
	}
	least, most := 1<<30, 0
	for _, n := range zones {
		least, most = min(least, n), max(most, n)
	}
	if len(zones) < 2 || most-least > 1 {
		s.Errorf("the pods of %s are spread as %v", app, zones)
	}
}

// playAgent takes the start-up taint from nodes some time after they became Ready, as the agent that it waits for would.
func (s *story) playAgent() {
	ready := map[string]time.Time{}
	go func() {
		for s.ctx.Err() == nil {
			list, err := s.admin.CoreV1().Nodes().List(s.ctx, metav1.ListOptions{LabelSelector: "pool=" + slowPool})
			if err == nil {
				for i := range list.Items {
					node := &list.Items[i]
					if since, known := ready[node.Name]; !known {
						ready[node.Name] = time.Now()
					} else if time.Since(since) > 3*time.Second {
						s.untaint(node)
					}
				}
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
}

func (s *story) untaint(node *corev1.Node) {
	kept := []string{}
	for _, taint := range node.Spec.Taints {
		if taint.Key != agentTaint {
			kept = append(kept, fmt.Sprintf(`{"key":%q,"value":%q,"effect":%q}`, taint.Key, taint.Value, taint.Effect))
		}
	}
	if len(kept) == len(node.Spec.Taints) {
		return
	}
	// Of this version only: Karpenter takes a taint away, too.
	patch := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"spec":{"taints":[%s]}}`, node.ResourceVersion, strings.Join(kept, ","))
	_, _ = s.admin.CoreV1().Nodes().Patch(s.ctx, node.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
}

// consolidate leaves each node of the Deployment plain with one of its pods, has Karpenter give back the nodes that are too
// many, and sees that what it evicts lands again.
func (s *story) consolidate(p *provisioned) {
	s.Helper()
	kept := s.keepOneOfEachNode("plain")
	s.scale("plain", len(kept))
	want := p.spread.pods + len(kept) + p.slow.pods
	s.eventually(time.Minute, "fewer pods", func() bool { return len(s.pods.Pods()) == want })
	// The one whose node has no other is not to be disrupted.
	apart := s.aloneOnItsNode(kept)
	s.kubectl("-n", namespace, "annotate", "pod", apart.Name, "karpenter.sh/do-not-disrupt=true")
	p.before = len(s.nodes())
	bound := s.pods.Bound()
	s.kubectl("patch", "nodepool", "plain", "--type=merge", "-p", `{"spec":{"disruption":{"consolidateAfter":"2s"}}}`)
	last, since := p.before, time.Now()
	s.eventually(5*time.Minute, "Karpenter to come to rest", func() bool {
		if nodes := len(s.nodes()); nodes != last {
			last, since = nodes, time.Now()
		}
		// It waits 15 s before it does what it has found.
		return last < p.before && time.Since(since) > 45*time.Second
	})
	s.awaitPlaced(time.Minute, want)
	p.after, p.moved = len(s.nodes()), s.pods.Bound()-bound
	if p.moved == 0 {
		s.Errorf("no pod was moved, from %d nodes to %d", p.before, p.after)
	}
	if still := s.pods.Pod(apart.Name); still == nil || still.UID != apart.UID || still.Spec.NodeName != apart.Spec.NodeName {
		s.Errorf("pod %s was to stay on %s", apart.Name, apart.Spec.NodeName)
	}
	s.checkRoom()
	s.checkZones("spread")
}

// keepOneOfEachNode has the Deployment's controller keep one pod of each node when the Deployment is scaled down, and returns these.
func (s *story) keepOneOfEachNode(app string) []*corev1.Pod {
	s.Helper()
	kept := map[string]*corev1.Pod{}
	for _, pod := range s.pods.Pods() {
		if pod.Labels["app"] == app && kept[pod.Spec.NodeName] == nil {
			kept[pod.Spec.NodeName] = pod
			s.kubectl("-n", namespace, "annotate", "pod", pod.Name, "controller.kubernetes.io/pod-deletion-cost=100")
		}
	}
	return slices.Collect(maps.Values(kept))
}

// aloneOnItsNode is one of the pods beside which its node has no other.
func (s *story) aloneOnItsNode(of []*corev1.Pod) *corev1.Pod {
	s.Helper()
	on := map[string]int{}
	for _, pod := range s.pods.Pods() {
		on[pod.Spec.NodeName]++
	}
	for _, pod := range of {
		if on[pod.Spec.NodeName] == 1 {
			return pod
		}
	}
	s.Fatalf("all nodes have several pods: %v", on)
	return nil
}
