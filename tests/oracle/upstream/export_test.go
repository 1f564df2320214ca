// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

// SchedulePod is the walk from point to point that upstream itself does.
func (s *State) SchedulePod(name string) (scheduler.ScheduleResult, error) {
	pod := s.pending[name]
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return scheduler.ScheduleResult{}, err
	}
	var state fwk.CycleState = framework.NewCycleState()
	return s.scheduler.SchedulePod(s.ctx, s.scheduler.Profiles[pod.Spec.SchedulerName], state,
		&framework.QueuedPodInfo{PodInfo: info})
}

// Decide is what a replay holds a decision about the pod against.
func (s *State) Decide(name string) *Verdict { return s.judge(s.pending[name], nominatedFirst) }

// handleWithClient writes to a client of its own.
type handleWithClient struct {
	framework.Framework
	client    kubernetes.Interface
	informers informers.SharedInformerFactory
}

func (h handleWithClient) ClientSet() kubernetes.Interface { return h.client }

func (h handleWithClient) SharedInformerFactory() informers.SharedInformerFactory { return h.informers }

// BindDevices is what upstream's DynamicResources says of the pod on the node, up to PreBind.
func (s *State) BindDevices(name, node string) error {
	pod := s.pending[name]
	objects := []runtime.Object{pod}
	for _, claim := range s.devices.cluster.ResourceClaims {
		objects = append(objects, claim)
	}
	client := fake.NewClientset(objects...)
	// It waits for informers to tell of a claim that it made; here none do.
	ctx, cancel := context.WithTimeout(s.ctx, time.Second)
	defer cancel()
	args := &config.DynamicResourcesArgs{FilterTimeout: &metav1.Duration{Duration: time.Minute}, BindingTimeout: &metav1.Duration{Duration: time.Minute}}
	made, err := dynamicresources.New(ctx, args,
		handleWithClient{s.scheduler.Profiles[pod.Spec.SchedulerName], client, informers.NewSharedInformerFactory(client, 0)},
		feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return err
	}
	info, err := s.snapshot.Get(node)
	if err != nil {
		return err
	}
	plugin, state := made.(*dynamicresources.DynamicResources), framework.NewCycleState()
	if _, status := plugin.PreFilter(ctx, state, pod, nil); !status.IsSuccess() {
		return status.AsError()
	}
	for _, point := range []func() *fwk.Status{
		func() *fwk.Status { return plugin.Filter(ctx, state, pod, info) },
		func() *fwk.Status { return plugin.Reserve(ctx, state, pod, node) },
		func() *fwk.Status { return plugin.PreBind(ctx, state, pod, node) },
	} {
		if status := point(); !status.IsSuccess() {
			return status.AsError()
		}
	}
	return nil
}

// Repeats is for tests.
var Repeats = repeats
