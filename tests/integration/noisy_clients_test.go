// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// noise is what clients do of whom no one must notice.
type noise struct {
	*endpoints
	dialer tls.Dialer
	counts sync.Map // of what was done, by name
}

func (n *noise) count(what string) *atomic.Int64 {
	counted, _ := n.counts.LoadOrStore(what, new(atomic.Int64))
	return counted.(*atomic.Int64)
}

// dial connects from an address of its own, as another pod would; nil: the server had no place.
func (n *noise) dial(ctx context.Context) net.Conn {
	conn, err := n.dialer.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", n.port))
	if err != nil {
		return nil
	}
	return conn
}

// ask sends a request, and does not wait for its answer.
func (n *noise) ask(ctx context.Context, head string) net.Conn {
	conn := n.dial(ctx)
	if conn != nil {
		_, _ = conn.Write([]byte(head + "\r\n\r\n"))
	}
	return conn
}

// repeat does something in several goroutines until the context ends.
func (n *noise) repeat(ctx context.Context, group *sync.WaitGroup, what string, times int, do func()) {
	for range times {
		group.Go(func() {
			for ctx.Err() == nil {
				do()
				n.count(what).Add(1)
			}
		})
	}
}

// timeToBind is how long a new pod waits for its node.
func (n *noise) timeToBind(name string) time.Duration {
	n.Helper()
	began := time.Now()
	n.createPods(workload.Pod(name))
	_, err := n.pods.AwaitPod(n.within(time.Minute), name, "bound", workload.IsBound)
	n.must(err)
	return time.Since(began)
}

// TestNoisyClientsStopNothing has clients do at once, and beyond every bound, what costs the daemon most: dumps that they hang up
// on, pages that they do not read, bodies of strangers, handshakes. Pods are bound, probes answered, the memory stays and so does
// the lease. With BERTH_TEST_WHOLE=1 on a larger cluster, with as many readers as there are connections.
func TestNoisyClientsStopNothing(t *testing.T) {
	nodes, waiting, readers, dumps := 100, 300, 64, int64(200)
	if wholeEdges {
		nodes, waiting, readers, dumps = 500, 2000, 256, 2000
	}
	e := &endpoints{env: newEnv(t), port: freePort(t)}
	e.refusals = true // strangers are refused
	kubeconfig := shared.Kubeconfig(controlplane.Berth)
	e.daemon = e.startWith(daemon.Options{
		Config: shortLease.election() + fast(), Kubeconfig: kubeconfig, LeaderElect: true,
		Args: []string{"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", e.port),
			"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig},
	})
	e.must(e.daemon.AwaitLog(e.within(20*time.Second), says("Successfully acquired lease")))
	lease := e.lease()
	e.manyNodes(nodes, workload.Allocatable("cpu", "1", "pods", "110"))
	e.manyPods(waiting, "waits", workload.Requests("cpu", "2"))
	admin := tokenOf(e, controlplane.Admin)
	n := &noise{endpoints: e, dialer: tls.Dialer{
		NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: 10 * time.Second},
		Config:    &tls.Config{InsecureSkipVerify: true},
	}}
	e.eventually("the pods that wait", func() bool {
		_, body := e.get(e.client(), "/debug/queue", admin)
		return strings.Count(body, "/waits-") == waiting
	})
	quiet := n.timeToBind("quiet")
	before := e.residentBytes()

	ctx, cancel := context.WithCancel(e.ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	request := func(path string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: berth\r\nAuthorization: Bearer " + admin
	}
	for range readers {
		if conn := n.ask(ctx, request("/metrics/resources")); conn != nil {
			defer conn.Close()
			n.count("readers").Add(1)
		}
	}
	hangUp := func(head string) func() {
		return func() {
			if conn := n.ask(ctx, head); conn != nil {
				conn.Close()
			}
		}
	}
	n.repeat(ctx, &group, "dumps of the cache", 2, hangUp(request("/debug/cache")))
	n.repeat(ctx, &group, "dumps of the queue", 2, hangUp(request("/debug/queue")))
	n.repeat(ctx, &group, "handshakes", 2, func() {
		if conn := n.dial(ctx); conn != nil {
			conn.Close()
		}
	})
	n.repeat(ctx, &group, "bodies", 1, hangUp("POST /debug/simulate HTTP/1.1\r\nHost: berth\r\nContent-Length: 1000000"))

	var slowest time.Duration
	var probes []time.Duration
	rounds, end := 0, time.Now().Add(time.Minute)
	for n.count("dumps of the cache").Load() < dumps && time.Now().Before(end) {
		slowest = max(slowest, n.timeToBind(fmt.Sprintf("noisy-%d", rounds)))
		rounds++
		for range 5 {
			began := time.Now()
			if code, body, err := e.try(e.client(), "/livez", ""); err != nil || code != 200 {
				e.Errorf("/livez: %d %s %v", code, body, err)
			}
			probes = append(probes, time.Since(began))
		}
	}
	cancel()
	group.Wait()
	slices.Sort(probes)
	probe := probes[len(probes)*99/100]
	grown := e.residentBytes() - before
	n.counts.Range(func(what, counted any) bool {
		e.Logf("%s: %d", what, counted.(*atomic.Int64).Load())
		if counted.(*atomic.Int64).Load() == 0 {
			e.Errorf("no %s", what)
		}
		return true
	})
	e.Logf("a pod is bound in %v, with the noise %d in at most %v each; /livez answers in %v (p99), at most %v; the memory grew by %d MiB",
		quiet, rounds, slowest, probe, probes[len(probes)-1], grown>>20)
	if slowest > 5*time.Second {
		e.Errorf("a pod was bound after %v", slowest)
	}
	// The kubelet waits so long by default.
	if probe > time.Second {
		e.Errorf("/livez answered after %v (p99)", probe)
	}
	after := e.lease()
	if !e.daemon.Running() || *after.Spec.HolderIdentity != *lease.Spec.HolderIdentity ||
		*after.Spec.LeaseTransitions != *lease.Spec.LeaseTransitions {
		e.Errorf("the lease was lost: %+v, then %+v", lease.Spec, after.Spec)
	}
	if grown > 150<<20 {
		e.Errorf("the memory grew by %d MiB", grown>>20)
	}
}
