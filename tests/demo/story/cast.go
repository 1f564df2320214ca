// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"slices"

	"berth.dev/tests/controlplane/programs"
)

// Programs are those of the control plane that the demo starts: kwok for kubelets.
var Programs = []string{programs.Etcd, programs.APIServer, programs.ControllerManager, programs.Kwok}

const (
	Namespace     = "berth-demo"
	SchedulerName = "berth-demo"

	// NodeLabel marks the demo's nodes; every pod demands it, so that none strays onto other nodes.
	NodeLabel = "berth.dev/demo"

	UrgentClass    = "berth-demo-urgent"
	UrgentPriority = 1000000

	gpu      = "example.com/gpu"
	zoneKey  = "topology.kubernetes.io/zone"
	edgePort = 443
)

// Config gives the daemon a name of its own, beside whatever schedules the cluster already. At this
// rate the pods take some seconds, in which the urgent ones can overtake the others.
const Config = `
clientConnection: {qps: 150, burst: 60}
profiles:
- schedulerName: ` + SchedulerName + `
`

var zones = []string{"zone-a", "zone-b", "zone-c"}

// nodes are 100 in three zones: of each ten, one has GPUs and repels other pods, one is
// kept for batch work, two have SSDs and one stands at the edge.
func nodes() (nodes []*Node) {
	for i := range 100 {
		zone := zones[i%len(zones)]
		node := newNode(fmt.Sprintf("%s-%02d", zone, i/len(zones)+1), zone, "8", "32Gi")
		pool := "general"
		switch i / 3 % 10 {
		case 0:
			pool = "gpu"
			node.offer("cpu", "16", "memory", "128Gi", gpu, "4")
			node.repel(pool)
		case 1:
			pool = "batch"
			node.repel(pool)
		case 2, 3:
			node.Metadata.Labels["disk"] = "ssd"
		case 4:
			node.Metadata.Labels["edge"] = "yes"
		}
		node.Metadata.Labels["pool"] = pool
		nodes = append(nodes, node)
	}
	return nodes
}

// LateNode is a node on which those pods fit that fitted nowhere before, but for those that are fixed.
func LateNode() *Node {
	node := newNode(zones[0]+"-late", zones[0], "96", "512Gi")
	node.offer(gpu, "16")
	node.Metadata.Labels["pool"], node.Metadata.Labels["edge"] = "large", "yes"
	return node
}

func newNode(name, zone, cpu, memory string) *Node {
	node := &Node{
		APIVersion: "v1", Kind: "Node",
		Metadata: Metadata{
			Name:   name,
			Labels: map[string]string{"kubernetes.io/hostname": name, NodeLabel: "yes", zoneKey: zone},
			// In a cluster that is there kwok leaves nodes without this mark alone, and so should others.
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		},
		Status: NodeStatus{
			Allocatable: Resources{}, Capacity: Resources{},
			Conditions: []NodeCondition{{Type: "Ready", Status: "True", Reason: "KubeletReady"}},
		},
	}
	node.offer("cpu", cpu, "memory", memory, "pods", "110")
	return node
}

// offer sets resources, given as pairs of name and quantity.
func (n *Node) offer(pairs ...string) {
	for pair := range slices.Chunk(pairs, 2) {
		n.Status.Allocatable[pair[0]], n.Status.Capacity[pair[0]] = pair[1], pair[1]
	}
}

func (n *Node) repel(key string) {
	n.Spec.Taints = append(n.Spec.Taints, Taint{Key: key, Effect: "NoSchedule"})
}

func (n *Node) has(key, value string) bool { return n.Metadata.Labels[key] == value }

// Group is pods that are alike.
type Group struct {
	Name     string
	What     string // in words
	Kind     string // Deployment, DaemonSet or Pod
	Replicas int
	// pod is one of them, but for its name.
	pod *Pod

	// belongs says whether a node is right for such a pod, as far as the pod alone decides.
	belongs func(*Node) bool
	// apart says that no two of them share a node.
	apart bool
}

// Pod is the group's pod of that number.
func (g Group) Pod(i int) *Pod {
	pod := *g.pod
	pod.Metadata.Name = fmt.Sprintf("%s-%d", g.Name, i)
	return &pod
}

func crowd(nodes []*Node) []Group {
	edge := slices.DeleteFunc(slices.Clone(nodes), func(n *Node) bool { return !n.has("edge", "yes") })
	untainted := func(n *Node) bool { return len(n.Spec.Taints) == 0 }
	return []Group{{
		Name: "web", What: "anything will do", Kind: "Deployment", Replicas: 240,
		pod:     newPod("web").request("cpu", "250m", "memory", "512Mi"),
		belongs: untainted,
	}, {
		Name: "cache", What: "nodeSelector disk=ssd", Kind: "Deployment", Replicas: 40,
		pod:     newPod("cache").request("cpu", "1", "memory", "4Gi").on("disk", "ssd"),
		belongs: func(n *Node) bool { return n.has("disk", "ssd") },
	}, {
		Name: "api", What: "node affinity: zone-a or zone-b", Kind: "Deployment", Replicas: 60,
		pod:     newPod("api").request("cpu", "500m", "memory", "1Gi").require(NodeSelectorTerm{MatchExpressions: in(zoneKey, "zone-a", "zone-b")}),
		belongs: func(n *Node) bool { return untainted(n) && !n.has(zoneKey, "zone-c") },
	}, {
		Name: "batch", What: "tolerates and prefers the batch nodes", Kind: "Deployment", Replicas: 60,
		pod:     newPod("batch").request("cpu", "1", "memory", "1Gi").tolerate("batch").prefer("pool", "batch"),
		belongs: func(n *Node) bool { return !n.has("pool", "gpu") },
	}, {
		Name: "trainer", What: "one GPU each, tolerates the GPU nodes", Kind: "Deployment", Replicas: 40,
		pod:     newPod("trainer").request("cpu", "2", "memory", "8Gi", gpu, "1").tolerate("gpu"),
		belongs: func(n *Node) bool { return n.has("pool", "gpu") },
	}, {
		Name: "node-agent", What: "a DaemonSet, tolerates everything", Kind: "DaemonSet", Replicas: len(nodes),
		pod:     newPod("node-agent").request("cpu", "50m", "memory", "64Mi").tolerate(""),
		belongs: func(*Node) bool { return true }, apart: true,
	}, {
		Name: "ingress", What: "host port 443 on the edge nodes", Kind: "Pod", Replicas: len(edge),
		pod:     newPod("ingress").port(edgePort).on("edge", "yes"),
		belongs: func(n *Node) bool { return n.has("edge", "yes") }, apart: true,
	}, urgent(untainted)}
}

// urgent pods come last and are to be bound first.
func urgent(belongs func(*Node) bool) Group {
	pod := newPod("urgent").request("cpu", "100m")
	pod.Spec.PriorityClassName = UrgentClass
	return Group{Name: "urgent", What: "of high priority, created in the middle", Kind: "Pod", Replicas: 5, pod: pod, belongs: belongs}
}

// Misfit is a pod that fits nowhere, and what its message must say.
type Misfit struct {
	Pod    *Pod
	Reason string
	// Fixed says that the story makes the change that Berth finds smallest; the late node is no help.
	Fixed bool
}

// Name is the pod's.
func (m Misfit) Name() string { return m.Pod.Metadata.Name }

// Misfits are the pods that fit nowhere.
func Misfits() []Misfit {
	return []Misfit{
		{Pod: newPod("too-big").request("cpu", "64"), Reason: "Insufficient cpu"},
		{Pod: newPod("no-such-disk").on("disk", "tape"), Reason: "node(s) didn't match Pod's node affinity/selector", Fixed: true},
		{Pod: newPod("many-gpus").request(gpu, "8").tolerate("gpu"), Reason: "Insufficient " + gpu},
		{Pod: newPod("repelled").on("pool", "gpu"), Reason: "node(s) had untolerated taint(s)", Fixed: true},
		{Pod: newPod("port-taken").port(edgePort).on("edge", "yes"), Reason: "node(s) didn't have free ports for the requested pod ports"},
	}
}

// Gated is a pod that is held back until its gate is removed.
func Gated() *Pod {
	pod := newPod("gated")
	pod.Spec.SchedulingGates = []Gate{{Name: "example.com/wait"}}
	return pod
}

func newPod(name string) *Pod {
	return &Pod{
		APIVersion: "v1", Kind: "Pod",
		Metadata: Metadata{Name: name, Labels: map[string]string{"app": name}},
		Spec: PodSpec{
			SchedulerName: SchedulerName,
			NodeSelector:  map[string]string{NodeLabel: "yes"},
			Containers:    []Container{{Name: "main", Image: "registry.k8s.io/pause:3.10"}},
		},
	}
}

// request sets what the container requests, as pairs of name and quantity. Extended resources must have an equal limit.
func (p *Pod) request(pairs ...string) *Pod {
	requirements := &p.Spec.Containers[0].Resources
	requirements.Requests = Resources{}
	for pair := range slices.Chunk(pairs, 2) {
		requirements.Requests[pair[0]] = pair[1]
		if pair[0] == gpu {
			requirements.Limits = Resources{gpu: pair[1]}
		}
	}
	return p
}

func (p *Pod) on(key, value string) *Pod {
	p.Spec.NodeSelector[key] = value
	return p
}

func (p *Pod) port(number int) *Pod {
	p.Spec.Containers[0].Ports = []Port{{ContainerPort: number, HostPort: number}}
	return p
}

func (p *Pod) tolerate(key string) *Pod {
	p.Spec.Tolerations = append(p.Spec.Tolerations, Toleration{Key: key, Operator: "Exists"})
	return p
}

func (p *Pod) require(term NodeSelectorTerm) *Pod {
	p.Spec.Affinity = &Affinity{NodeAffinity{Required: &NodeSelector{Terms: []NodeSelectorTerm{term}}}}
	return p
}

func (p *Pod) prefer(key, value string) *Pod {
	term := PreferredTerm{Weight: 100, Preference: NodeSelectorTerm{MatchExpressions: in(key, value)}}
	p.Spec.Affinity = &Affinity{NodeAffinity{Preferred: []PreferredTerm{term}}}
	return p
}

func in(key string, values ...string) []Requirement {
	return []Requirement{{Key: key, Operator: "In", Values: values}}
}
