// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// page is a berth ui on the test's own cluster.
type page struct {
	*env
	address *url.URL
}

// servePage runs berth ui, with further flags, until the test ends.
func servePage(e *env, flags ...string) *page {
	e.Helper()
	if program.Peer {
		e.Skip("kube-scheduler has no page")
	}
	// Ended by a signal, below: the context ends before that.
	command := exec.Command(program.Path, append([]string{"ui", "--kubeconfig", e.plane.Kubeconfig(controlplane.Admin)}, flags...)...)
	out, err := command.StdoutPipe()
	e.must(err)
	e.must(command.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	e.must(err)
	address, err := url.Parse(strings.TrimSpace(line))
	e.must(err)
	e.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			e.Errorf("berth ui: %v", err)
		}
	})
	return &page{e, address}
}

// ask reads the document at a path as the page does.
func (p *page) ask(method, path, body string, document any) {
	p.Helper()
	request, err := http.NewRequestWithContext(p.ctx, method, "http://"+p.address.Host+path, strings.NewReader(body))
	p.must(err)
	request.Header.Set("X-Berth-Token", p.address.Query().Get("token"))
	response, err := http.DefaultClient.Do(request)
	p.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	p.must(err)
	if response.StatusCode != http.StatusOK {
		p.Fatalf("%s %s: %s %s", method, path, response.Status, text)
	}
	p.must(json.Unmarshal(text, document))
}

// columns are what the map says of nodes and pods.
type columns struct {
	Cluster struct{ Live bool }
	Nodes   struct{ Name []string }
	Pods    struct {
		Name []string
		Node []int
	}
}

// places are the pods and the nodes that they are on.
func (c columns) places() map[string]string {
	places := map[string]string{}
	for i, pod := range c.Pods.Name {
		places[pod] = ""
		if node := c.Pods.Node[i]; node >= 0 {
			places[pod] = c.Nodes.Name[node]
		}
	}
	return places
}

func TestThePageOfALiveClusterIsReadAgainAndWritesNothing(t *testing.T) {
	e := newEnv(t)
	e.manyNodes(2, workload.Allocatable("cpu", "2", "memory", "4Gi", "pods", "10"))
	e.start(fast())
	e.manyPods(2, "web", workload.Requests("cpu", "1500m"))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 2))
	e.manyPods(1, "late", workload.Requests("cpu", "1"))
	e.awaitUnschedulable("late-0", "0/2 nodes are available: 2 Insufficient cpu.")
	before := e.cluster()

	p := servePage(e)
	var seen columns
	p.ask("GET", "/api/map", "", &seen)
	places := seen.places()
	if !seen.Cluster.Live || len(seen.Nodes.Name) != 2 || len(places) != 3 || places["late-0"] != "" || places["web-0"] == "" {
		t.Errorf("the map shows %+v", seen)
	}
	var pending struct{ Groups []struct{ Pods []string } }
	p.ask("GET", "/api/pending", "", &pending)
	if len(pending.Groups) != 1 || !slices.Equal(pending.Groups[0].Pods, []string{e.namespace + "/late-0"}) {
		t.Errorf("pending are %+v", pending)
	}
	var answer whatIf
	p.ask("POST", "/api/what-if", `{"addNodes":{"count":1,"like":"`+seen.Nodes.Name[0]+`"}}`, &answer)
	if answer.Before.Pending != 1 || answer.After.Pending != 0 || answer.After.Nodes != 3 {
		t.Errorf("with one more node: %+v", answer)
	}
	if after := e.cluster(); !slices.Equal(before, after) {
		t.Errorf("the cluster was %v and is %v", before, after)
	}

	e.deletePod("web-0")
	e.awaitNode(e.within(30*time.Second), "late-0", places["web-0"])
	p.ask("GET", "/api/map", "", &seen)
	if _, there := seen.places()["web-0"]; !there {
		t.Error("the picture changes without being asked to")
	}
	p.ask("POST", "/api/refresh", "", &seen)
	places = seen.places()
	if _, there := places["web-0"]; there || places["late-0"] == "" {
		t.Errorf("after a refresh the pods are at %v", places)
	}
	p.checkFollows()
}

// checkFollows makes a pod, which the page sees by its watches.
func (p *page) checkFollows() {
	p.Helper()
	var state struct{ Changed, Reached bool }
	var seen columns
	p.eventually("what came before is seen", func() bool {
		p.ask("POST", "/api/refresh?watched=true", "", &seen)
		p.ask("GET", "/api/changes", "", &state)
		return !state.Changed && state.Reached
	})
	p.manyPods(1, "follower", workload.Requests("cpu", "64"))
	p.eventually("the pod is seen", func() bool {
		p.ask("GET", "/api/changes", "", &state)
		if !state.Changed {
			return false
		}
		p.ask("POST", "/api/refresh?watched=true", "", &seen)
		_, there := seen.places()["follower-0"]
		return there
	})
}

// The API server makes those of Kubernetes, and the test one more, which no pod has.
func TestPriorityClassesOfALiveClusterAreInDumpsAndQuestions(t *testing.T) {
	e := newEnv(t)
	p := servePageWithClass(e)
	dump, err := os.ReadFile(e.berthDump())
	e.must(err)
	for _, name := range []string{e.namespace, "system-cluster-critical"} {
		if !strings.Contains(string(dump), `"kind":"PriorityClass","metadata":{"name":"`+name+`"}`) {
			t.Errorf("no class %s in the dump: %.2000s", name, dump)
		}
	}
	pod := workload.Pod("urgent", workload.PriorityClass(e.namespace), workload.Requests("cpu", "1"))
	pod.TypeMeta, pod.Namespace = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, e.namespace
	manifest, err := json.Marshal(pod)
	e.must(err)
	file := filepath.Join(e.dir, "urgent.json")
	e.must(os.WriteFile(file, manifest, 0o644))
	if answer := e.ask("--add", file); len(answer.Pods) != 1 || answer.Pods[0].After == nil {
		t.Errorf("of the live cluster: %+v", answer)
	}
	var answer whatIf
	p.ask("POST", "/api/what-if", `{"add":[`+string(manifest)+`]}`, &answer)
	if len(answer.Pods) != 1 || answer.Pods[0].After == nil {
		t.Errorf("on the page: %+v", answer)
	}
}

// servePageWithClass makes a PriorityClass of the namespace's name and a node before the page is served.
func servePageWithClass(e *env) *page {
	e.Helper()
	classes := e.admin.SchedulingV1().PriorityClasses()
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}, Value: 7}
	_, err := classes.Create(e.ctx, class, metav1.CreateOptions{})
	e.must(err)
	e.Cleanup(func() { _ = classes.Delete(context.Background(), e.namespace, metav1.DeleteOptions{}) })
	e.manyNodes(1)
	return servePage(e)
}
