// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// What an autoscaler does for pods that wait: nodes come one after the other with a start-up taint, report what they have and
// how they are, and lose the taint once their agents run.
const (
	newNodes      = 60
	nodeEvery     = 150 * time.Millisecond
	taintedFor    = 9 * time.Second
	startUpTaint  = "example.com/starting"
	statusUpdates = 3
)

// retries is what one scheduler's attempts cost until all pods were bound.
type retries struct {
	failed   int             // attempts, by the scheduler's metric
	patches  int             // of pods' statuses, by the API server's metric
	events   int             // FailedScheduling
	toBind   []time.Duration // from a node's taint going to the pod's binding there; sorted
	finished time.Duration   // from the first node's creation to the last binding
}

func (r retries) String() string {
	return fmt.Sprintf("%d failed attempts, %d patches, %d events; bound after p50 %s, p90 %s, most %s; all within %s", r.failed,
		r.patches, r.events, workload.Percentile(r.toBind, 50).Round(time.Millisecond),
		workload.Percentile(r.toBind, 90).Round(time.Millisecond), r.toBind[len(r.toBind)-1].Round(time.Millisecond),
		r.finished.Round(time.Millisecond))
}

// TestRetriesBesideAnAutoscaler has Berth and kube-scheduler wait for the same nodes: Berth fails, patches and tells no more
// often, but for a tenth, and its pods do not wait longer. With BERTH_TEST_WHOLE=1 also for pods that are spread, and for pods
// of which no two are alike.
func TestRetriesBesideAnAutoscaler(t *testing.T) {
	if program.Peer {
		t.Skip("it starts both schedulers itself")
	}
	pod := func(i int, options ...workload.PodOption) *corev1.Pod {
		options = append([]workload.PodOption{workload.Requests("cpu", "3")}, options...)
		pod := workload.Pod(fmt.Sprintf("pod-%d", i), options...)
		pod.Labels["app"] = "web"
		return pod
	}
	for _, c := range []struct {
		name string
		pod  func(i int) *corev1.Pod
	}{
		{"Alike", func(i int) *corev1.Pod { return pod(i) }},
		{"Spread", func(i int) *corev1.Pod {
			return pod(i, workload.Spread(corev1.LabelHostname, corev1.DoNotSchedule))
		}},
		{"Unlike", func(i int) *corev1.Pod { return pod(i, workload.Requests("cpu", fmt.Sprintf("%dm", 3000+i))) }},
	} {
		if c.name != "Alike" && !wholeEdges {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			var ours, theirs retries
			done := t.Run("Berth", func(t *testing.T) {
				ours = countRetries(t, program, controlplane.Berth, c.pod)
			}) && t.Run("Peer", func(t *testing.T) {
				theirs = countRetries(t, daemon.Peer(shared.Binary(programs.Scheduler)), controlplane.KubeScheduler, c.pod)
			})
			if !done {
				return
			}
			t.Logf("berth:          %s", ours)
			t.Logf("kube-scheduler: %s", theirs)
			for _, count := range []struct {
				what         string
				ours, theirs int
			}{
				{"failed attempts", ours.failed, theirs.failed},
				{"status patches", ours.patches, theirs.patches},
				{"events FailedScheduling", ours.events, theirs.events},
			} {
				// Both try one pod a written condition: how many fit between two nodes varies by some percent.
				if count.ours > count.theirs+count.theirs/10 {
					t.Errorf("%d %s, kube-scheduler %d", count.ours, count.what, count.theirs)
				}
			}
			for _, p := range []int{50, 90} {
				// What one second of a busy machine may add.
				const slack = 300 * time.Millisecond
				if o, k := workload.Percentile(ours.toBind, p), workload.Percentile(theirs.toBind, p); o > k+slack {
					t.Errorf("p%d of the time to bind is %s, kube-scheduler's %s", p, o, k)
				}
			}
		})
	}
}

func countRetries(t *testing.T, program daemon.Program, user controlplane.User, pod func(i int) *corev1.Pod) retries {
	e := &endpoints{env: newEnv(t), port: freePort(t)}
	e.refusals = true // its own endpoints ask for more rights
	e.createNodes(workload.Node("small", workload.Allocatable("cpu", "1")))
	pods := make([]*corev1.Pod, newNodes)
	for i := range pods {
		pods[i] = pod(i)
	}
	patched := e.statusPatches()
	kubeconfig := shared.Kubeconfig(user)
	d, err := daemon.Start(program, daemon.Options{
		Config: "clientConnection: {qps: 50, burst: 100}", Kubeconfig: kubeconfig, Dir: e.dir, Seed: 1,
		Args: []string{
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", e.port), "--cert-dir=" + e.dir,
			"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		},
	})
	e.must(err)
	t.Cleanup(d.Kill)
	e.createPods(pods...)
	e.must(e.pods.Await(e.within(time.Minute), "all pods refused", func(pods map[string]*corev1.Pod) bool {
		waiting := 0
		for _, pod := range pods {
			if workload.IsUnschedulable(pod) {
				waiting++
			}
		}
		return waiting == newNodes
	}))
	began := time.Now()
	untainted := e.autoscale()
	e.must(e.pods.AwaitBound(e.within(time.Minute), newNodes))
	var r retries
	for _, pod := range e.pods.Pods() {
		bound := e.pods.BoundAt(pod.Name)
		r.toBind = append(r.toBind, bound.Sub(untainted[pod.Spec.NodeName]))
		r.finished = max(r.finished, bound.Sub(began))
	}
	slices.SortFunc(r.toBind, cmp.Compare)
	e.letPass(2 * time.Second) // the last events and the metrics are published within one
	r.failed = e.failedAttempts(tokenOf(e, controlplane.Admin))
	r.patches = e.statusPatches() - patched
	r.events = len(e.events("FailedScheduling", ""))
	return r
}

// autoscale makes the nodes, and returns when each one lost its taint.
func (e *endpoints) autoscale() map[string]time.Time {
	e.Helper()
	untainted := map[string]time.Time{}
	ticker := time.NewTicker(nodeEvery)
	defer ticker.Stop()
	name := func(i int) string { return fmt.Sprintf("new-%d", i) }
	wait := int(taintedFor / nodeEvery)
	for tick := range newNodes + wait {
		if tick < newNodes {
			node := workload.Node(name(tick), workload.NoSchedule(startUpTaint))
			node.Status = corev1.NodeStatus{}
			e.createNodes(node)
			e.patchNode(name(tick), `{"status":{"capacity":{"cpu":"4","memory":"32Gi","pods":"110"},`+
				`"allocatable":{"cpu":"3990m","memory":"31Gi","pods":"110"}}}`, "status")
		}
		for update := range statusUpdates {
			if i := tick - (update+1)*10; i >= 0 && i < newNodes {
				// The kubelet reserves less once it knows more.
				e.patchNode(name(i), fmt.Sprintf(`{"status":{"allocatable":{"cpu":"%dm","memory":"%dMi"},"conditions":[`+
					`{"type":"Ready","status":"True","reason":"KubeletReady","message":"%d"}]}}`, 3991+update, 31800+update, update), "status")
			}
		}
		if i := tick - wait; i >= 0 {
			e.patchNode(name(i), `{"spec":{"taints":null}}`)
			untainted[name(i)] = time.Now()
		}
		<-ticker.C
	}
	return untainted
}

// failedAttempts are those of the scheduler that ended without a node.
func (e *endpoints) failedAttempts(token string) int {
	e.Helper()
	code, text := e.get(e.client(), "/metrics", token)
	if code != http.StatusOK {
		e.Fatalf("/metrics: %d", code)
	}
	return sum(e, text, regexp.MustCompile(`^scheduler_schedule_attempts_total\{.*result="(unschedulable|error)".*\} (\S+)$`))
}

// statusPatches are those of pods that the API server has answered.
func (e *endpoints) statusPatches() int {
	e.Helper()
	text, err := e.admin.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(e.ctx)
	e.must(err)
	return sum(e, string(text), regexp.MustCompile(
		`^apiserver_request_total\{.*resource="pods".*subresource="status".*verb="(PATCH|APPLY)".*\} (\S+)$`))
}

// sum adds up the values of the lines that match, each the pattern's second group.
func sum(e *endpoints, text string, line *regexp.Regexp) int {
	e.Helper()
	total := 0.0
	for l := range strings.Lines(text) {
		if found := line.FindStringSubmatch(strings.TrimSpace(l)); found != nil {
			value, err := strconv.ParseFloat(found[2], 64)
			e.must(err)
			total += value
		}
	}
	return int(total)
}
