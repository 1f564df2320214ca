// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// settleLimit is how long after the last trouble all pods may take: backoffs grow to ten seconds, and a bind that was
// lost is not given up before the API server must have given it up.
const settleLimit = 100 * time.Second

// run is one schedule being played.
type run struct {
	*testing.T
	schedule
	ctx         context.Context
	control     *controlplane.ControlPlane
	admin       kubernetes.Interface
	id          string
	dir         string // of the daemon's files; kept when the test fails
	namespaces  []string
	random      *rand.Rand
	proxy       *Proxy
	credentials *credentials
	extender    *extender
	machine     *host // nil: the real one
	keepers     []*keeper
	crowd       *crowd

	servers   sync.Mutex // held while API server or etcd are touched
	restarted bool       // one of them was

	mu      sync.Mutex
	history *history
}

var runs int

func newRun(t *testing.T, s schedule) *run {
	t.Helper()
	runs++
	control, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	r := &run{T: t, schedule: s, ctx: ctx, control: control, admin: control.Client(controlplane.Admin),
		id: fmt.Sprintf("f%d", runs), random: rand.New(rand.NewPCG(s.seed, 2))}
	r.dir, err = os.MkdirTemp("", "berth-faults-")
	r.must(err)
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.RemoveAll(r.dir)
		}
	})
	r.namespaces = []string{r.id + "-a", r.id + "-b"}
	for _, namespace := range r.namespaces {
		r.must(workload.CreateNamespace(ctx, r.admin, namespace))
	}
	t.Cleanup(r.clear)
	r.crowd = newCrowd(r.id, r.namespaces, r.random, length, s.restores)
	r.history = &history{nodes: r.crowd.nodes, pods: map[string]*corev1.Pod{}, deleted: map[string]time.Time{},
		epochs: []epoch{{from: time.Now()}}}
	r.must(r.crowd.place(ctx, r.admin, r.namespaces[0]))
	r.startProxy()
	r.startReaper()
	return r
}

func (r *run) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *run) startProxy() {
	r.Helper()
	ca, err := os.ReadFile(r.control.CAFile())
	r.must(err)
	cert, key, err := r.control.IssueServerCert(r.id)
	r.must(err)
	r.proxy, err = NewProxy(Options{Upstream: r.control.URL(), CA: ca, Token: r.control.Token(controlplane.Berth),
		CertFile: cert, KeyFile: key, HTTP1: r.http1, Seed: r.seed})
	r.must(err)
	r.Cleanup(r.proxy.Close)
	r.credentials = &credentials{r: r, certs: r.certs}
	r.rotate()
}

// start starts the daemon behind the proxy.
func (r *run) start() {
	r.Helper()
	program, err := daemon.Berth("")
	r.must(err)
	config := fmt.Sprintf("clientConnection: {qps: 500, burst: %d", cmp.Or(r.burst, 500))
	if r.json {
		config += ", contentType: application/json"
	}
	config += "}\n"
	if r.elects {
		config += fmt.Sprintf("leaderElection: {leaderElect: true, resourceName: berth, resourceNamespace: %s, %s}\n",
			controlplane.BerthNamespace, election)
	}
	if r.schedule.extender {
		r.extender = newExtender()
		r.Cleanup(r.extender.Close)
		config += fmt.Sprintf("extenders: [{urlPrefix: %q, filterVerb: filter, nodeCacheCapable: true, httpTimeout: 1s, ignorable: %v}]\n",
			r.extender.URL, r.random.IntN(2) == 0)
	}
	var env []string
	if r.preloads {
		r.machine, err = newHost(r.dir)
		r.must(err)
		r.Cleanup(func() { _ = r.machine.file.Close() })
		env = r.machine.env()
	}
	kubeconfig := r.credentials.kubeconfig()
	for i := range r.replicas {
		k := &keeper{program: program, problem: func(text string) { r.Error(text) }, options: daemon.Options{
			Name: fmt.Sprintf("berth-%c", 'a'+i), Config: config, Kubeconfig: kubeconfig, Dir: r.dir,
			Seed: int64(r.seed%1000) + 1, LeaderElect: r.elects, Args: []string{"--record=" + r.recordings()}, Env: env}, mute: r.fills}
		r.must(k.start())
		r.Cleanup(k.abandon)
		r.keepers = append(r.keepers, k)
	}
}

// play lets pods come and go, and makes trouble meanwhile. It returns when all of it is over.
func (r *run) play() {
	var group sync.WaitGroup
	begin := time.Now()
	reach := func(at time.Duration) { time.Sleep(time.Until(begin.Add(at))) }
	for _, w := range r.crowd.pods {
		group.Go(func() {
			reach(w.at)
			pod := r.create(w)
			if w.deletedAt > 0 && pod != nil {
				reach(w.deletedAt)
				r.remove(w, pod)
			}
		})
	}
	for _, s := range slices.Concat(r.steps, r.crowd.moves) {
		group.Go(func() {
			reach(s.at)
			end := s.do(r)
			if end != nil {
				time.Sleep(s.lasts)
				end()
			}
		})
	}
	group.Wait()
}

func (r *run) create(w wanted) *corev1.Pod {
	pod, err := w.create(r.ctx, r.admin)
	if err != nil {
		r.Errorf("create pod %s: %v", w.name, err)
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.pods[string(pod.UID)] = pod
	return pod
}

func (r *run) remove(w wanted, pod *corev1.Pod) {
	sent, err := w.remove(r.ctx, r.admin, pod.UID)
	if err != nil {
		r.Errorf("delete pod %s: %v", w.name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, before := r.history.deleted[string(pod.UID)]; !before {
		r.history.deleted[string(pod.UID)] = sent
	}
}

// pods are all of the run that there are now.
func (r *run) pods() ([]corev1.Pod, error) {
	var all []corev1.Pod
	for _, namespace := range r.namespaces {
		list, err := r.admin.CoreV1().Pods(namespace).List(r.ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

// clear takes away what the run has made; nodes and volumes are everyone's.
func (r *run) clear() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, namespace := range r.namespaces {
		for _, clear := range []func(context.Context, kubernetes.Interface, string) error{
			workload.DeletePods, workload.DeleteDevicesOf, workload.DeleteClaims} {
			if err := clear(ctx, r.admin, namespace); err != nil {
				r.Error(err)
			}
		}
	}
	if err := workload.DeleteNodes(ctx, r.admin, ""); err != nil {
		r.Error(err)
	}
}
