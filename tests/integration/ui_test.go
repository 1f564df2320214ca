// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/daemon/workload"
)

// page is a berth ui on the test's own cluster.
type page struct {
	*env
	address *url.URL
}

// servePage runs berth ui until the test ends.
func servePage(e *env) *page {
	e.Helper()
	if program.Peer {
		e.Skip("kube-scheduler has no page")
	}
	// Ended by a signal, below: the context ends before that.
	command := exec.Command(program.Path, "ui", "--kubeconfig", shared.Kubeconfig(controlplane.Admin))
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
}
