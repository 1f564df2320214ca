// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// post asks the daemon a question as the admin.
func (e *endpoints) post(path, token, question string) (code int, answer string) {
	e.Helper()
	url := fmt.Sprintf("https://127.0.0.1:%d%s", e.port, path)
	request, err := http.NewRequestWithContext(e.ctx, http.MethodPost, url, strings.NewReader(question))
	e.must(err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := e.client().Do(request)
	e.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	e.must(err)
	return response.StatusCode, string(text)
}

// manifest is a pod as a question holds it.
func (e *env) manifest(name, cpu string) string {
	return fmt.Sprintf(`{"metadata": {"name": %q, "namespace": %q}, "spec": {"containers": [
		{"name": "c", "resources": {"requests": {"cpu": %q}}}]}}`, name, e.namespace, cpu)
}

// waitingRoom is a daemon beside two nodes that four pods fill, and late-0, which waits.
func waitingRoom(t *testing.T) *endpoints {
	t.Helper()
	if program.Peer {
		t.Skip("kube-scheduler has no such endpoint")
	}
	e := serve(t)
	e.manyNodes(2, workload.Allocatable("cpu", "2", "memory", "4Gi", "pods", "10"))
	e.manyPods(4, "web", workload.Requests("cpu", "800m"))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 4))
	e.manyPods(1, "late", workload.Requests("cpu", "1500m"))
	e.awaitUnschedulable("late-0", "0/2 nodes are available: 2 Insufficient cpu.")
	return e
}

func TestTheDaemonAnswersWhatIfAndStaysAsItIs(t *testing.T) {
	e := waitingRoom(t)
	admin := tokenOf(e, controlplane.Admin)
	before := e.cluster()

	code, text := e.post("/debug/simulate", admin, `{"pods": [`+e.manifest("small", "300m")+","+e.manifest("large", "3")+`]}`)
	var judged struct {
		Pods []struct {
			Pod, Result, Message string
			Best                 []string
			FeasibleNodes        int
		}
	}
	if err := json.Unmarshal([]byte(text), &judged); err != nil || code != 200 || len(judged.Pods) != 2 {
		e.Fatalf("where pods would go: %d %s (%v)", code, text, err)
	}
	if small := judged.Pods[0]; small.Result != "scheduled" || small.FeasibleNodes != 2 || small.Pod != e.namespace+"/small" {
		e.Errorf("a small pod: %+v", small)
	}
	if large := judged.Pods[1]; large.Message != "0/2 nodes are available: 2 Insufficient cpu." {
		e.Errorf("a large pod: %+v", large)
	}

	var answer whatIf
	code, text = e.post("/debug/simulate", admin, `{"addNodes": {"count": 1, "like": "node-0"}, "fill": {"pod": `+e.manifest("more", "100m")+`}}`)
	if err := json.Unmarshal([]byte(text), &answer); err != nil || code != 200 {
		e.Fatalf("what if: %d %s (%v)", code, text, err)
	}
	// 400m are left on each node, and 500m beside late-0 on the new one.
	if answer.Before.Nodes != 2 || answer.After.Nodes != 3 || answer.Before.Pending != 1 || answer.After.Pending != 0 || answer.Filled.Pods != 13 {
		e.Errorf("one more node: %+v", answer)
	}
	if code, text = e.post("/debug/simulate?output=table", admin, `{"drain": ["node-0"]}`); code != 200 || !strings.Contains(text, "Drain of node-0: ") {
		e.Errorf("a drain as a table: %d %s", code, text)
	}
	// The pods on the nodes have no controller, so they stay.
	var plan struct {
		Goal, Made, Outcome, Why string
		Leading                  *bool
	}
	code, text = e.post("/debug/simulate", admin, `{"goal": "fit=late-0", "namespace": "`+e.namespace+`"}`)
	if err := json.Unmarshal([]byte(text), &plan); err != nil || code != 200 {
		e.Fatalf("a plan: %d %s (%v)", code, text, err)
	}
	if plan.Goal != "fit="+e.namespace+"/late-0" || plan.Made == "" || plan.Outcome != "impossible" || plan.Leading == nil ||
		!strings.Contains(plan.Why, "2 Insufficient cpu") {
		e.Errorf("a plan: %s", text)
	}
	if after := e.cluster(); !slices.Equal(before, after) {
		e.Errorf("questions changed the cluster:\n%q\n%q", before, after)
	}
}

func TestQuestionsSeeTheClusterAsItIsNow(t *testing.T) {
	e := waitingRoom(t)
	admin := tokenOf(e, controlplane.Admin)
	fits := func() bool {
		code, text := e.post("/debug/simulate", admin, `{"pods": [`+e.manifest("asked", "1500m")+`]}`)
		if code != 200 {
			e.Fatalf("%d %s", code, text)
		}
		return strings.Contains(text, `"result":"scheduled"`)
	}
	if fits() {
		e.Error("there is room on full nodes")
	}
	e.createNodes(workload.Node("node-2", workload.Allocatable("cpu", "2", "memory", "4Gi", "pods", "10")))
	_, err := e.pods.AwaitPod(e.within(30*time.Second), "late-0", "bound", workload.IsBound)
	e.must(err)
	e.eventually("late-0 takes the room of node-2", func() bool { return !fits() })
	e.createNodes(workload.Node("node-3", workload.Allocatable("cpu", "2", "memory", "4Gi", "pods", "10")))
	e.eventually("there is room on node-3", fits)
}

func TestQuestionsAreForThoseWhomTheServerLetsAskAndHaveABound(t *testing.T) {
	e := waitingRoom(t)
	admin := tokenOf(e, controlplane.Admin)
	cases := []struct {
		name, token, question string
		code                  int
		says                  string
	}{
		{"a token without rights", tokenOf(e, controlplane.Nobody), "{}", 403, `cannot post path`},
		{"no JSON", admin, "{", 400, "syntax error"},
		{"an unknown member", admin, `{"drian": []}`, 400, `unknown field "drian"; did you mean "drain"?`},
		{"a node that is not there", admin, `{"drain": ["nope"]}`, 400, "drain: the cluster has no node nope"},
		{"a goal that is none", admin, `{"goal": "fitt=late-0"}`, 400, `goal: "fitt" is no goal; did you mean fit?`},
		{"a goal beside a change", admin, `{"goal": "pending", "drain": ["node-0"]}`, 400, `unknown field "drain"`},
		{"a plan for a pod that is not there", admin, `{"goal": "fit=late-9"}`, 400, "goal: the cluster has no pod default/late-9"},
		{"more than a mebibyte", admin, `{"drain": ["` + strings.Repeat("x", 1<<20) + `"]}`, 413, ""},
	}
	for _, c := range cases {
		if code, text := e.post("/debug/simulate", c.token, c.question); code != c.code || !strings.Contains(text, c.says) {
			e.Errorf("%s: %d %.300s", c.name, code, text)
		}
	}
	if code, text := e.get(e.client(), "/debug/simulate", admin); code != 405 {
		e.Errorf("GET: %d %s", code, text)
	}
}

func TestARunningSchedulerExplainsWithFixesAndWhereThePodStands(t *testing.T) {
	e := waitingRoom(t)
	admin := tokenOf(e, controlplane.Admin)
	code, text := e.get(e.client(), "/debug/explain?fix=true&pod="+e.namespace+"/late-0", admin)
	var verdict struct {
		Result string
		Fixes  []struct {
			Changes []struct{ Change, To, Like string }
			Nodes   []string
		}
		Queue struct {
			Attempts             int
			Place                string
			UnschedulablePlugins []string
		}
	}
	if err := json.Unmarshal([]byte(text), &verdict); err != nil || code != 200 {
		e.Fatalf("%d %s (%v)", code, text, err)
	}
	if len(verdict.Fixes) != 2 || verdict.Fixes[0].Changes[0].Change != "AddNode" || verdict.Fixes[1].Changes[0].To != "400m" {
		e.Errorf("what would let it schedule: %+v", verdict.Fixes)
	}
	if queue := verdict.Queue; queue.Attempts < 1 || queue.Place != "unschedulable" || !slices.Equal(queue.UnschedulablePlugins, []string{"NodeResourcesFit"}) {
		e.Errorf("where it stands: %+v", queue)
	}
	// A node that comes and does not help wakes it, as kube-scheduler's hints say.
	e.createNodes(workload.Node("node-2", workload.Allocatable("cpu", "1600m", "pods", "10"), workload.Cordoned()))
	e.eventually("what woke it", func() bool {
		_, text := e.get(e.client(), "/debug/explain?pod="+e.namespace+"/late-0", admin)
		return strings.Contains(text, `"wokenBy":"Node`)
	})
}

func TestARunningSchedulerExplainsAllPodsThatWait(t *testing.T) {
	e := waitingRoom(t)
	admin := tokenOf(e, controlplane.Admin)
	var all struct {
		Complete        bool
		Judged, Pending int
		Groups          []struct {
			Message, Result string
			Pods            []string
		}
	}
	code, text := e.get(e.client(), "/debug/explain", admin)
	if err := json.Unmarshal([]byte(text), &all); err != nil || code != 200 || len(all.Groups) != 1 {
		e.Fatalf("%d %s (%v)", code, text, err)
	}
	group := all.Groups[0]
	if !all.Complete || all.Pending != 1 || group.Result != "unschedulable" || !slices.Equal(group.Pods, []string{e.namespace + "/late-0"}) ||
		!strings.Contains(group.Message, "0/2 nodes are available: 2 Insufficient cpu.") {
		e.Errorf("%+v", all)
	}
	if code, text := e.get(e.client(), "/debug/explain?output=table", admin); code != 200 || !strings.Contains(text, e.namespace+"/late-0") {
		e.Errorf("as a table: %d %s", code, text)
	}
	if code, text := e.get(e.client(), "/debug/explain?fix=true", admin); code != 400 || !strings.Contains(text, "of which pod?") {
		e.Errorf("fixes of all: %d %s", code, text)
	}
	out, err := exec.CommandContext(e.ctx, program.Path, "explain", "--daemon", fmt.Sprintf("https://127.0.0.1:%d", e.port),
		"--insecure-skip-tls-verify", "--token", admin).CombinedOutput()
	if err != nil || !strings.Contains(string(out), e.namespace+"/late-0") {
		e.Errorf("the client: %v\n%s", err, out)
	}
}

func TestAPodThatWaitsForItsVolumeIsExplainedAsIfItHadNoNode(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler has no such endpoint")
	}
	e := serveWith(t, volumeConfig(time.Minute))
	e.volumes = true
	e.manyNodes(1, workload.Allocatable("cpu", "1", "pods", "10"))
	// No provisioner makes its volumes.
	class := e.namespace + "-late"
	e.createClass(workload.WaitingClass(class, provisionerName))
	e.createClaims(workload.Claim("data", class, "1Gi"))
	e.manyPods(1, "web", workload.Requests("cpu", "800m"), workload.UseClaim("data"))
	admin := tokenOf(e, controlplane.Admin)
	var verdict struct {
		Result string
		Best   []string
		Queue  struct{ Place, Node string }
	}
	explain := func() string {
		_, text := e.get(e.client(), "/debug/explain?pod="+e.namespace+"/web-0", admin)
		_ = json.Unmarshal([]byte(text), &verdict)
		return text
	}
	e.eventually("it has a node, and waits for its volume", func() bool {
		explain()
		return verdict.Queue.Place == "PreBind" && verdict.Queue.Node == "node-0"
	})
	// Its own room, which the scheduler keeps for it, is not in its way.
	if text := explain(); verdict.Result != "scheduled" || !slices.Equal(verdict.Best, []string{"node-0"}) {
		e.Errorf("it says %s", text)
	}
	// And yet it is kept from others.
	if _, text := e.post("/debug/simulate", admin, `{"pods": [`+e.manifest("other", "300m")+`]}`); !strings.Contains(text, "Insufficient cpu") {
		e.Errorf("to another pod it says %s", text)
	}
}

func TestAPodOnANodeIsNotExplainedButItsNodeIsNamed(t *testing.T) {
	e := waitingRoom(t)
	code, text := e.get(e.client(), "/debug/explain?pod="+e.namespace+"/web-0", tokenOf(e, controlplane.Admin))
	if code != 404 || !strings.Contains(text, e.namespace+"/web-0 is not pending: it is on node node-") {
		e.Errorf("%d %s", code, text)
	}
}

func TestTheClientAsksTheDaemon(t *testing.T) {
	e := waitingRoom(t)
	plugin := filepath.Join(t.TempDir(), "kubectl-berth")
	e.must(os.Symlink(program.Path, plugin))
	url := fmt.Sprintf("https://127.0.0.1:%d", e.port)
	kubeconfig := shared.Kubeconfig(controlplane.Admin)
	cases := []struct {
		name string
		args []string
		code int
		says string
	}{
		{"explain, with a token", []string{program.Path, "explain", "--daemon", url, "--insecure-skip-tls-verify",
			"--token", tokenOf(e, controlplane.Admin), "--pod", e.namespace + "/late-0"}, 1, "\n  Waits for an event that may help, after "},
		{"why, with the credentials of a kubeconfig", []string{plugin, "why", "late-0", "-n", e.namespace, "--daemon", url,
			"--insecure-skip-tls-verify", "--kubeconfig", kubeconfig, "--fix"}, 1, "What would let it schedule"},
		{"why, as a document", []string{plugin, "why", "late-0", "-n", e.namespace, "--daemon", url,
			"--insecure-skip-tls-verify", "--kubeconfig", kubeconfig, "-o", "json"}, 1, `"queue":{"attempts":`},
		{"why, of the cluster", []string{plugin, "why", "late-0", "--namespace", e.namespace, "--kubeconfig", kubeconfig}, 1,
			e.namespace + "/late-0: unschedulable"},
		{"a certificate that no one vouches for", []string{plugin, "why", "late-0", "-n", e.namespace, "--daemon", url,
			"--kubeconfig", kubeconfig}, 2, "certificate"},
		{"a token without rights", []string{program.Path, "explain", "--daemon", url, "--insecure-skip-tls-verify",
			"--token", tokenOf(e, controlplane.Nobody), "--pod", e.namespace + "/late-0"}, 2,
			`Error from server (Forbidden): forbidden: User "nobody" cannot get path "/debug/explain", nor get resource "pods"`},
		{"a pod that is not there", []string{plugin, "why", "nope", "-n", e.namespace, "--daemon", url,
			"--insecure-skip-tls-verify", "--kubeconfig", kubeconfig}, 2, "no pod " + e.namespace + "/nope waits for this scheduler"},
	}
	for _, c := range cases {
		out, err := exec.CommandContext(e.ctx, c.args[0], c.args[1:]...).CombinedOutput()
		var failed *exec.ExitError
		if !errors.As(err, &failed) || failed.ExitCode() != c.code || !strings.Contains(string(out), c.says) {
			e.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
}
