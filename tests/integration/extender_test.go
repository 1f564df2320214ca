// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// webExtender is an extender of the test's own. Its handlers are set before the daemon starts.
type webExtender struct {
	*env
	server     *httptest.Server
	filter     func(extenderv1.ExtenderArgs) extenderv1.ExtenderFilterResult
	prioritize func(extenderv1.ExtenderArgs) extenderv1.HostPriorityList
	preempt    func(extenderv1.ExtenderPreemptionArgs) extenderv1.ExtenderPreemptionResult

	mu    sync.Mutex
	calls map[string]int // by verb
	bound []extenderv1.ExtenderBindingArgs
}

func (e *env) newExtender(tls bool) *webExtender {
	x := &webExtender{env: e, calls: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /x/filter", handle(x, "filter", func(a extenderv1.ExtenderArgs) any { return x.filter(a) }))
	mux.HandleFunc("POST /x/prioritize", handle(x, "prioritize", func(a extenderv1.ExtenderArgs) any { return x.prioritize(a) }))
	mux.HandleFunc("POST /x/preempt", handle(x, "preempt", func(a extenderv1.ExtenderPreemptionArgs) any { return x.preempt(a) }))
	mux.HandleFunc("POST /x/bind", handle(x, "bind", x.bind))
	if tls {
		x.server = httptest.NewTLSServer(mux)
	} else {
		x.server = httptest.NewServer(mux)
	}
	e.Cleanup(x.server.Close)
	return x
}

// handle counts the call, reads an A and writes the answer.
func handle[A any](x *webExtender, verb string, answer func(A) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x.mu.Lock()
		x.calls[verb]++
		x.mu.Unlock()
		var args A
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
			x.Errorf("%s: %v", verb, err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(answer(args))
	}
}

// bind does what an extender must do itself.
func (x *webExtender) bind(args extenderv1.ExtenderBindingArgs) any {
	x.mu.Lock()
	x.bound = append(x.bound, args)
	x.mu.Unlock()
	err := x.admin.CoreV1().Pods(args.PodNamespace).Bind(x.ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: args.PodNamespace, Name: args.PodName, UID: args.PodUID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: args.Node},
	}, metav1.CreateOptions{})
	var result extenderv1.ExtenderBindingResult
	if err != nil {
		result.Error = err.Error()
	}
	return result
}

func (x *webExtender) called(verb string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.calls[verb]
}

// config is a configuration with this extender, whose further fields are given as YAML flow members.
func (x *webExtender) config(plugins, fields string) string {
	return fmt.Sprintf(`
clientConnection: {qps: 5000, burst: 5000}
extenders:
- {urlPrefix: %q, %s}
profiles:
- schedulerName: default-scheduler
  plugins:%s`, x.server.URL+"/x", fields, plugins)
}

// TestExtenderFiltersScoresAndBinds over HTTPS, with whole objects.
func TestExtenderFiltersScoresAndBinds(t *testing.T) {
	e := newEnv(t)
	e.manyNodes(4, workload.NodeLabel("rack", "r1"))
	x := e.newExtender(true)
	x.filter = func(args extenderv1.ExtenderArgs) extenderv1.ExtenderFilterResult {
		if args.NodeNames != nil || args.Nodes == nil || len(args.Nodes.Items) != 4 {
			e.Errorf("filter got %v names and nodes %v, want 4 whole nodes", args.NodeNames, args.Nodes)
			return extenderv1.ExtenderFilterResult{Error: "bad call"}
		}
		if args.Pod.Spec.TerminationGracePeriodSeconds == nil || args.Pod.UID == "" {
			e.Error("filter did not get the whole pod")
		}
		if len(args.Pod.ManagedFields) != 0 {
			e.Error("filter got the pod's managed fields")
		}
		for _, node := range args.Nodes.Items {
			if node.Labels["rack"] != "r1" || node.CreationTimestamp.IsZero() {
				e.Errorf("filter did not get the whole of node %s", node.Name)
			}
		}
		result := extenderv1.ExtenderFilterResult{
			Nodes:       &corev1.NodeList{},
			FailedNodes: extenderv1.FailedNodesMap{"node-0": "reserved"},
		}
		for _, node := range args.Nodes.Items {
			if node.Name != "node-0" {
				result.Nodes.Items = append(result.Nodes.Items, node)
			}
		}
		return result
	}
	x.prioritize = func(args extenderv1.ExtenderArgs) extenderv1.HostPriorityList {
		return extenderv1.HostPriorityList{{Host: "node-1", Score: 1}, {Host: "node-2", Score: 10}}
	}
	ca := filepath.Join(e.dir, "extender-ca.crt")
	e.must(os.WriteFile(ca, pem.EncodeToMemory(
		&pem.Block{Type: "CERTIFICATE", Bytes: x.server.Certificate().Raw}), 0o600))
	e.start(x.config(withoutExtras, fmt.Sprintf(
		"filterVerb: filter, prioritizeVerb: prioritize, weight: 100, bindVerb: bind, enableHTTPS: true, tlsConfig: {caFile: %q}", ca)))

	for i := range 5 {
		name := fmt.Sprintf("web-%d", i)
		e.createPods(workload.Pod(name, workload.Requests("cpu", "100m")))
		e.awaitNode(e.within(30*time.Second), name, "node-2")
		e.awaitEvents("Scheduled", name, 1)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.bound) != 5 {
		e.Errorf("the extender bound %d pods, want 5", len(x.bound))
	}
}

// TestExtenderRejectsByName with messages and the events that wake the pod.
func TestExtenderRejectsByName(t *testing.T) {
	e := newEnv(t)
	e.manyNodes(3)
	x := e.newExtender(false)
	x.filter = func(args extenderv1.ExtenderArgs) extenderv1.ExtenderFilterResult {
		if args.Nodes != nil || args.NodeNames == nil {
			e.Error("filter got whole nodes, want names")
		}
		result := extenderv1.ExtenderFilterResult{
			NodeNames:                  &[]string{},
			FailedNodes:                extenderv1.FailedNodesMap{},
			FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{},
		}
		for _, name := range *args.NodeNames {
			switch name {
			case "node-0":
				result.FailedNodes[name] = "no license left"
			case "node-1", "node-2":
				result.FailedAndUnresolvableNodes[name] = "wrong generation"
			default:
				*result.NodeNames = append(*result.NodeNames, name)
			}
		}
		return result
	}
	e.start(x.config(withoutExtras, "filterVerb: filter, nodeCacheCapable: true, "+
		"managedResources: [{name: example.com/license, ignoredByScheduler: true}]"))

	e.createPods(workload.Pod("plain"))
	_, err := e.pods.AwaitPod(e.within(30*time.Second), "plain", "bound", workload.IsBound)
	e.must(err)
	if n := x.called("filter"); n != 0 {
		e.Errorf("the extender was asked %d times about a pod that it does not manage", n)
	}
	e.createPods(workload.Pod("licensed", workload.Requests("example.com/license", "1")))
	e.awaitUnschedulable("licensed", "0/3 nodes are available: 1 no license left, 2 wrong generation.")
	// No node has the resource, but that is not the scheduler's business.
	e.createNodes(workload.Node("other"))
	e.awaitNode(e.within(30*time.Second), "licensed", "other")
}

// TestExtenderFails checks what the pod says and that it is tried again.
func TestExtenderFails(t *testing.T) {
	e := newEnv(t)
	e.manyNodes(2)
	var mu sync.Mutex
	broken := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if broken {
			http.Error(w, "on fire", http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte(`{"NodeNames":["node-1"]}`))
	}))
	t.Cleanup(server.Close)
	x := &webExtender{env: e, server: server}
	e.start(x.config(withoutExtras, "filterVerb: filter, nodeCacheCapable: true"))
	e.createPods(workload.Pod("web"))
	e.awaitCondition("web", "SchedulerError",
		"failed filter with extender at URL "+server.URL+"/x/filter, code 500")
	mu.Lock()
	broken = false
	mu.Unlock()
	e.awaitNode(e.within(60*time.Second), "web", "node-1")
}

// TestExtenderChoosesVictimsByUid lets the extender take the dearer of two nodes.
func TestExtenderChoosesVictimsByUid(t *testing.T) { extenderChoosesVictims(t, false) }

func TestExtenderChoosesWholeVictims(t *testing.T) { extenderChoosesVictims(t, true) }

func extenderChoosesVictims(t *testing.T, whole bool) {
	e := newEnv(t)
	for name, value := range map[string]int32{"modest": 10, "urgent": 1000} {
		e.createPriorityClassNamed(e.namespace+"-"+name, value, corev1.PreemptLowerPriority)
	}
	e.manyNodes(2, workload.Allocatable("cpu", "1", "memory", "1Gi", "pods", "10"))
	x := e.newExtender(false)
	x.preempt = func(args extenderv1.ExtenderPreemptionArgs) extenderv1.ExtenderPreemptionResult {
		result := extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{}}
		if whole {
			if len(args.NodeNameToVictims) != 2 || args.NodeNameToMetaVictims != nil {
				e.Errorf("preempt got %v, want the whole victims of 2 nodes", args)
			}
			victims := args.NodeNameToVictims["node-1"]
			meta := &extenderv1.MetaVictims{NumPDBViolations: victims.NumPDBViolations}
			for _, pod := range victims.Pods {
				if pod.Spec.NodeName != "node-1" || pod.Spec.TerminationGracePeriodSeconds == nil {
					e.Errorf("victim %s is not whole", pod.Name)
				}
				meta.Pods = append(meta.Pods, &extenderv1.MetaPod{UID: string(pod.UID)})
			}
			result.NodeNameToMetaVictims["node-1"] = meta
			return result
		}
		if len(args.NodeNameToMetaVictims) != 2 || args.NodeNameToVictims != nil {
			e.Errorf("preempt got %v, want the victims' UIDs on 2 nodes", args)
		}
		result.NodeNameToMetaVictims["node-1"] = args.NodeNameToMetaVictims["node-1"]
		return result
	}
	plugins := strings.Replace(withoutExtras, "      - {name: DefaultPreemption}\n", "", 1)
	e.start(x.config(plugins, fmt.Sprintf("preemptVerb: preempt, nodeCacheCapable: %v", !whole)))

	e.createPods(workload.Pod("cheap", workload.OnNode("node-0"), workload.Requests("cpu", "1")),
		workload.Pod("dear", workload.OnNode("node-1"), workload.Requests("cpu", "1"),
			workload.PriorityClass(e.namespace+"-modest")))
	e.endPods(10 * time.Millisecond)
	e.createPods(workload.Pod("high", workload.Requests("cpu", "1"), workload.PriorityClass(e.namespace+"-urgent")))
	e.awaitNode(e.within(60*time.Second), "high", "node-1")
	if x.called("preempt") == 0 {
		e.Error("the extender was not asked")
	}
}

// TestHungExtenderKeepsTheLease lets an ignorable extender hang for longer than any leader may be silent.
func TestHungExtenderKeepsTheLease(t *testing.T) {
	e := newEnv(t)
	e.manyNodes(2)
	hung := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hung:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { close(hung); server.Close() })
	err := e.admin.CoordinationV1().Leases(controlplane.BerthNamespace).Delete(e.ctx, electionLease, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		e.Fatal(err)
	}
	x := &webExtender{env: e, server: server}
	leader := e.startWith(daemon.Options{
		Config: fmt.Sprintf(`
leaderElection: {leaderElect: true, resourceName: %s, resourceNamespace: %s, leaseDuration: %s, renewDeadline: %s, retryPeriod: %s}`,
			electionLease, controlplane.BerthNamespace, shortLease.duration, shortLease.deadline, shortLease.retry) +
			x.config(withoutExtras, "filterVerb: filter, ignorable: true, httpTimeout: 45s, nodeCacheCapable: true"),
		Kubeconfig: shared.Kubeconfig(controlplane.Berth), LeaderElect: true,
	})
	e.must(leader.AwaitLog(e.within(20*time.Second), says("Successfully acquired lease")))
	e.createPods(workload.Pod("web"))
	_, err = e.pods.AwaitPod(e.within(90*time.Second), "web", "bound", workload.IsBound)
	e.must(err)
	if lease := e.lease(); lease.Spec.HolderIdentity == nil || time.Since(lease.Spec.RenewTime.Time) > shortLease.duration {
		e.Errorf("the lease is %v, want one that is renewed", lease.Spec)
	}
}
