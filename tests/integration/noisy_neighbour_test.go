// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
	"berth.dev/tests/internal/machine"
)

// TestANoisyNamespaceHoldsUpNoOther has far more pods than may await their bind in a namespace whose binds a webhook holds up, or
// refuses. Meanwhile pods of another namespace are bound one after the other, as if nothing were: how long that takes at
// worst, how long /livez does, and how much memory is taken has a limit, and the lease is kept.
//
// With BERTH_TEST_WHOLE=1 there are ten times the pods that may await their bind, and more of the others.
func TestANoisyNamespaceHoldsUpNoOther(t *testing.T) {
	const places = 100 // which is what max(burst, 64) leaves
	noisy, others := 3*places, 20
	if wholeEdges {
		noisy, others = 10*places, 200
	}
	cases := []struct {
		name  string
		hook  bindHook
		first time.Duration // until the first of the others is bound
		p99   time.Duration
	}{
		// A bind gives its place back after a second, those behind it every quarter of one.
		{"slow", bindHook{delay: 10 * time.Second}, 10 * time.Second, 3 * time.Second},
		{"refused", bindHook{refuses: true}, 10 * time.Second, 3 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if program.Peer {
				t.Skip("kube-scheduler has other endpoints")
			}
			e := &endpoints{env: newEnv(t), port: freePort(t)}
			e.manyNodes(10, workload.Allocatable("cpu", "1000", "memory", "1000Gi", "pods", "5000"))
			quiet := e.namespace + "-quiet"
			e.must(workload.CreateNamespace(e.ctx, e.admin, quiet))
			pods, err := workload.Track(e.ctx, e.admin, quiet)
			e.must(err)
			t.Cleanup(func() {
				pods.Stop()
				if err := workload.DeletePods(context.Background(), e.admin, quiet); err != nil {
					e.Error(err)
				}
			})
			asked := e.hookBindings(c.hook)
			kubeconfig := shared.Kubeconfig(controlplane.Berth)
			e.daemon = e.startWith(daemon.Options{
				Config: shortLease.election() + plainConfig(5000, places), Kubeconfig: kubeconfig, LeaderElect: true,
				Args: []string{"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", e.port)},
			})
			e.must(e.daemon.AwaitLog(e.within(20*time.Second), says("Successfully acquired lease")))
			memory := machine.ResidentMemory(e.daemon.PID())
			before := e.lease()

			e.manyPods(noisy, "noisy")
			e.eventually("binds of the noisy namespace", func() bool { return asked() > 0 })
			done := make(chan struct{})
			probes := e.probe(done)
			var took []time.Duration
			for i := range others {
				begin, name := time.Now(), fmt.Sprintf("quiet-%d", i)
				e.must(workload.CreatePod(e.ctx, e.admin, quiet, workload.Pod(name)))
				_, err := pods.AwaitPod(e.within(60*time.Second), name, "bound", workload.IsBound)
				e.must(err)
				took = append(took, time.Since(begin))
			}
			close(done)
			slowest := <-probes
			grown := machine.ResidentMemory(e.daemon.PID()) - memory
			later := slices.Sorted(slices.Values(took[1:]))
			p99 := workload.Percentile(later, 99)
			e.Logf("%d noisy pods, the webhook was asked %d times; another namespace: first %s, p50 %s, p99 %s; /livez at most %s; memory +%d MiB",
				noisy, asked(), took[0].Round(time.Millisecond), workload.Percentile(later, 50).Round(time.Millisecond),
				p99.Round(time.Millisecond), slowest.Round(time.Millisecond), grown>>20)
			if took[0] > c.first || p99 > c.p99 {
				e.Errorf("pods of another namespace waited for %s at first, and %s, want at most %s and %s", took[0], p99, c.first, c.p99)
			}
			if slowest > time.Second {
				e.Errorf("/livez took %s", slowest)
			}
			if limit := int64(100 << 20); grown > limit {
				e.Errorf("memory has grown by %d MiB", grown>>20)
			}
			after := e.lease()
			if !e.daemon.Running() || *after.Spec.HolderIdentity != *before.Spec.HolderIdentity ||
				*after.Spec.LeaseTransitions != *before.Spec.LeaseTransitions {
				e.Errorf("the lease was lost: %+v, then %+v", before.Spec, after.Spec)
			}
			e.daemon.Kill() // it would wait for the binds under way
		})
	}
}

// probe asks for /livez until `done` is closed, and then tells how long the slowest answer took.
func (e *endpoints) probe(done <-chan struct{}) <-chan time.Duration {
	slowest := make(chan time.Duration, 1)
	go func() {
		most := time.Duration(0)
		for {
			select {
			case <-done:
				slowest <- most
				return
			case <-time.After(100 * time.Millisecond):
			}
			begin := time.Now()
			code, body, err := e.try(e.client(), "/livez", "")
			if err != nil || code != http.StatusOK {
				e.Errorf("/livez: %d %s (%v)", code, body, err)
			}
			most = max(most, time.Since(begin))
		}
	}()
	return slowest
}

// bindHook is what a webhook does with a request to bind.
type bindHook struct {
	delay   time.Duration
	refuses bool
	sees    func(binding []byte) // if set: what is asked about, as JSON
}

// hookBindings has the API server ask a webhook about each bind of this test's pods. It returns how often that was asked.
func (e *env) hookBindings(hook bindHook) (asked func() int) {
	e.Helper()
	var mu sync.Mutex
	count := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "no review", http.StatusBadRequest)
			return
		}
		mu.Lock()
		count++
		if hook.sees != nil {
			hook.sees(review.Request.Object.Raw)
		}
		mu.Unlock()
		select {
		case <-time.After(hook.delay):
		case <-r.Context().Done():
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: !hook.refuses}
		review.Request = nil
		if err := json.NewEncoder(w).Encode(review); err != nil {
			e.Log(err)
		}
	}))
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	e.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	e.reviewBindings("noisy.example.com", admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: ca}, 30)
	// The API server takes up to a second to learn of it.
	e.letPass(2 * time.Second)
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return count
	}
}
