// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// verdict is what each source says of a pod, without what only one of them knows.
type verdict struct {
	Result, Message string
	Best            []string
	PlacedOn        string
	PreFilter       *struct{ Plugins, Reasons []string }
	// Without the nodes of those that wait: between equal ones each source draws for itself.
	PodGroup *struct {
		PodGroup, Message         string
		MinCount                  *int32
		Existing, Placed, Fitting int
		Missing, Starts, HoldsPod bool
	}
	Nodes map[string]struct {
		Code, Plugin string
		Feasible     bool
		Reasons      []string
		Scores       map[string]struct{ Raw, Weighted int64 }
		Total        *int64
	}
}

// eviction is what each source says of the pods whose eviction would make room for one.
type eviction struct {
	Result     string
	Preemption *struct {
		Best       []string
		Candidates map[string]struct {
			PdbViolations int
			Victims       []string
		}
		Message string
		Moved   bool
	}
}

// obstacles are the nodes where something is in the way; which of several pods it is each source finds by its own order.
type obstacles struct{ InTheWay map[string]something }

type something struct{}

func (*something) UnmarshalJSON([]byte) error { return nil }

// answer is what each source says of a question, as far as draws between equal nodes do not show in it.
type answer struct {
	Now, Before map[string]any
	After       struct{ Nodes, Pods int }
	Drained     []any
	Filled      *struct {
		Pods  int
		Nodes map[string]int
	}
}

// wholeAnswer is what each source says of a question to which no draw matters: also where each pod would be.
type wholeAnswer struct {
	Now, Before, After               map[string]any
	Pods                             []map[string]any
	Evicted, EvictedBefore, Warnings []string
}

// question is what is asked as a document and by flags.
type question struct {
	document string
	flags    []string
}

// source is where answers about the cluster come from.
type source struct {
	name    string
	explain func(pod string) []byte
	// The same with whom preemption would evict.
	preempt func(pod string) []byte
	whatIf  func(q question) []byte
}

// The pods of a random cluster: some that are on nodes, others, those of a ReplicaSet on the node spare, one that wants of
// that node what it does not have, and two that want a node which is not there, each for itself.
const placedPods, latePods, ownedPods, oddPods, queuedPods = 14, 32, 2, 1, 2

// oddResource is what no node has.
const oddResource = "example.com/odd"

// onSpare are the options of a pod that goes to the node spare and nowhere else.
func onSpare(options ...workload.PodOption) []workload.PodOption {
	return append(options, workload.NodeSelector(corev1.LabelHostname, "spare"), workload.Tolerate("spare"))
}

// randomCluster fills the cluster: nodes of several zones and disks, some tainted or cordoned, pods on them, and pods that are
// mostly too demanding. All are of one priority, so that none is evicted.
func (e *env) randomCluster(seed uint64) {
	e.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	chance := func(p float64) bool { return random.Float64() < p }
	draw := func(words ...string) string { return words[random.IntN(len(words))] }
	var nodes []*corev1.Node
	for i := range 7 {
		options := []workload.NodeOption{
			workload.Allocatable("cpu", draw("2", "3", "4"), "memory", draw("2Gi", "4Gi"), "pods", "10"),
			workload.NodeLabel("zone", draw("a", "b", "c")), workload.NodeLabel("disk", draw("ssd", "hdd")),
		}
		if chance(0.3) {
			options = append(options, workload.NoSchedule(draw("red", "blue")))
		}
		if chance(0.15) {
			options = append(options, workload.Cordoned())
		}
		nodes = append(nodes, workload.Node(fmt.Sprintf("node-%d", i), options...))
	}
	// Has room for sure.
	nodes = append(nodes, workload.Node("spare", workload.Allocatable("cpu", "3", "memory", "4Gi", "pods", "10"), workload.NoSchedule("spare")))
	e.createNodes(nodes...)
	e.volumes = true
	e.createClass(workload.WaitingClass(e.volumeName("static"), workload.NoProvisioner))
	e.createClaims(workload.Claim("without-volume", e.volumeName("static"), "1Gi"))
	labelled := func(pod *corev1.Pod) { pod.Labels = map[string]string{"app": draw("web", "db", "cache")} }
	for i := range placedPods {
		options := []workload.PodOption{
			labelled, workload.OnNode(fmt.Sprintf("node-%d", random.IntN(7))),
			workload.Requests("cpu", draw("100m", "300m", "500m"), "memory", draw("128Mi", "256Mi")),
		}
		if chance(0.3) {
			options = append(options, workload.HostPort(8080))
		}
		if chance(0.2) {
			options = append(options, workload.Apart())
		}
		e.createPods(workload.Pod(fmt.Sprintf("there-%d", i), options...))
	}
	for i := range latePods {
		options := []workload.PodOption{labelled, workload.Requests("cpu", draw("500m", "1500m", "2500m", "6", "6"), "memory", draw("256Mi", "1Gi", "3Gi"))}
		for _, one := range []struct {
			p      float64
			option workload.PodOption
		}{
			{0.3, workload.NodeSelector("disk", draw("ssd", "hdd", "nvme"))},
			{0.3, workload.HostPort(8080)},
			{0.4, workload.Tolerate(draw("red", "blue"))},
			{0.2, workload.Gates("example.com/quota")},
			{0.3, workload.Spread("zone", corev1.DoNotSchedule)},
			{0.3, workload.PreferNode("zone", draw("a", "b"))},
			{0.2, workload.UseClaim(draw("without-volume", "not-there"))},
		} {
			if chance(one.p) {
				options = append(options, one.option)
			}
		}
		if chance(0.3) {
			options = append(options, workload.Apart())
		} else if chance(0.4) {
			options = append(options, workload.RequireNode("zone", draw("a", "b", "c", "d")))
		}
		e.createPods(workload.Pod(fmt.Sprintf("late-%02d", i), options...))
	}
	for i := range ownedPods {
		owned := func(pod *corev1.Pod) {
			controls := true
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: &controls}}
			// Which of them goes first is no matter of their age then.
			pod.Annotations = map[string]string{corev1.PodDeletionCost: fmt.Sprint(i)}
		}
		e.createPods(workload.Pod(fmt.Sprintf("owned-%d", i), onSpare(owned, workload.OnNode("spare"), workload.Requests("cpu", "200m"))...))
	}
	e.manyPods(oddPods, "odd", onSpare(workload.Requests("cpu", "100m", oddResource, "1"))...)
	// The later one by its name is the older one: times of creation have seconds.
	for i := range queuedPods {
		if i > 0 {
			e.letPass(1100 * time.Millisecond)
		}
		e.createPods(workload.Pod(fmt.Sprintf("queued-%d", queuedPods-i), workload.NodeSelector(corev1.LabelHostname, "new"),
			workload.Tolerate("new"), workload.Requests("cpu", "700m")))
	}
}

// randomGangs creates groups that have a node each, where no other pod goes: which node a member would be given is no draw
// then. The first starts, of the second not all fit, the third lacks a pod, the fourth is not there.
func (e *env) randomGangs(seed uint64) (pods int) {
	e.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	for i, group := range []struct {
		cpu, members int
		minCount     int32
	}{{4, 3, 2}, {2, 4, 3}, {4, 2, 3}, {4, 2, 0}, {1 + random.IntN(4), 2 + random.IntN(4), 2 + random.Int32N(3)}} {
		name := fmt.Sprintf("gang-%d", i)
		e.createNodes(workload.Node(name, workload.Allocatable("cpu", fmt.Sprint(group.cpu), "memory", "4Gi", "pods", "10"), workload.NoSchedule("gang")))
		if group.minCount > 0 {
			e.createGang(name, group.minCount)
		}
		e.createMembersWith(name, 0, group.members, workload.NodeSelector(corev1.LabelHostname, name), workload.Tolerate("gang"))
		pods += group.members
	}
	e.awaitInitiallyScheduled("gang-0", metav1.ConditionTrue, "Scheduled")
	e.awaitInitiallyScheduled("gang-1", metav1.ConditionFalse, "Unschedulable")
	return pods
}

// awaitSettled waits until the daemon has had a say about each pod but those of gangs, which may get none, and returns
// those that wait, by name.
func (e *env) awaitSettled(ofGangs int) (waiting, gangs []string) {
	e.Helper()
	e.must(e.pods.Await(e.within(time.Minute), "settled", func(pods map[string]*corev1.Pod) bool {
		for _, pod := range pods {
			if pod.Spec.SchedulingGroup == nil && pod.Spec.NodeName == "" && workload.ScheduledCondition(pod) == nil {
				return false
			}
		}
		return len(pods) == placedPods+latePods+ownedPods+oddPods+queuedPods+ofGangs
	}))
	for _, pod := range e.pods.Pods() {
		if pod.Spec.NodeName != "" {
			continue
		}
		if pod.Spec.SchedulingGroup != nil {
			gangs = append(gangs, pod.Name)
		} else {
			waiting = append(waiting, pod.Name)
		}
	}
	slices.Sort(waiting)
	slices.Sort(gangs)
	return waiting, gangs
}

// sources are a dump, the live cluster, the daemon and the page; all but the daemon have the flags.
func (e *endpoints) sources(config string, flags ...string) []source {
	e.Helper()
	run := func(args ...string) []byte {
		out, err := exec.CommandContext(e.ctx, program.Path, slices.Concat(args, flags, []string{"--config", config, "-o", "json"})...).Output()
		// It ends with 1 where the answer is no.
		var failed *exec.ExitError
		if err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 1) {
			e.Fatalf("berth %q: %v %s", args, err, out)
		}
		return out
	}
	offline := func(name string, cluster ...string) source {
		explain := append([]string{"explain"}, cluster...)
		return source{
			name,
			func(pod string) []byte { return run(slices.Concat(explain, []string{"--pod", pod})...) },
			func(pod string) []byte { return run(slices.Concat(explain, []string{"--pod", pod, "--preemption"})...) },
			func(q question) []byte { return run(slices.Concat([]string{"simulate"}, cluster, q.flags)...) },
		}
	}
	admin := tokenOf(e, controlplane.Admin)
	get := func(query string) []byte {
		_, text := e.get(e.client(), "/debug/explain?"+query, admin)
		return []byte(text)
	}
	daemon := source{
		"daemon",
		func(pod string) []byte { return get("pod=" + url.QueryEscape(pod)) },
		func(pod string) []byte { return get("preemption=true&pod=" + url.QueryEscape(pod)) },
		func(q question) []byte {
			_, text := e.post("/debug/simulate", admin, q.document)
			return []byte(text)
		},
	}
	p := servePage(e.env, append(flags, "--config", config)...)
	// Without being asked to, it always tells of evictions.
	explain := func(pod string) []byte {
		var document struct{ Verdict json.RawMessage }
		p.ask("GET", "/api/pod?pod="+url.QueryEscape(pod), "", &document)
		return document.Verdict
	}
	ofPage := source{
		"page",
		explain,
		explain,
		func(q question) []byte {
			var document json.RawMessage
			p.ask("POST", "/api/what-if", q.document, &document)
			return document
		},
	}
	kubeconfig := e.plane.Kubeconfig(controlplane.Admin)
	return []source{offline("dump", "--cluster", e.berthDump(flags...)), offline("live cluster", "--kubeconfig", kubeconfig), daemon, ofPage}
}

// asDumped returns the object as a document, and a file that holds it.
func (e *env) asDumped(name string, object any) (file, text string) {
	e.Helper()
	content, err := json.Marshal(object)
	e.must(err)
	file = filepath.Join(e.dir, name)
	e.must(os.WriteFile(file, content, 0o644))
	return file, string(content)
}

// podOnSpare is the manifest of a pod that goes to the node spare.
func (e *env) podOnSpare(name string) *corev1.Pod {
	pod := workload.Pod(name, onSpare(workload.Requests("cpu", "200m"))...)
	pod.TypeMeta, pod.Namespace = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, e.namespace
	return pod
}

// whatIfs are questions whose answers no draw decides: of nodes that go, and of copies that one node alone takes.
func (e *env) whatIfs() (questions []question) {
	e.Helper()
	file, manifest := e.asDumped("copy.json", e.podOnSpare("copy"))
	questions = []question{
		{`{"fill": {"pod": ` + manifest + `}}`, []string{"--fill", file}},
		{`{"addNodes": {"count": 2, "like": "spare"}}`, []string{"--add-nodes", "2", "--like", "spare"}},
		{`{"removeNodes": ["spare"]}`, []string{"--remove-node", "spare"}},
		{`{"removeNodes": ["node-0", "node-1"]}`, []string{"--remove-node", "node-0,node-1"}},
		{`{"drain": ["node-2"]}`, []string{"--drain", "node-2"}},
		{`{"drain": ["node-3", "node-4"]}`, []string{"--drain", "node-3,node-4"}},
	}
	return questions
}

// moving is a question that no draw decides, as all pods that it concerns go to one node or nowhere: so many are elsewhere
// then, the first of which has this name.
type moving struct {
	question
	pods  int
	first string
}

// movings are those of manifests, of replicas, of cordons and of pods that are scheduled from nothing.
func (e *env) movings() []moving {
	e.Helper()
	pod, manifest := e.asDumped("added.json", e.podOnSpare("added"))
	deployment := workload.Deployment("new", 3, onSpare(workload.Requests("cpu", "300m"))...)
	deployment.TypeMeta, deployment.Namespace = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, e.namespace
	file, chart := e.asDumped("deployment.json", deployment)
	fresh := workload.Node("new", workload.Allocatable("cpu", "1", "memory", "1Gi", "pods", "10"), workload.NoSchedule("new"))
	fresh.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
	nodeFile, node := e.asDumped("node.json", fresh)
	scale := func(replicas int) (member string, flags []string) {
		return fmt.Sprintf(`"scale": [{"namespace": %q, "kind": "ReplicaSet", "name": "web", "replicas": %d}]`, e.namespace, replicas),
			[]string{"--scale", fmt.Sprintf("%s/rs/web=%d", e.namespace, replicas)}
	}
	more, moreFlags := scale(ownedPods + 3)
	fewer, fewerFlags := scale(ownedPods - 1)
	return []moving{
		{question{`{"add": [` + manifest + `]}`, []string{"--add", pod}}, 1, "added"},
		{question{`{"add": [` + manifest + `, ` + chart + `]}`, []string{"--add", pod, "--add", file}}, 4, "added"},
		// There is room for the one that has waited for longer.
		{question{`{"add": [` + node + `]}`, []string{"--add", nodeFile}}, 1, "queued-2"},
		{question{`{` + more + `}`, moreFlags}, 3, "web-new-0"},
		{question{`{` + fewer + `}`, fewerFlags}, 1, "owned-0"},
		// The copies stay without a node.
		{question{`{"cordon": ["spare"], ` + more + `}`, append(moreFlags, "--cordon", "spare")}, 3, "web-new-0"},
		{question{`{"reschedule": true}`, []string{"--reschedule"}}, 0, ""},
	}
}

// agree compares what the sources say, decoded, with what the first of them does.
func agree[T any](e *env, what string, sources []source, ask func(source) []byte) (first T) {
	e.Helper()
	for i, s := range sources {
		text := ask(s)
		var got T
		if err := json.Unmarshal(text, &got); err != nil {
			e.Fatalf("%s, %s: %v %s", what, s.name, err, text)
		}
		if i == 0 {
			first = got
		} else if !reflect.DeepEqual(got, first) {
			e.Errorf("%s: the %s says\n%+v\nand the %s\n%+v", what, sources[0].name, first, s.name, got)
		}
	}
	return first
}

// What not every source can be asked, by design: the daemon says of a pod on a node where it is, and of another configuration
// that it has its own; the page tells of each pod whom preemption would evict, and what is in the way by groups of nodes.
func TestEverySourceGivesTheSameAnswers(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler answers no questions")
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("Seed%d", seed), func(t *testing.T) {
			e := serveWith(t, wholeConfig)
			e.randomCluster(seed)
			e.agreeOnAll(0)
		})
	}
	t.Run("Gangs", func(t *testing.T) {
		env, _, switches := newGangControlPlane(t)
		t.Cleanup(env.cleanUp)
		e := serveOn(env, wholeConfig, switches)
		e.randomCluster(3)
		e.agreeOnAll(e.randomGangs(3), switches)
	})
	// A standby evicts no one: what it says of its pods stays true.
	t.Run("Preemption", func(t *testing.T) {
		standbyOf(newEnv(t)).agreeOnPreemption()
	})
}

// standbyOf starts a daemon that waits for a lease which another one will keep for as long as the test lasts.
func standbyOf(e *env) *endpoints {
	e.Helper()
	another, seconds, now := "another", int32(time.Hour/time.Second), metav1.NowMicro()
	leases := e.admin.CoordinationV1().Leases(controlplane.BerthNamespace)
	remove := func(ctx context.Context) { _ = leases.Delete(ctx, electionLease, metav1.DeleteOptions{}) }
	remove(e.ctx)
	_, err := leases.Create(e.ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: electionLease},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &another, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now},
	}, metav1.CreateOptions{})
	e.must(err)
	e.Cleanup(func() { remove(context.Background()) })
	return serveOn(e, wholeConfig+lease{time.Hour, 30 * time.Minute, time.Second}.election(), "--leader-elect=true")
}

// The cluster of pods of several priorities.
const crowdedNodes, podsOfNode, preemptors = 5, 4, 8

// crowdedCluster fills the cluster with nodes that are full of pods, some of which a budget protects, and with pods for some of
// which others would have to go. No two pods of a node have the same priority, so that no source draws. It returns the pods
// that wait.
func (e *env) crowdedCluster(seed uint64) (waiting []string) {
	e.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	draw := func(words ...string) string { return words[random.IntN(len(words))] }
	class := func(rank int) workload.PodOption {
		return workload.PriorityClass(fmt.Sprintf("%s-%d", e.namespace, rank))
	}
	e.must(workload.DeletePods(e.ctx, e.admin, e.namespace))
	e.must(e.pods.AwaitGone(e.within(30 * time.Second)))
	e.must(workload.DeleteNodes(e.ctx, e.admin, ""))
	for i := range crowdedNodes {
		node := fmt.Sprintf("node-%d-%d", seed, i)
		e.createNodes(workload.Node(node, workload.Allocatable("cpu", "2", "memory", "4Gi", "pods", "10"), workload.NodeLabel("zone", draw("a", "b"))))
		ranks := random.Perm(podsOfNode + 2)
		for j := range podsOfNode {
			pod := workload.Pod(fmt.Sprintf("low-%d-%d-%d", seed, i, j), workload.OnNode(node), class(ranks[j]),
				workload.Requests("cpu", draw("400m", "500m", "600m")))
			if random.IntN(3) == 0 {
				pod.Labels["app"] = "protected"
			}
			e.createPods(pod)
		}
	}
	for i := range preemptors {
		options := []workload.PodOption{workload.Requests("cpu", draw("800m", "1", "1500m", "2", "3"))}
		switch random.IntN(5) {
		case 0:
			options = append(options, workload.PriorityClass(e.namespace+"-never"))
		case 1:
			options = append(options, class(1))
		default:
			options = append(options, class(2+random.IntN(podsOfNode+1)))
		}
		if random.IntN(3) == 0 {
			options = append(options, workload.NodeSelector("zone", draw("a", "b")))
		}
		name := fmt.Sprintf("late-%d-%d", seed, i)
		e.createPods(workload.Pod(name, options...))
		waiting = append(waiting, name)
	}
	return waiting
}

// agreeOnPreemption asks who would make room in random clusters.
func (e *endpoints) agreeOnPreemption() {
	e.Helper()
	e.protect("protected")
	for rank := range podsOfNode + 3 {
		e.createPriorityClassNamed(fmt.Sprintf("%s-%d", e.namespace, rank), int32(10*rank), corev1.PreemptLowerPriority)
	}
	e.createPriorityClassNamed(e.namespace+"-never", 1000, corev1.PreemptNever)
	candidates, several, broken, without := 0, 0, 0, 0
	for seed := range uint64(3) {
		waiting := e.crowdedCluster(seed)
		e.awaitKnown(waiting[len(waiting)-1])
		sources := e.sources(e.defaultConfig())
		for _, name := range waiting {
			pod := e.namespace + "/" + name
			said := agree[eviction](e.env, pod, sources, func(s source) []byte { return s.preempt(pod) })
			if said.Preemption == nil || len(said.Preemption.Candidates) == 0 {
				without++
				continue
			}
			for _, candidate := range said.Preemption.Candidates {
				candidates++
				several += min(len(candidate.Victims)-1, 1)
				broken += min(candidate.PdbViolations, 1)
			}
		}
	}
	if candidates < 10 || several == 0 || broken == 0 || without == 0 {
		e.Errorf("%d nodes were candidates, %d with several victims, %d with broken budgets; for %d pods there was none",
			candidates, several, broken, without)
	}
}

// awaitKnown waits until the daemon knows that pod and all nodes: pods that were made before, it knows then.
func (e *endpoints) awaitKnown(pod string) {
	e.Helper()
	e.eventually("the daemon to know the cluster", func() bool {
		code, text := e.get(e.client(), "/debug/explain?pod="+url.QueryEscape(e.namespace+"/"+pod), tokenOf(e, controlplane.Admin))
		var said verdict
		return code == 200 && json.Unmarshal([]byte(text), &said) == nil && len(said.Nodes) == crowdedNodes
	})
}

// agreeOnAll asks all sources about the cluster, which has so many pods of gangs.
func (e *endpoints) agreeOnAll(ofGangs int, flags ...string) {
	e.Helper()
	const verdicts = 14 // and six questions
	waiting, gangs := e.awaitSettled(ofGangs)
	if len(waiting) < verdicts {
		e.Fatalf("only %q wait", waiting)
	}
	sources := e.sources(e.defaultConfig(), flags...)
	results := map[string]int{}
	for _, name := range waiting[:verdicts] {
		pod := e.namespace + "/" + name
		said := agree[verdict](e.env, pod, sources, func(s source) []byte { return s.explain(pod) })
		results[said.Result]++
		// The page tells it of each group of nodes.
		agree[obstacles](e.env, pod, sources[:3], func(s source) []byte { return s.explain(pod) })
		agree[eviction](e.env, pod, sources, func(s source) []byte { return s.preempt(pod) })
	}
	if results["unschedulable"] == 0 || results["scheduled"] > 0 {
		e.Errorf("the verdicts are %v", results)
	}
	if ofGangs > 0 {
		e.agreeOnGangs(sources, gangs)
	}
	const daemon = 2
	others := slices.Delete(slices.Clone(sources), daemon, daemon+1)
	e.agreeOnPlacedPods(others, sources[daemon])
	e.agreeOnNewConfig(others, sources[daemon])
	nodes := map[bool]float64{false: 8, true: 13}[ofGangs > 0]
	for _, q := range e.whatIfs() {
		said := agree[answer](e.env, q.document, sources, func(s source) []byte { return s.whatIf(q) })
		if said.Now["nodes"] != nodes || said.After.Nodes == 0 || said.Filled != nil && said.Filled.Pods == 0 {
			e.Errorf("%s: %+v", q.document, said)
		}
	}
	for _, q := range e.movings() {
		said := agree[wholeAnswer](e.env, q.document, sources, func(s source) []byte { return s.whatIf(q.question) })
		if len(said.Pods) != q.pods || said.Now["nodes"] != nodes || q.pods > 0 && said.Pods[0]["pod"] != e.namespace+"/"+q.first {
			e.Errorf("%s: %+v", q.document, said)
		}
	}
}

// defaultConfig is a file with the configuration that says nothing.
func (e *env) defaultConfig() (file string) {
	e.Helper()
	file = filepath.Join(e.dir, "questions.yaml")
	e.must(os.WriteFile(file, []byte(configHead), 0o644))
	return file
}

const configHead = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// agreeOnNewConfig asks what would change if what no node has were ignored; the daemon answers by its own configuration alone.
func (e *endpoints) agreeOnNewConfig(sources []source, daemon source) {
	e.Helper()
	text := configHead + "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [" + oddResource + "]}}]}]\n"
	file := filepath.Join(e.dir, "new_config.yaml")
	e.must(os.WriteFile(file, []byte(text), 0o644))
	document, err := json.Marshal(map[string]string{"newConfig": text})
	e.must(err)
	q := question{string(document), []string{"--new-config", file}}
	said := agree[wholeAnswer](e.env, "another configuration", sources, func(s source) []byte { return s.whatIf(q) })
	if len(said.Pods) != oddPods || said.Pods[0]["after"] != "spare" {
		e.Errorf("where what no node has is ignored: %+v", said)
	}
	if answer := daemon.whatIf(q); !strings.HasPrefix(string(answer), "newConfig: Forbidden: ") {
		e.Errorf("another configuration: the daemon says %s", answer)
	}
}

// agreeOnPlacedPods asks those that answer of these; the daemon says where the pod is.
func (e *endpoints) agreeOnPlacedPods(sources []source, daemon source) {
	e.Helper()
	scored := 0
	for _, pod := range e.pods.Pods() {
		if pod.Spec.NodeName == "" || scored == 6 {
			continue
		}
		key := e.namespace + "/" + pod.Name
		if said := agree[verdict](e.env, key, sources, func(s source) []byte { return s.explain(key) }); said.PlacedOn != pod.Spec.NodeName {
			e.Errorf("%s is on %s: %+v", key, pod.Spec.NodeName, said)
		} else if len(said.Best) > 0 {
			scored++
		}
		agree[eviction](e.env, key, sources, func(s source) []byte { return s.preempt(key) })
		if answer, want := daemon.explain(key), key+" is not pending: it is on node "+pod.Spec.NodeName; !strings.Contains(string(answer), want) {
			e.Errorf("%s: the daemon says %s", key, answer)
		}
	}
	if scored < 6 {
		e.Errorf("%d placed pods have scores", scored)
	}
}

// agreeOnGangs asks of the pods of gangs that wait, and what would let one start.
func (e *endpoints) agreeOnGangs(sources []source, waiting []string) {
	e.Helper()
	held, missing := 0, 0
	for _, name := range waiting {
		pod := e.namespace + "/" + name
		said := agree[verdict](e.env, pod, sources, func(s source) []byte { return s.explain(pod) })
		if said.PodGroup == nil {
			e.Fatalf("%s: %+v", pod, said)
		}
		if said.PodGroup.HoldsPod {
			held++
		}
		if said.PodGroup.Missing {
			missing++
		}
	}
	if held == 0 || missing != 2 {
		e.Errorf("of %q %d are held and %d wait for a group that is not there", waiting, held, missing)
	}
	q := question{`{"addNodes": {"count": 1, "like": "gang-1"}}`, []string{"--add-nodes", "1", "--like", "gang-1"}}
	agree[answer](e.env, q.document, sources, func(s source) []byte { return s.whatIf(q) })
	q = question{`{"drain": ["gang-0"]}`, []string{"--drain", "gang-0"}}
	said := agree[answer](e.env, q.document, sources, func(s source) []byte { return s.whatIf(q) })
	if len(said.Drained) != 1 {
		e.Errorf("%+v", said)
	}
}
