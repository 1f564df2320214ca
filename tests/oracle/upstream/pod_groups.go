// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	typedschedulingv1beta1 "k8s.io/client-go/kubernetes/typed/scheduling/v1beta1"
	"k8s.io/klog/v2"
)

// PodGroups says which groups of pods there may be.
type PodGroups int

const (
	// NoPodGroups has each pod for itself.
	NoPodGroups PodGroups = iota
	// PlainPodGroups are parts of nothing.
	PlainPodGroups
	// CompositePodGroups form trees.
	CompositePodGroups
	// PodGroupsWithClaims are parts of nothing; they and their pods may have claims of devices.
	PodGroupsWithClaims
)

// Gates are what Berth is started with.
func (p PodGroups) Gates() string {
	set := func(gate string, on bool) string { return fmt.Sprintf("%s=%t", gate, on) }
	return strings.Join([]string{set("GenericWorkload", p != NoPodGroups), set("TopologyAwareWorkloadScheduling", p == CompositePodGroups),
		set("CompositePodGroup", p == CompositePodGroups), set("DRAWorkloadResourceClaims", p == PodGroupsWithClaims)}, ",")
}

// UsePodGroups sets upstream's gates of pod groups for the whole process. No State may be open. With groups, victims are
// deleted before the cycle ends, so that there is no need to wait for them.
func UsePodGroups(groups PodGroups) error {
	if err := settings(); err != nil {
		return err
	}
	// One at a time: in between, a gate must not be on without those that it needs.
	off := "CompositePodGroup=false,TopologyAwareWorkloadScheduling=false,DRAWorkloadResourceClaims=false"
	gates := fmt.Sprintf("%s,SchedulerAsyncPreemption=%t", groups.Gates(), groups == NoPodGroups)
	return errors.Join(utilfeature.DefaultMutableFeatureGate.Set(off), utilfeature.DefaultMutableFeatureGate.Set(gates))
}

// addPodGroups shows upstream the groups, and which pods there are of each.
func (s *State) addPodGroups(cluster *Cluster) {
	logger := klog.FromContext(s.ctx)
	for _, group := range cluster.CompositePodGroups {
		s.scheduler.Cache.AddCompositePodGroup(logger, group)
		s.scheduler.SchedulingQueue.AddCompositePodGroup(logger, group)
	}
	for _, group := range cluster.PodGroups {
		s.requests.podGroups[Name(group)] = group
		s.scheduler.Cache.AddPodGroup(group)
		s.scheduler.SchedulingQueue.AddPodGroup(logger, group)
	}
}

// groupOf is the name of the pod's group, or "".
func groupOf(pod *corev1.Pod) string {
	if pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return ""
	}
	return pod.Namespace + "/" + *pod.Spec.SchedulingGroup.PodGroupName
}

// requests are what upstream asks the API server for in the cycle of a pod group.
type requests struct {
	mutex sync.Mutex
	// bound are nodes, by pod.
	bound map[string]string
	// deleted are the victims.
	deleted []string
	// podGroups are as the API server has them, patched as they are after the requests, by name.
	podGroups, patched map[string]*schedulingv1beta1.PodGroup
}

func newRequests() *requests {
	return &requests{bound: map[string]string{}, podGroups: map[string]*schedulingv1beta1.PodGroup{},
		patched: map[string]*schedulingv1beta1.PodGroup{}}
}

func (r *requests) isBound(pod string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_, bound := r.bound[pod]
	return bound
}

// Pods answers binds, patches and deletions, and keeps them.
func (c coreClient) Pods(namespace string) typedcorev1.PodInterface {
	return podClient{c.CoreV1Interface.Pods(namespace), namespace, c.requests}
}

type podClient struct {
	typedcorev1.PodInterface
	namespace string
	requests  *requests
}

func (c podClient) Bind(_ context.Context, binding *corev1.Binding, _ metav1.CreateOptions) error {
	c.requests.mutex.Lock()
	defer c.requests.mutex.Unlock()
	c.requests.bound[Name(binding)] = binding.Target.Name
	return nil
}

func (c podClient) Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*corev1.Pod, error) {
	return &corev1.Pod{}, nil
}

func (c podClient) Delete(_ context.Context, name string, _ metav1.DeleteOptions) error {
	c.requests.mutex.Lock()
	defer c.requests.mutex.Unlock()
	c.requests.deleted = append(c.requests.deleted, c.namespace+"/"+name)
	return nil
}

// SchedulingV1beta1 answers patches of pod groups, and keeps what comes of them.
func (c client) SchedulingV1beta1() typedschedulingv1beta1.SchedulingV1beta1Interface {
	return schedulingClient{c.Interface.SchedulingV1beta1(), c.requests}
}

type schedulingClient struct {
	typedschedulingv1beta1.SchedulingV1beta1Interface
	requests *requests
}

func (c schedulingClient) PodGroups(namespace string) typedschedulingv1beta1.PodGroupInterface {
	return podGroupClient{c.SchedulingV1beta1Interface.PodGroups(namespace), namespace, c.requests}
}

type podGroupClient struct {
	typedschedulingv1beta1.PodGroupInterface
	namespace string
	requests  *requests
}

func (c podGroupClient) Patch(_ context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*schedulingv1beta1.PodGroup, error) {
	c.requests.mutex.Lock()
	defer c.requests.mutex.Unlock()
	key := c.namespace + "/" + name
	before, err := json.Marshal(c.requests.podGroups[key])
	if err != nil {
		return nil, err
	}
	after, err := strategicpatch.StrategicMergePatch(before, data, &schedulingv1beta1.PodGroup{})
	if err != nil {
		return nil, err
	}
	patched := &schedulingv1beta1.PodGroup{}
	if err := json.Unmarshal(after, patched); err != nil {
		return nil, err
	}
	c.requests.patched[key] = patched
	return patched, nil
}
