// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// deviceExtender acts as HAMi's extender does: its filter takes a part of a GPU for the pod, writes that into the pod's
// annotations and answers with one node; its bind locks the node until the kubelet has asked for the devices, and refuses other
// pods until then.
type deviceExtender struct {
	*webExtender
	mu      sync.Mutex
	free    map[string]int       // parts of GPUs, by node
	taken   map[types.UID]string // by pod: the node of which it has a part
	locks   map[string]types.UID
	refused int // binds
}

const deviceProfile = "filterVerb: filter, bindVerb: bind, nodeCacheCapable: true, weight: 1, httpTimeout: 30s, " +
	"managedResources: [{name: nvidia.com/gpu, ignoredByScheduler: true}, {name: nvidia.com/gpumem, ignoredByScheduler: true}]"

func (e *env) newDeviceExtender(free map[string]int) *deviceExtender {
	x := &deviceExtender{
		webExtender: &webExtender{env: e, calls: map[string]int{}},
		free:        free, taken: map[types.UID]string{}, locks: map[string]types.UID{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /x/filter", handle(x.webExtender, "filter", x.take))
	mux.HandleFunc("POST /x/bind", handle(x.webExtender, "bind", x.bindOnLockedNode))
	x.server = httptest.NewServer(mux)
	e.Cleanup(x.server.Close)
	return x
}

// take is the filter.
func (x *deviceExtender) take(args extenderv1.ExtenderArgs) any {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.releaseLocked(args.Pod.UID)
	failed := extenderv1.FailedNodesMap{}
	for _, name := range *args.NodeNames {
		free, known := x.free[name]
		switch {
		case !known:
			failed[name] = "node unregistered"
		case free == 0:
			failed[name] = "NodeUnfitPod"
		default:
			x.free[name]--
			x.taken[args.Pod.UID] = name
			if err := x.annotate(args.Pod.Name, "hami.io/vgpu-node", name); err != nil {
				return extenderv1.ExtenderFilterResult{Error: err.Error()}
			}
			return extenderv1.ExtenderFilterResult{NodeNames: &[]string{name}}
		}
	}
	return extenderv1.ExtenderFilterResult{FailedNodes: failed}
}

func (x *deviceExtender) bindOnLockedNode(args extenderv1.ExtenderBindingArgs) any {
	x.mu.Lock()
	defer x.mu.Unlock()
	if owner, locked := x.locks[args.Node]; locked && owner != args.PodUID {
		x.refused++
		return extenderv1.ExtenderBindingResult{Error: fmt.Sprintf("node %s has been locked within 5m0s", args.Node)}
	}
	x.locks[args.Node] = args.PodUID
	if err := x.annotate(args.PodName, "hami.io/bind-phase", "allocating"); err != nil {
		return extenderv1.ExtenderBindingResult{Error: err.Error()}
	}
	result := x.bind(args)
	// The kubelet's part.
	time.AfterFunc(time.Second, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.locks, args.Node)
	})
	return result
}

func (x *deviceExtender) annotate(pod, key, value string) error {
	_, err := x.admin.CoreV1().Pods(x.namespace).Patch(x.ctx, pod, types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, value), metav1.PatchOptions{})
	return err
}

// releaseLocked gives back what the pod has.
func (x *deviceExtender) releaseLocked(pod types.UID) {
	if node, has := x.taken[pod]; has {
		x.free[node]++
		delete(x.taken, pod)
	}
}

// TestAnExtenderGivesPartsOfGPUsAndBinds has pods share GPUs by an extender that takes them at the filter, changes the pod
// meanwhile and refuses binds for a while, as HAMi's does.
func TestAnExtenderGivesPartsOfGPUsAndBinds(t *testing.T) {
	e := newEnv(t)
	e.manyNodes(3)
	x := e.newDeviceExtender(map[string]int{"node-0": 2, "node-1": 2})
	e.start(x.config(withoutExtras, deviceProfile))
	part := func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{
			"nvidia.com/gpu":    *resource.NewQuantity(1, resource.DecimalSI),
			"nvidia.com/gpumem": *resource.NewQuantity(8000, resource.DecimalSI),
		}
	}
	e.createPods(workload.Pod("plain", workload.Requests("cpu", "100m")))
	_, err := e.pods.AwaitPod(e.within(30*time.Second), "plain", "bound", workload.IsBound)
	e.must(err)
	if n := x.called("filter") + x.called("bind"); n != 0 {
		e.Errorf("the extender was asked %d times about a pod without its resources", n)
	}

	var pods []*corev1.Pod
	for i := range 4 {
		pods = append(pods, workload.Pod(fmt.Sprintf("part-%d", i), part))
	}
	e.createPods(pods...)
	parts := map[string]int{}
	for i := range 4 {
		pod, err := e.pods.AwaitPod(e.within(60*time.Second), fmt.Sprintf("part-%d", i), "bound", workload.IsBound)
		e.must(err)
		parts[pod.Spec.NodeName]++
		if chosen := pod.Annotations["hami.io/vgpu-node"]; chosen != pod.Spec.NodeName {
			e.Errorf("pod %s is on %s, and the extender chose %q", pod.Name, pod.Spec.NodeName, chosen)
		}
		e.awaitEvents("Scheduled", pod.Name, 1)
	}
	if parts["node-0"] != 2 || parts["node-1"] != 2 {
		e.Errorf("the pods are on %v, want two on each of node-0 and node-1", parts)
	}
	x.mu.Lock()
	if x.refused == 0 {
		e.Error("no bind was refused: the pods did not come to a locked node")
	}
	x.mu.Unlock()

	e.createPods(workload.Pod("fifth", part))
	e.awaitUnschedulable("fifth", "0/3 nodes are available: 1 node unregistered, 2 NodeUnfitPod.")
	gone := e.pods.Pod("part-0")
	x.mu.Lock()
	x.releaseLocked(gone.UID)
	x.mu.Unlock()
	e.must(workload.DeletePod(e.ctx, e.admin, e.namespace, gone.Name))
	e.awaitNode(e.within(60*time.Second), "fifth", gone.Spec.NodeName)
}
