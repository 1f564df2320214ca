// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// handover is the longest time until a standby leads after the leader has given the lease up: the standard retryPeriod
// with its jitter, and two seconds for a busy machine.
const handover = 2*time.Second*22/10 + 2*time.Second

// arrivals creates pods one after the other until it is stopped, and tells when each was created.
type arrivals struct {
	stop    context.CancelFunc
	ended   chan error
	created []time.Time // once it has ended
}

func arrive(t *testing.T, namespace string) *arrivals {
	ctx, stop := context.WithCancel(t.Context())
	a := &arrivals{stop: stop, ended: make(chan error, 1)}
	go func() {
		defer close(a.ended)
		for ctx.Err() == nil {
			a.created = append(a.created, time.Now())
			pod := workload.Pod(fmt.Sprintf("pod-%d", len(a.created)-1), workload.Scheduler("berth"), workload.Requests("cpu", "1m"))
			if _, err := shared.Client(controlplane.Admin).CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				a.ended <- err
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return a
}

// The base's strategy lets go of one replica before its successor is ready: here of the one that leads, each time.
func TestAnUpgradeLeavesPodsToWaitForOneTryOfTheStandbyAtMost(t *testing.T) {
	const namespace = "upgrade"
	kubectl(t, "apply", "--server-side", "--force-conflicts", "-k", inDeploy("base"))
	ctx, admin := t.Context(), shared.Client(controlplane.Admin)
	deployment, err := admin.AppsV1().Deployments(controlplane.BerthNamespace).Get(ctx, "berth", metav1.GetOptions{})
	must(t, err)
	rolling := deployment.Spec.Strategy.RollingUpdate
	if *deployment.Spec.Replicas != 2 || rolling.MaxUnavailable.IntValue() != 1 || rolling.MaxSurge.IntValue() != 1 {
		t.Fatalf("the strategy is another one: %v of %d", rolling, *deployment.Spec.Replicas)
	}
	start := func() (running *daemon.Daemon, port int) {
		t.Helper()
		options, port := replica(t)
		running, err := daemon.Start(program, options)
		must(t, err)
		t.Cleanup(running.Kill)
		must(t, running.AwaitLog(ctx, func(log string) bool { return strings.Contains(log, "Serving securely") }))
		return running, port
	}
	ready := func(port int) func() bool {
		return func() bool {
			code, _ := ask(t, shared, port, "/readyz")
			return code == http.StatusOK
		}
	}
	first, port := start()
	waitFor(t, "the first replica", ready(port))
	second, port := start()
	waitFor(t, "the second replica", ready(port))

	must(t, workload.CreateNamespace(ctx, admin, namespace))
	must(t, workload.CreateNodes(ctx, admin, workload.Node("upgrade-node", workload.Allocatable("cpu", "8", "pods", "5000"))))
	pods, err := workload.Track(ctx, admin, namespace)
	must(t, err)
	t.Cleanup(pods.Stop)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := workload.DeletePods(ctx, admin, namespace); err != nil {
			t.Error(err)
		}
		if err := workload.DeleteNodes(ctx, admin, ""); err != nil {
			t.Error(err)
		}
	})
	stream := arrive(t, namespace)
	_, err = pods.AwaitPod(ctx, "pod-0", "its node", workload.IsBound)
	must(t, err)
	before := leaseOf(t)

	third, port := start()
	must(t, first.Stop())
	waitFor(t, "the third replica", ready(port))
	waitFor(t, "a new leader", func() bool { now := leaseOf(t); return now != "" && now != before })
	fourth, port := start()
	must(t, second.Stop())
	waitFor(t, "the fourth replica", ready(port))
	time.Sleep(handover)
	stream.stop()
	must(t, <-stream.ended)
	must(t, pods.AwaitBound(ctx, len(stream.created)))

	var waits []time.Duration
	for i, created := range stream.created {
		waits = append(waits, pods.BoundAt(fmt.Sprintf("pod-%d", i)).Sub(created))
	}
	slices.Sort(waits)
	longest := waits[len(waits)-1]
	t.Logf("%d pods: in the median bound after %s, the longest wait %s", len(waits), waits[len(waits)/2].Round(time.Millisecond), longest.Round(time.Millisecond))
	if longest > handover {
		t.Errorf("a pod waited for %s, want at most %s", longest, handover)
	}
	events, err := workload.ScheduledEvents(ctx, admin, namespace)
	must(t, err)
	times := map[string]int{}
	for _, event := range events {
		times[event.Regarding.Name]++
	}
	for name, n := range times {
		if n != 1 {
			t.Errorf("%s was bound %d times", name, n)
		}
	}
	for _, running := range []*daemon.Daemon{third, fourth} {
		must(t, running.Stop())
	}
}

// leaseOf is who holds the base's lease.
func leaseOf(t *testing.T) string {
	t.Helper()
	lease, err := shared.Client(controlplane.Admin).CoordinationV1().Leases(controlplane.BerthNamespace).Get(t.Context(), "berth", metav1.GetOptions{})
	must(t, err)
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}
