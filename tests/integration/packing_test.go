// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// packing is what `berth packing -o json` says.
type packing struct {
	Nodes, Pods, PendingPods     int
	OvercommittedNodesByResource map[string]float64
	NodePools                    []struct {
		NodePool                                               string
		OpenNodes, ClosedNodes, UsedNodes, UsedNodesLowerBound float64
		Allocatable, Requested, Stranded, LargestFree          map[string]float64
		LargestPod, TypicalPod                                 map[string]float64
		LargestGang                                            *float64
	}
}

// series are the gauges that a daemon shows of it, by what stands before the value.
func (p packing) series() map[string]float64 {
	series := map[string]float64{}
	set := func(metric, labels string, value float64) {
		series[fmt.Sprintf("berth_%s{%s}", metric, labels)] = value
	}
	for resource, nodes := range p.OvercommittedNodesByResource {
		set("overcommitted_nodes", fmt.Sprintf("resource=%q", resource), nodes)
	}
	for _, pool := range p.NodePools {
		label := fmt.Sprintf("node_pool=%q", pool.NodePool)
		amounts := func(metric string, amounts map[string]float64) {
			for resource, amount := range amounts {
				if resource == "milliCPU" {
					resource, amount = "cpu", amount/1000
				}
				set("packing_"+metric, fmt.Sprintf("%s,resource=%q", label, resource), amount)
			}
		}
		set("packing_nodes", label+`,state="open"`, pool.OpenNodes)
		set("packing_nodes", label+`,state="closed"`, pool.ClosedNodes)
		set("packing_nodes", label+`,state="used"`, pool.UsedNodes)
		set("packing_nodes_lower_bound", label, pool.UsedNodesLowerBound)
		amounts("allocatable", pool.Allocatable)
		amounts("requested", pool.Requested)
		amounts("stranded", pool.Stranded)
		amounts("largest_free", pool.LargestFree)
		amounts("largest_pod", pool.LargestPod)
		if pool.LargestGang != nil {
			set("packing_largest_gang", label, *pool.LargestGang)
		}
	}
	return series
}

// packing runs the command.
func (e *env) packing(flags ...string) (p packing) {
	e.Helper()
	args := append([]string{"packing", "-o", "json"}, flags...)
	out, err := exec.CommandContext(e.ctx, program.Path, args...).Output()
	if err != nil {
		e.Fatalf("berth %q: %v", args, err)
	}
	e.must(json.Unmarshal(out, &p))
	return p
}

// dump writes the nodes and pods of the cluster as kubectl would.
func (e *env) dump() (file string) {
	e.Helper()
	nodes, err := e.admin.CoreV1().Nodes().List(e.ctx, metav1.ListOptions{})
	e.must(err)
	pods, err := e.admin.CoreV1().Pods("").List(e.ctx, metav1.ListOptions{})
	e.must(err)
	var items []any
	for _, node := range nodes.Items {
		node.APIVersion, node.Kind = "v1", "Node"
		items = append(items, node)
	}
	for _, pod := range pods.Items {
		pod.APIVersion, pod.Kind = "v1", "Pod"
		items = append(items, pod)
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	e.must(err)
	file = filepath.Join(e.dir, "cluster.json")
	e.must(os.WriteFile(file, text, 0o644))
	return file
}

// berthDump writes what berth dump prints of the cluster.
func (e *env) berthDump(flags ...string) (file string) {
	e.Helper()
	flags = append([]string{"dump", "--kubeconfig", e.plane.Kubeconfig(controlplane.Admin)}, flags...)
	out, err := exec.CommandContext(e.ctx, program.Path, flags...).Output()
	e.must(err)
	file = filepath.Join(e.dir, "berth_dump.json")
	e.must(os.WriteFile(file, out, 0o644))
	return file
}

// packingGauges are those that the daemon shows now.
func (e *endpoints) packingGauges() map[string]float64 {
	e.Helper()
	_, text := e.get(e.client(), "/metrics", tokenOf(e, controlplane.Admin))
	gauges := map[string]float64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		packing := strings.HasPrefix(name, "berth_packing_") && !strings.HasPrefix(name, "berth_packing_slice")
		if !packing && !strings.HasPrefix(name, "berth_overcommitted_nodes{") || value == "" {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		e.must(err)
		gauges[name+"}"] = number
	}
	return gauges
}

// differences names what is not the same in both.
func differences(want, got map[string]float64) (differences []string) {
	for name, value := range want {
		if other, ok := got[name]; !ok || other != value {
			differences = append(differences, fmt.Sprintf("%s is %v, want %v", name, other, value))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			differences = append(differences, "no "+name+" is wanted")
		}
	}
	return differences
}

// A daemon renews its figures every 15 s, so one of the two within this began after all was quiet.
const twoSurveys = 40 * time.Second

func TestADaemonsPackingIsThatOfADump(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler does not tell")
	}
	e := serve(t)
	pool := func(name string) workload.NodeOption { return workload.NodeLabel("karpenter.sh/nodepool", name) }
	large := workload.Allocatable("cpu", "4", "memory", "8Gi", "pods", "10")
	e.createNodes(
		workload.Node("a-0", large, pool("a")), workload.Node("a-1", large, pool("a")),
		workload.Node("a-2", large, pool("a"), workload.Cordoned()),
		workload.Node("gpu", workload.Allocatable("cpu", "2", "memory", "64Gi", "pods", "10", "example.com/gpu", "4")),
	)
	e.manyPods(2, "gpu", workload.Requests("cpu", "1", "memory", "1Gi", "example.com/gpu", "1"))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 2))
	e.manyPods(3, "web", workload.Requests("cpu", "1500m", "memory", "1Gi"))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 5))
	e.manyPods(1, "large", workload.Requests("cpu", "3", "memory", "1Gi"))
	e.awaitUnschedulable("large-0", "0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu.")

	said := e.packing("--cluster", e.dump())
	if said.Nodes != 4 || said.Pods != 5 || said.PendingPods != 1 || len(said.NodePools) != 2 {
		e.Errorf("of the dump, berth packing says %+v", said)
	}
	if stranded := said.NodePools[0].Stranded; stranded["example.com/gpu"] != 2 {
		e.Errorf("two devices are out of reach for lack of cpu; stranded are %v", stranded)
	}
	want := said.series()
	live := e.packing("--kubeconfig", shared.Kubeconfig(controlplane.Admin)).series()
	if d := differences(want, live); len(d) > 0 {
		e.Errorf("of the live cluster it says something else:\n%s", strings.Join(d, "\n"))
	}
	if d := differences(want, e.packing("--cluster", e.berthDump()).series()); len(d) > 0 {
		e.Errorf("of what berth dump prints it says something else:\n%s", strings.Join(d, "\n"))
	}
	var wrong []string
	for deadline := time.Now().Add(twoSurveys); time.Now().Before(deadline); e.letPass(200 * time.Millisecond) {
		if wrong = differences(want, e.packingGauges()); len(wrong) == 0 {
			return
		}
	}
	e.Errorf("the daemon's gauges differ:\n%s", strings.Join(wrong, "\n"))
}

// TestAnotherSchedulerOvercommitsANode lets a second scheduler, which knows nothing of Berth's pods,
// bind more to a node than there is room for: the API server refuses none of it.
func TestAnotherSchedulerOvercommitsANode(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler does not tell")
	}
	e := serve(t)
	overcommitted := func(nodes float64) func() bool {
		return func() bool {
			got, ok := e.packingGauges()[`berth_overcommitted_nodes{resource="cpu"}`]
			return ok && got == nodes
		}
	}
	e.createNodes(workload.Node("shared", workload.Allocatable("cpu", "4", "memory", "8Gi", "pods", "20")))
	e.manyPods(2, "ours", workload.Requests("cpu", "1"))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 2))
	e.eventually("the gauge, before", overcommitted(0))

	e.manyPods(3, "theirs", workload.Requests("cpu", "1"), workload.Scheduler("another"))
	for i := range 3 {
		e.must(e.bind(fmt.Sprintf("theirs-%d", i), "shared"))
	}
	e.manyPods(1, "late", workload.Requests("cpu", "100m"))
	e.awaitUnschedulable("late-0", "0/1 nodes are available: 1 Insufficient cpu.")
	e.eventually("the gauge, with five cores requested of four", overcommitted(1))
	if pod := e.pods.Pod("late-0"); workload.IsBound(pod) {
		e.Errorf("Berth put %s on a node that is overcommitted", pod.Name)
	}

	for i := range 2 {
		e.must(workload.DeletePod(e.ctx, e.admin, e.namespace, fmt.Sprintf("theirs-%d", i)))
	}
	e.awaitNode(e.within(30*time.Second), "late-0", "shared")
	e.eventually("the gauge, once pods have left", overcommitted(0))
}
