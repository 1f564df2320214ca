// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"berth.dev/tests/daemon"
	"berth.dev/tests/daemon/workload"
)

// restartPods is how many pods the tests of this file place, at a rate that leaves time to disturb.
const restartPods = 1500

// maxUnderWay is more than the bindings that can be under way at once with restartConfig.
const maxUnderWay = 300

func restartConfig() string { return plainConfig(300, 300) }

func (e *env) restartWorkload() {
	e.Helper()
	e.manyNodes(100, workload.Allocatable("cpu", "4", "memory", "8Gi"))
	e.manyPods(restartPods, "pod", workload.Requests("cpu", "200m", "memory", "400Mi"))
}

// checkRestarted waits for all pods and checks that none was lost or bound twice.
func (e *env) checkRestarted(missing int) {
	e.Helper()
	e.must(e.pods.AwaitBound(e.within(60*time.Second), restartPods))
	e.checkAllocatable()
	e.checkBoundOnce(restartPods, missing)
}

func TestRestartOfTheDaemonLosesNothing(t *testing.T) {
	e := newEnv(t)
	e.restartWorkload()
	d := e.start(restartConfig())
	for range 3 {
		e.must(e.pods.AwaitBound(e.within(30*time.Second), e.pods.Bound()+250))
		e.stop(d)
		d = e.start(restartConfig())
	}
	e.checkRestarted(0)
}

func TestCrashOfTheDaemonInMidBindingLosesNothing(t *testing.T) {
	e := newEnv(t)
	e.restartWorkload()
	d := e.start(restartConfig())
	for range 4 {
		e.must(e.pods.AwaitBound(e.within(30*time.Second), e.pods.Bound()+200))
		d.Kill()
		d = e.start(restartConfig())
	}
	e.checkRestarted(4 * maxUnderWay)
}

func TestRestartOfTheAPIServerLosesNothing(t *testing.T) {
	e := newEnv(t)
	e.refusals = true // the API server serves before it has read the roles
	e.restartWorkload()
	d := e.start(restartConfig())
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 500))
	e.must(shared.RestartAPIServer(e.ctx))
	e.Logf("%d pods were bound when the API server was back", e.pods.Bound())
	e.checkRestarted(0)
	e.checkStillWorks(d)
}

func TestCrashOfTheAPIServerLosesNothing(t *testing.T) {
	e := newEnv(t)
	e.refusals = true // the API server serves before it has read the roles
	e.restartWorkload()
	d := e.start(restartConfig())
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 500))
	shared.KillAPIServer()
	e.must(shared.StartAPIServer(e.ctx))
	e.checkRestarted(maxUnderWay)
	e.checkStillWorks(d)
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
	err := d.AwaitLog(e.within(20*time.Second), says("connection refused"))
	e.must(shared.StartAPIServer(e.ctx)) // also when the daemon has failed, for the tests to come
	e.must(err)
	e.awaitNode(e.within(45*time.Second), "pod", "a")
}
