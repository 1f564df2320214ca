// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
)

// lease says how long leaders of a test may be silent. kube-scheduler's own times make a test slow,
// and very short ones let a leader on a busy machine lose its lease.
type lease struct{ duration, deadline, retry time.Duration }

var (
	shortLease   = lease{8 * time.Second, 6 * time.Second, 500 * time.Millisecond}
	defaultLease = lease{15 * time.Second, 10 * time.Second, 2 * time.Second}
)

// inFlight is how late the API server of a busy machine may take in what a leader sent last.
const inFlight = time.Second

// electionLease is the one that the shipped role grants, in controlplane.BerthNamespace.
const electionLease = "berth"

func (l lease) config() string { return l.election() + restartConfig() }

func (l lease) election() string {
	return fmt.Sprintf(`
leaderElection: {leaderElect: true, resourceName: %s, resourceNamespace: %s, leaseDuration: %s, renewDeadline: %s, retryPeriod: %s}
`, electionLease, controlplane.BerthNamespace, l.duration, l.deadline, l.retry)
}

// takeover is the longest time from a leader's last renewal until another leads: the standby sees the
// renewal up to one try late, waits for the lease to run out, and tries once more. A second is for a
// busy machine.
func (l lease) takeover() time.Duration { return l.duration + 2*l.try() + time.Second }

// try is the longest time between two tries of a standby.
func (l lease) try() time.Duration { return l.retry * 22 / 10 }

// replicas starts a leader and, once it leads, a standby.
func (e *env) replicas(l lease) (leader, standby *daemon.Daemon) {
	e.Helper()
	return e.replicasWith(l.config())
}

func (e *env) replicasWith(config string) (leader, standby *daemon.Daemon) {
	e.Helper()
	err := e.admin.CoordinationV1().Leases(controlplane.BerthNamespace).Delete(e.ctx, electionLease, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		e.Fatal(err)
	}
	leader = e.replicaWith(config)
	e.must(leader.AwaitLog(e.within(20*time.Second), says("Successfully acquired lease")))
	standby = e.replicaWith(config)
	e.must(standby.AwaitLog(e.within(20*time.Second), says("Attempting to acquire leader lease")))
	return leader, standby
}

func (e *env) replica(l lease) *daemon.Daemon {
	e.Helper()
	return e.replicaWith(l.config())
}

func (e *env) replicaWith(config string) *daemon.Daemon {
	e.Helper()
	return e.startWith(daemon.Options{Config: config, Kubeconfig: shared.Kubeconfig(controlplane.Berth), LeaderElect: true})
}

func (e *env) lease() *coordinationv1.Lease {
	e.Helper()
	found, err := e.admin.CoordinationV1().Leases(controlplane.BerthNamespace).Get(e.ctx, electionLease, metav1.GetOptions{})
	e.must(err)
	return found
}

// awaitNextLeader waits until the lease has changed hands, and returns when that was.
func (e *env) awaitNextLeader(before *coordinationv1.Lease, since time.Time, limit time.Duration) time.Time {
	e.Helper()
	var now *coordinationv1.Lease
	e.eventually("the standby to lead", func() bool {
		now = e.lease()
		return *now.Spec.HolderIdentity != "" && *now.Spec.HolderIdentity != *before.Spec.HolderIdentity
	})
	acquired := now.Spec.AcquireTime.Time
	if took := acquired.Sub(since); took > limit {
		e.Errorf("the standby led after %s, want at most %s", took, limit)
	}
	if got, want := *now.Spec.LeaseTransitions, *before.Spec.LeaseTransitions+1; got != want {
		e.Errorf("the lease tells of %d transitions, want %d", got, want)
	}
	e.Logf("the standby led %s after the leader's end", acquired.Sub(since).Round(time.Millisecond))
	return acquired
}

// checkHandover checks in the audit log that nothing was bound while no process led, and that the new
// leader began at once.
func (e *env) checkHandover(end, acquired time.Time) {
	e.Helper()
	first := time.Time{}
	for _, b := range e.bindings() {
		switch {
		case b.Received.Before(acquired):
			if b.Received.After(end.Add(inFlight)) {
				e.Errorf("pod %s was bound %s before a process led", b.Pod, acquired.Sub(b.Received))
				return
			}
		case first.IsZero() || b.Received.Before(first):
			first = b.Received
		}
	}
	if first.IsZero() {
		e.Error("the new leader bound nothing")
		return
	}
	delay := first.Sub(acquired)
	e.Logf("the first binding came %s after the lease", delay.Round(time.Millisecond))
	if delay > promptly && !program.Peer {
		e.Errorf("the first binding came %s after the lease, want at most %s", delay, promptly)
	}
}

func testKilledLeader(t *testing.T, l lease) {
	e := newEnv(t)
	e.restartWorkload()
	leader, standby := e.replicas(l)
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 200))
	before := e.lease()
	leader.Kill()
	end := time.Now()
	acquired := e.awaitNextLeader(before, end, l.takeover())
	e.checkRestarted(true)
	e.checkHandover(end, acquired)
	if !standby.Running() {
		e.Errorf("the new leader has ended with code %d", standby.ExitCode())
	}
}

func TestElectionStandbyFollowsAKilledLeader(t *testing.T) { testKilledLeader(t, shortLease) }

func TestElectionStandbyFollowsAKilledLeaderWithDefaultTimes(t *testing.T) {
	testKilledLeader(t, defaultLease)
}

func TestElectionStoppedLeaderGivesTheLeaseUp(t *testing.T) {
	e := newEnv(t)
	e.restartWorkload()
	leader, _ := e.replicas(shortLease)
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 200))
	before := e.lease()
	e.stop(leader)
	end := time.Now()
	acquired := e.awaitNextLeader(before, end, shortLease.try()+time.Second)
	e.checkRestarted(program.Peer) // which breaks its requests off, where Berth awaits the answers
	e.checkHandover(end, acquired)
}

func TestElectionStoppedStandbyChangesNothing(t *testing.T) {
	e := newEnv(t)
	e.manyNodes(2)
	leader, standby := e.replicas(shortLease)
	before := e.lease()
	e.stop(standby)
	e.manyPods(2, "pod")
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 2))
	if now := e.lease(); *now.Spec.HolderIdentity != *before.Spec.HolderIdentity {
		e.Errorf("%s holds the lease, want %s", *now.Spec.HolderIdentity, *before.Spec.HolderIdentity)
	}
	e.awaitLeaderEvent(*before.Spec.HolderIdentity)
	e.stop(leader)
	if holder := *e.lease().Spec.HolderIdentity; holder != "" {
		e.Errorf("%s holds the lease after its end", holder)
	}
}

// awaitLeaderEvent checks the event about the lease, field by field as kube-scheduler writes it.
func (e *env) awaitLeaderEvent(identity string) {
	e.Helper()
	message := identity + " became leader"
	e.eventually("the event about the lease", func() bool {
		list, err := e.admin.CoreV1().Events(controlplane.BerthNamespace).List(e.ctx,
			metav1.ListOptions{FieldSelector: "reason=LeaderElection,involvedObject.name=" + electionLease})
		e.must(err)
		for _, event := range list.Items {
			if event.Message != message {
				continue
			}
			if event.InvolvedObject.Kind != "Lease" || event.InvolvedObject.APIVersion != "coordination.k8s.io/v1" ||
				event.InvolvedObject.UID != e.lease().UID || event.Type != "Normal" || event.Count != 1 ||
				event.Source.Component != "default-scheduler" || event.ReportingController != "default-scheduler" ||
				!strings.HasPrefix(event.Name, electionLease+".") {
				e.Errorf("the event about the lease is %+v", event)
			}
			return true
		}
		return false
	})
}

func TestElectionLeaderThatLosesTheLeaseEnds(t *testing.T) {
	e := newEnv(t)
	leader, standby := e.replicas(shortLease)
	e.stop(standby)
	held := e.lease()
	other := "another-process"
	held.Spec.HolderIdentity = &other
	seconds := int32(3600)
	held.Spec.LeaseDurationSeconds = &seconds
	for {
		_, err := e.admin.CoordinationV1().Leases(controlplane.BerthNamespace).Update(e.ctx, held, metav1.UpdateOptions{})
		if err == nil {
			break
		}
		if !apierrors.IsConflict(err) {
			e.Fatal(err)
		}
		held.ResourceVersion = e.lease().ResourceVersion
	}
	e.awaitLost(leader)
}

// awaitLost waits until the daemon has ended because its lease was lost.
func (e *env) awaitLost(d *daemon.Daemon) {
	e.Helper()
	select {
	case <-d.Exited():
	case <-e.within(20 * time.Second).Done():
		e.Fatal("it has lost its lease and goes on")
	}
	if code := d.ExitCode(); code != 1 {
		e.Errorf("it ended with code %d, want 1", code)
	}
	for _, text := range []string{"Failed to renew lease", "Leaderelection lost"} {
		if !says(text)(d.Log()) {
			e.Errorf("its log does not say %q", text)
		}
	}
}

// A leader that slept through the end of its lease, as on a machine that was suspended, must not
// bind what it had decided before.
func TestElectionSleeperBindsNothing(t *testing.T) {
	e := newEnv(t)
	e.restartWorkload()
	leader, _ := e.replicas(shortLease)
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 200))
	before := e.lease()
	e.must(leader.Signal(syscall.SIGSTOP))
	end := time.Now()
	acquired := e.awaitNextLeader(before, end, shortLease.takeover())
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 600))
	e.must(leader.Signal(syscall.SIGCONT))
	e.awaitLost(leader)
	e.checkRestarted(true)
	e.checkHandover(end, acquired)
	late := 0
	for _, b := range e.bindings() {
		if b.Received.After(acquired) && !b.Bound() {
			late++
		}
	}
	// What it had handed to its connection, but not written, may still come; the API server refuses it.
	// All that waited for its turn, up to 150 by this configuration, is held back.
	if e.Logf("%d bindings of the sleeper came late", late); late > 20 {
		e.Errorf("the sleeper sent %d bindings after its lease", late)
	}
}
