// SPDX-License-Identifier: Apache-2.0

// Package numa holds the plugin NodeResourceTopologyMatch to the kubelet's own Topology Manager: what the scheduler lets
// on a node of the policy single-numa-node the kubelet admits there, and the reverse.
package numa

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	cadvisorapi "github.com/google/cadvisor/lib/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager/bitmask"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
)

var seeds = flag.Int("seeds", 100, "how many random clusters")

const (
	device = "example.com/nic"
	nodes  = 12
	pods   = 12
)

// amounts is by resource.
type amounts map[corev1.ResourceName]int64

// machine is a node with what each of its NUMA nodes has in all and has left: whole cpus, Gi of memory, devices.
type machine struct {
	name        string
	scope       string
	total, left []amounts
}

// A pool plays the part of the kubelet's managers of cpus, memory and devices, which give hints for one resource each: each
// set of NUMA nodes that has enough left, preferred if no set of fewer nodes could ever have it. Cpus and memory are given
// to Guaranteed pods alone.
type pool struct {
	resource corev1.ResourceName
	machine  *machine
	left     []int64
	manager  topologymanager.Manager
	pod      *corev1.Pod
}

func (p *pool) asked(resources corev1.ResourceList) int64 {
	quantity := resources[p.resource]
	if p.resource != device && p.pod.Status.QOSClass != corev1.PodQOSGuaranteed {
		return 0
	}
	if p.resource == corev1.ResourceMemory {
		return quantity.Value() >> 30
	}
	return quantity.Value()
}

func (p *pool) hints(asked int64) map[string][]topologymanager.TopologyHint {
	if asked == 0 {
		return nil
	}
	fewest := len(p.left) + 1
	var hints []topologymanager.TopologyHint
	for set := 1; set < 1<<len(p.left); set++ {
		var nodes []int
		var total, left int64
		for i := range p.left {
			if set>>i&1 != 0 {
				nodes, total, left = append(nodes, i), total+p.machine.total[i][p.resource], left+p.left[i]
			}
		}
		if total >= asked {
			fewest = min(fewest, len(nodes))
		}
		if left >= asked {
			mask, err := bitmask.NewBitMask(nodes...)
			if err != nil {
				panic(err)
			}
			hints = append(hints, topologymanager.TopologyHint{NUMANodeAffinity: mask})
		}
	}
	for i := range hints {
		hints[i].Preferred = hints[i].NUMANodeAffinity.Count() == fewest
	}
	if hints == nil {
		hints = []topologymanager.TopologyHint{}
	}
	return map[string][]topologymanager.TopologyHint{string(p.resource): hints}
}

func (p *pool) GetTopologyHints(_ klog.Logger, _ *corev1.Pod, container *corev1.Container, _ lifecycle.Operation) map[string][]topologymanager.TopologyHint {
	return p.hints(p.asked(container.Resources.Requests))
}

func (p *pool) GetPodTopologyHints(_ klog.Logger, pod *corev1.Pod, _ lifecycle.Operation) map[string][]topologymanager.TopologyHint {
	var first, sum int64
	for _, container := range pod.Spec.InitContainers {
		first = max(first, p.asked(container.Resources.Requests))
	}
	for _, container := range pod.Spec.Containers {
		sum += p.asked(container.Resources.Requests)
	}
	return p.hints(max(first, sum))
}

func (p *pool) AllocatePod(klog.Logger, *corev1.Pod, lifecycle.Operation) error { return nil }

// Allocate takes from the NUMA nodes of the hint. What an init container had is free again for the next.
func (p *pool) Allocate(_ context.Context, pod *corev1.Pod, container *corev1.Container, _ lifecycle.Operation) error {
	for _, first := range pod.Spec.InitContainers {
		if first.Name == container.Name {
			return nil
		}
	}
	asked := p.asked(container.Resources.Requests)
	hint := p.manager.GetAffinity(klog.Background(), string(pod.UID), container.Name)
	for i := range p.left {
		if hint.NUMANodeAffinity != nil && !hint.NUMANodeAffinity.IsSet(i) {
			continue
		}
		taken := min(asked, p.left[i])
		p.left[i] -= taken
		asked -= taken
	}
	if asked > 0 {
		return fmt.Errorf("%s: %d too few", p.resource, asked)
	}
	return nil
}

// admits is what the kubelet of the machine says of the pod.
func (m *machine) admits(pod *corev1.Pod) (bool, error) {
	var topology []cadvisorapi.Node
	for i := range m.total {
		topology = append(topology, cadvisorapi.Node{Id: i})
	}
	manager, err := topologymanager.NewManager(klog.Background(), topology, topologymanager.PolicySingleNumaNode, m.scope, nil)
	if err != nil {
		return false, err
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, device} {
		p := &pool{resource: name, machine: m, manager: manager, pod: pod}
		for i := range m.left {
			p.left = append(p.left, m.left[i][name])
		}
		manager.AddHintProvider(klog.Background(), p)
	}
	return manager.Admit(context.Background(), &lifecycle.PodAdmitAttributes{Pod: pod, Operation: lifecycle.AddOperation}).Admit, nil
}

func list(of amounts) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, amount := range of {
		if name == corev1.ResourceMemory {
			amount <<= 30
		}
		out[name] = *resource.NewQuantity(amount, resource.BinarySI)
	}
	return out
}

func drawMachine(r *rand.Rand, i int) *machine {
	m := &machine{name: fmt.Sprintf("n%d", i), scope: []string{"pod", "container"}[r.IntN(2)]}
	for range 1 + r.IntN(4) {
		total := amounts{corev1.ResourceCPU: 4 + r.Int64N(5), corev1.ResourceMemory: 8 + r.Int64N(9), device: r.Int64N(4)}
		left := amounts{}
		for name, amount := range total {
			left[name] = r.Int64N(amount + 1)
		}
		m.total, m.left = append(m.total, total), append(m.left, left)
	}
	return m
}

// objects are the node, whose pods use what its NUMA nodes have not left, and what an agent writes of it.
func (m *machine) objects() []any {
	sum := amounts{}
	var zones []any
	for i := range m.total {
		var resources []any
		for name, amount := range m.total[i] {
			sum[name] += m.left[i][name]
			unit := ""
			if name == corev1.ResourceMemory {
				unit = "Gi"
			}
			text := func(amount int64) string { return strconv.FormatInt(amount, 10) + unit }
			resources = append(resources, map[string]any{"name": name, "capacity": text(amount), "allocatable": text(amount), "available": text(m.left[i][name])})
		}
		zones = append(zones, map[string]any{"name": fmt.Sprintf("node-%d", i), "type": "Node", "resources": resources})
	}
	// The other plugins count what is left in all.
	allocatable := list(sum)
	allocatable[corev1.ResourcePods] = resource.MustParse("110")
	node := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: m.name},
		Status: corev1.NodeStatus{Allocatable: allocatable, Capacity: allocatable},
	}
	topology := map[string]any{
		"apiVersion": "topology.node.k8s.io/v1alpha2", "kind": "NodeResourceTopology", "metadata": map[string]any{"name": m.name}, "zones": zones,
		"attributes": []any{
			map[string]any{"name": "topologyManagerPolicy", "value": "single-numa-node"}, map[string]any{"name": "topologyManagerScope", "value": m.scope},
		},
	}
	return []any{node, topology}
}

// drawPod draws a Guaranteed pod, or one that asks for devices alone, with up to three containers and one that runs before
// them.
func drawPod(r *rand.Rand, i int) *corev1.Pod {
	name := fmt.Sprintf("p%d", i)
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
	pod.Spec.SchedulerName = "default-scheduler"
	pod.Status.QOSClass = corev1.PodQOSGuaranteed
	if r.IntN(4) == 0 {
		pod.Status.QOSClass = corev1.PodQOSBestEffort
	}
	container := func(name string) corev1.Container {
		asked := amounts{}
		if pod.Status.QOSClass == corev1.PodQOSGuaranteed {
			asked = amounts{corev1.ResourceCPU: 1 + r.Int64N(4), corev1.ResourceMemory: 1 + r.Int64N(6)}
		}
		if devices := r.Int64N(3); devices > 0 {
			asked[device] = devices
		}
		return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: list(asked), Limits: list(asked)}}
	}
	for i := range 1 + r.IntN(3) {
		pod.Spec.Containers = append(pod.Spec.Containers, container(fmt.Sprintf("c%d", i)))
	}
	if r.IntN(3) == 0 {
		pod.Spec.InitContainers = []corev1.Container{container("before")}
	}
	return pod
}

const profile = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: NodeResourceTopologyMatch}]}
`

// verdicts are which nodes take which pod, as `berth explain` says.
func verdicts(t *testing.T, folder string, objects []any) map[string]map[string]bool {
	t.Helper()
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
	if err != nil {
		t.Fatal(err)
	}
	dump, config := filepath.Join(folder, "cluster.json"), filepath.Join(folder, "config.yaml")
	for file, text := range map[string][]byte{dump: text, config: []byte(profile)} {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(os.Getenv("BERTH_BINARY"), "explain", "--cluster", dump, "--config", config, "-o", "json")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("berth explain: %v\n%s", err, stderr.Bytes())
	}
	found := map[string]map[string]bool{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var verdict struct {
			Pod   string
			Nodes map[string]struct{ Feasible bool }
		}
		if err := decoder.Decode(&verdict); err != nil {
			t.Fatal(err)
		}
		found[verdict.Pod] = map[string]bool{}
		for node, of := range verdict.Nodes {
			found[verdict.Pod][node] = of.Feasible
		}
	}
	return found
}

func TestWhatTheSchedulerLetsOnANodeTheKubeletAdmits(t *testing.T) {
	if os.Getenv("BERTH_BINARY") == "" {
		t.Skip("BERTH_BINARY names no berth")
	}
	klog.SetLogger(klog.New(nil))
	folder := t.TempDir()
	admitted, refused := 0, 0
	for seed := range *seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		var machines []*machine
		var drawn []*corev1.Pod
		var objects []any
		for i := range nodes {
			machines = append(machines, drawMachine(r, i))
			objects = append(objects, machines[i].objects()...)
		}
		for i := range pods {
			drawn = append(drawn, drawPod(r, i))
			objects = append(objects, drawn[i])
		}
		found := verdicts(t, folder, objects)
		for _, pod := range drawn {
			for _, m := range machines {
				want, err := m.admits(pod)
				if err != nil {
					t.Fatal(err)
				}
				if want {
					admitted++
				} else {
					refused++
				}
				if have, known := found["default/"+pod.Name][m.name]; !known || have != want {
					t.Errorf("seed %d: pod %s on node %s (%s): the scheduler says %v, the kubelet %v\n%v\n%v", seed, pod.Name, m.name, m.scope, have, want, m.left, pod.Spec)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d admitted, %d refused", admitted, refused)
	if admitted*10 < refused || refused*10 < admitted {
		t.Error("the pods tell little: nearly all are admitted, or nearly none")
	}
}
