// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// restartPods is how many pods the tests of this file place, at a rate that leaves time to disturb.
const restartPods = 1200

func restartConfig() string { return plainConfig(150, 150) }

func (e *env) restartWorkload() {
	e.Helper()
	// The pods fill the nodes to the last: one that is counted twice leaves another without a place.
	e.manyNodes(restartPods/20, workload.Allocatable("cpu", "4", "memory", "8Gi"))
	e.manyPods(restartPods, "pod", workload.Requests("cpu", "200m", "memory", "400Mi"))
}

// checkRestarted waits for all pods and checks that none was lost or bound twice.
func (e *env) checkRestarted(crashed bool) {
	e.Helper()
	e.must(e.pods.AwaitBound(e.within(60*time.Second), restartPods))
	if !program.Peer || !crashed {
		// kube-scheduler gives a place away again when it does not learn whether a binding took effect.
		e.checkAllocatable()
	}
	e.checkBoundOnce(restartPods, crashed)
}

// countBound asks the API server, which the tracker may lag behind.
func (e *env) countBound() int {
	e.Helper()
	bound, err := e.admin.CoreV1().Pods(e.namespace).List(e.ctx, metav1.ListOptions{FieldSelector: "spec.nodeName!="})
	e.must(err)
	return len(bound.Items)
}

// disturb ends the daemon in this way, up to four times, while it has bound some pods and has others
// to bind.
func (e *env) disturb(end func(*daemon.Daemon)) {
	e.Helper()
	const step = 150
	rounds := 0
	for bound := 0; rounds < 4 && bound+step < restartPods; bound = e.countBound() {
		d := e.start(restartConfig())
		e.must(e.pods.AwaitBound(e.within(30*time.Second), bound+step))
		end(d)
		rounds++
	}
	if left := restartPods - e.countBound(); rounds == 1 && left == 0 {
		e.Error("all pods were bound before the daemon could be disturbed")
	}
	e.start(restartConfig())
}

func TestRestartOfTheDaemonLosesNothing(t *testing.T) {
	e := newEnv(t)
	e.restartWorkload()
	e.disturb(e.stop)
	e.checkRestarted(program.Peer) // which breaks its requests off, where Berth awaits the answers
}

func TestCrashOfTheDaemonInMidBindingLosesNothing(t *testing.T) {
	e := newEnv(t)
	e.restartWorkload()
	e.disturb((*daemon.Daemon).Kill)
	e.checkRestarted(true)
}

func TestRestartOfTheAPIServerLosesNothing(t *testing.T) {
	e := newEnv(t)
	e.refusals = true // the API server serves before it has read the roles
	e.restartWorkload()
	d := e.start(restartConfig())
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 400))
	e.must(shared.RestartAPIServer(e.ctx))
	e.Logf("%d pods were bound when the API server was back", e.pods.Bound())
	e.checkRestarted(false)
	e.checkStillWorks(d)
}

func TestCrashOfTheAPIServerLosesNothing(t *testing.T) {
	e := newEnv(t)
	e.refusals = true // the API server serves before it has read the roles
	e.restartWorkload()
	d := e.start(restartConfig())
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 400))
	shared.KillAPIServer()
	e.startAPIServer()
	e.checkRestarted(true)
	e.checkStillWorks(d)
}

// startAPIServer starts it again. Controllers that earlier tests have started would find it only after their backoff: the
// next test that needs them starts them.
func (e *env) startAPIServer() {
	e.Helper()
	if controllers := shared.Process(programs.ControllerManager); controllers != nil {
		controllers.Stop()
	}
	e.must(shared.StartAPIServer(e.ctx))
}

// checkStillWorks checks that the same process places a new pod on a new node.
func (e *env) checkStillWorks(d *daemon.Daemon) {
	e.Helper()
	e.createNodes(workload.Node("late", workload.NodeLabel("late", "yes")))
	e.createPods(workload.Pod("late", workload.NodeSelector("late", "yes")))
	e.awaitNode(e.within(30*time.Second), "late", "late")
	if !d.Running() {
		e.Errorf("the daemon has ended with code %d", d.ExitCode())
	}
}

func TestAPIServerAbsentAtTheStart(t *testing.T) {
	e := newEnv(t)
	e.refusals = true // as above; also, the peer falls back to events of another group
	e.createNodes(workload.Node("a"))
	e.createPods(workload.Pod("pod"))
	shared.StopAPIServer()
	d := e.start(fast())
	err := d.AwaitLog(e.within(20*time.Second), func(log string) bool {
		return says("connection refused")(log) || says("couldn't connect to server")(log)
	})
	e.startAPIServer() // also when the daemon has failed, for the tests to come
	e.must(err)
	e.awaitNode(e.within(45*time.Second), "pod", "a")
}

// TestABacklogOfEventsDoesNotHoldUpTheEnd ends the daemon when it has decided on far more pods than its rate limit has let it
// tell of.
func TestABacklogOfEventsDoesNotHoldUpTheEnd(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler drops the events that wait")
	}
	const (
		pods  = 2000
		limit = 5 * time.Second
	)
	e := newEnv(t)
	e.manyPods(pods, "pod")
	d := e.start(plainConfig(50, 100))
	e.eventually("some events", func() bool { return len(e.events("FailedScheduling", "")) > 0 })
	e.must(d.AwaitLog(e.within(30*time.Second), func(log string) bool {
		return strings.Count(log, "Unable to schedule pod") >= pods
	}))
	before := len(e.events("FailedScheduling", ""))
	began := time.Now()
	e.stop(d)
	took := time.Since(began)
	after := len(e.events("FailedScheduling", ""))
	e.Logf("%d of %d events when the daemon was told to end, %d when it had ended, %s later", before, pods, after,
		took.Round(10*time.Millisecond))
	if before >= pods/2 {
		e.Errorf("%d events were sent already: there is no backlog", before)
	}
	if took > limit {
		e.Errorf("the daemon took %s to end, want at most %s", took, limit)
	}
	if !says("Events were given up without an answer")(d.Log()) {
		e.Error("the log does not tell that events were given up")
	}
}
