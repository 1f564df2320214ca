// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/faults"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// gangFaults befall a share of the requests. An eviction is only delayed or asked to come again: one that fails may leave
// a gang in part (docs/reliability.md).
var gangFaults = []faults.Rule{
	{Scope: faults.Scope{Verb: "create", Resource: "pods/binding"}, Fault: faults.Fault{Kind: faults.Reset, Late: true}, Share: 0.3},
	{Scope: faults.Scope{Verb: "create", Resource: "pods/binding"}, Fault: faults.Fault{Kind: faults.Answer, Code: http.StatusInternalServerError}, Share: 0.3},
	{Fault: faults.Fault{Kind: faults.Answer, Code: http.StatusTooManyRequests, RetryAfter: 1}, Share: 0.2},
	{Fault: faults.Fault{Kind: faults.Delay, Delay: 300 * time.Millisecond}, Share: 0.5},
	// Not of pods: an eviction begins with one, which four refusals end.
	{Scope: faults.Scope{Verb: "patch", Resource: "podgroups/status"}, Fault: faults.Fault{Kind: faults.Answer, Code: http.StatusServiceUnavailable}, Share: 0.3},
	{Scope: faults.Scope{Verb: "update", Resource: "resourceclaims/status"}, Fault: faults.Fault{Kind: faults.Answer, Code: http.StatusServiceUnavailable}, Share: 0.3},
	{Scope: faults.Scope{Verb: "watch"}, Fault: faults.Fault{Kind: faults.Truncate}, Share: 1},
}

// TestGangsStayWholeUnderFaultsAndPreemption while urgent gangs push others away, which come again.
func TestGangsStayWholeUnderFaultsAndPreemption(t *testing.T) {
	const rounds, lowSize, urgentSize = 4, 4, 6
	seed := rand.Uint64N(1_000_000)
	t.Logf("seed %d", seed)
	e, c, switches := newGangControlPlane(t)
	proxy, kubeconfig, err := faults.Before(c, e.dir, seed)
	e.must(err)
	t.Cleanup(proxy.Close)
	d := e.startWith(daemon.Options{Config: deviceConfig, Kubeconfig: kubeconfig, Args: []string{switches}})
	t.Cleanup(func() { e.stop(d) })
	for _, name := range []string{"a", "b", "c"} {
		e.createNodes(workload.Node(name, workload.Allocatable("cpu", "4")))
	}
	e.endPods(0)
	urgent := e.createPriorityClass(1000)

	sizes := map[string]int{}
	create := func(name string, size int, class string) {
		group := gang(name, int32(size))
		group.Spec.PriorityClassName = class
		group.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
		e.createGroup(group)
		e.createMembersWith(name, 0, size, workload.PriorityClass(class))
		sizes[name] = size
	}
	// What is there of a gang is bound, and all of it is there, or nothing is bound.
	broken := func() string {
		for name, size := range sizes {
			there := 0
			for i := range size {
				if pod := e.pods.Pod(fmt.Sprintf("%s-%d", name, i)); pod != nil && pod.DeletionTimestamp == nil {
					there++
				}
			}
			if bound := e.boundOf(name, size); bound != 0 && (bound != size || there != size) {
				return fmt.Sprintf("of gang %s %d pods are there and %d bound, of %d", name, there, bound, size)
			}
		}
		return ""
	}
	// A fault may cost an attempt, and the next waits for its backoff.
	awaitWhole := func(name string) {
		within := e.within(90 * time.Second)
		for e.boundOf(name, sizes[name]) != sizes[name] || broken() != "" {
			select {
			case <-within.Done():
				e.Fatalf("gang %s: %d pods are bound; %s", name, e.boundOf(name, sizes[name]), broken())
			case <-time.After(50 * time.Millisecond):
			}
		}
	}

	ctx, stop := context.WithCancel(e.ctx)
	defer stop()
	go proxy.Trouble(ctx, gangFaults, time.Second, 0, seed)
	for round := range rounds {
		low := fmt.Sprintf("low%d", round)
		create(low, lowSize, "")
		create(low+"b", lowSize, "")
		awaitWhole(low)
		awaitWhole(low + "b")
		name := fmt.Sprintf("urgent%d", round)
		create(name, urgentSize, urgent)
		awaitWhole(name)
		e.checkAllocatable()
		for gone := range sizes {
			for i := range sizes[gone] {
				e.deletePod(fmt.Sprintf("%s-%d", gone, i))
			}
		}
		clear(sizes)
		e.eventually("all pods are gone", func() bool { return len(e.pods.Pods()) == 0 })
	}
	stop()
	t.Logf("requests that met a fault: %v", proxy.Hit())
	bindings, err := c.AuditBindings()
	e.must(err)
	if twice := controlplane.BoundTwice(bindings); twice != "" {
		t.Error(twice)
	}
}
