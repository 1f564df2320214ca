// SPDX-License-Identifier: Apache-2.0

package integration

import (
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
	"testing"
	"time"

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

// question is what is asked as a document and by flags.
type question struct {
	document string
	flags    []string
}

// source is where answers about the cluster come from.
type source struct {
	name    string
	explain func(pod string) []byte
	whatIf  func(q question) []byte
}

// The pods of a random cluster: some that are on nodes, and others.
const placedPods, latePods = 14, 32

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
		return len(pods) == placedPods+latePods+ofGangs
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
		return source{
			name,
			func(pod string) []byte { return run(append([]string{"explain", "--pod", pod}, cluster...)...) },
			func(q question) []byte { return run(slices.Concat([]string{"simulate"}, cluster, q.flags)...) },
		}
	}
	admin := tokenOf(e, controlplane.Admin)
	daemon := source{
		"daemon",
		func(pod string) []byte {
			_, text := e.get(e.client(), "/debug/explain?pod="+url.QueryEscape(pod), admin)
			return []byte(text)
		},
		func(q question) []byte {
			_, text := e.post("/debug/simulate", admin, q.document)
			return []byte(text)
		},
	}
	p := servePage(e.env, append(flags, "--config", config)...)
	ofPage := source{
		"page",
		func(pod string) []byte {
			var document struct{ Verdict json.RawMessage }
			p.ask("GET", "/api/pod?pod="+url.QueryEscape(pod), "", &document)
			return document.Verdict
		},
		func(q question) []byte {
			var document json.RawMessage
			p.ask("POST", "/api/what-if", q.document, &document)
			return document
		},
	}
	kubeconfig := e.plane.Kubeconfig(controlplane.Admin)
	return []source{offline("dump", "--cluster", e.berthDump(flags...)), offline("live cluster", "--kubeconfig", kubeconfig), daemon, ofPage}
}

// whatIfs are questions whose answers no draw decides: of nodes that go, and of copies that one node alone takes.
func (e *env) whatIfs() (questions []question) {
	e.Helper()
	write := func(name string, object any) (file, text string) {
		content, err := json.Marshal(object)
		e.must(err)
		file = filepath.Join(e.dir, name)
		e.must(os.WriteFile(file, content, 0o644))
		return file, string(content)
	}
	pod := workload.Pod("copy", workload.Requests("cpu", "200m"), workload.NodeSelector(corev1.LabelHostname, "spare"), workload.Tolerate("spare"))
	pod.TypeMeta, pod.Namespace = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, e.namespace
	file, manifest := write("copy.json", pod)
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
}

// agreeOnAll asks all sources about the cluster, which has so many pods of gangs.
func (e *endpoints) agreeOnAll(ofGangs int, flags ...string) {
	e.Helper()
	const verdicts = 14 // and six questions
	waiting, gangs := e.awaitSettled(ofGangs)
	if len(waiting) < verdicts {
		e.Fatalf("only %q wait", waiting)
	}
	config := filepath.Join(e.dir, "questions.yaml")
	e.must(os.WriteFile(config, []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"), 0o644))
	sources := e.sources(config, flags...)
	results := map[string]int{}
	for _, name := range waiting[:verdicts] {
		pod := e.namespace + "/" + name
		said := agree[verdict](e.env, pod, sources, func(s source) []byte { return s.explain(pod) })
		results[said.Result]++
		// The page tells it of each group of nodes.
		agree[obstacles](e.env, pod, sources[:3], func(s source) []byte { return s.explain(pod) })
	}
	if results["unschedulable"] == 0 || results["scheduled"] > 0 {
		e.Errorf("the verdicts are %v", results)
	}
	if ofGangs > 0 {
		e.agreeOnGangs(sources, gangs)
	}
	e.agreeOnPlacedPods([]source{sources[0], sources[1], sources[3]})
	nodes := map[bool]float64{false: 8, true: 13}[ofGangs > 0]
	for _, q := range e.whatIfs() {
		said := agree[answer](e.env, q.document, sources, func(s source) []byte { return s.whatIf(q) })
		if said.Now["nodes"] != nodes || said.After.Nodes == 0 || said.Filled != nil && said.Filled.Pods == 0 {
			e.Errorf("%s: %+v", q.document, said)
		}
	}
}

// agreeOnPlacedPods asks those that answer of these, as the daemon does not.
func (e *endpoints) agreeOnPlacedPods(sources []source) {
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
