// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// TestDevicesCountAsWhatTheyStandForOnTheirNode: one stands for two of a node's four cpus, which the API server is told of
// before the pod is bound, and which no other pod gets meanwhile.
func TestDevicesCountAsWhatTheyStandForOnTheirNode(t *testing.T) {
	needsKubernetes(t, "1.37", "nodeAllocatableResources of devices")
	const gate = "DRANodeAllocatableResources"
	e := newGangEnv(t, gate)
	node := workload.Node("a", workload.Allocatable("cpu", "4"))
	node.Status.DeclaredFeatures = []string{gate}
	e.createNodes(node)
	resources := e.admin.ResourceV1()
	_, err := resources.DeviceClasses().Create(e.ctx, workload.DeviceClass("gpu"), metav1.CreateOptions{})
	e.must(err)
	slice := workload.DevicesOf("a", 1)
	two, overhead := resource.MustParse("2"), resource.MustParse("64Mi")
	slice.Spec.Devices[0].NodeAllocatableResources = map[corev1.ResourceName]resourcev1.NodeAllocatableResource{
		corev1.ResourceCPU:    {Mapping: &resourcev1.NodeAllocatableMapping{DeviceMultiplier: &two}},
		corev1.ResourceMemory: {Overhead: &resourcev1.NodeAllocatableOverhead{PerPod: &overhead}},
	}
	slice, err = resources.ResourceSlices().Create(e.ctx, slice, metav1.CreateOptions{})
	e.must(err)
	if len(slice.Spec.Devices[0].NodeAllocatableResources) != 2 {
		t.Fatalf("the API server drops what a device stands for: %v", slice.Spec.Devices[0])
	}
	e.createDeviceClaim("cpus", workload.DeviceRequest("gpu", 1))

	e.createPods(workload.Pod("pinned", workload.Requests("cpu", "1"), workload.UseDevices("cpus", "")))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 1))
	pinned, err := e.admin.CoreV1().Pods(e.namespace).Get(e.ctx, "pinned", metav1.GetOptions{})
	e.must(err)
	want := []corev1.NodeAllocatableResourceClaimStatus{{
		ResourceClaimName: "cpus",
		Mapping:           []corev1.NodeAllocatableMappedResources{{Name: corev1.ResourceCPU, Quantity: &two}},
		Overhead:          []corev1.NodeAllocatableOverheadResources{{Name: corev1.ResourceMemory, PerPod: &overhead}},
	}}
	got := pinned.Status.NodeAllocatableResourceClaimStatuses
	for i := range got {
		got[i].Containers = nil
	}
	if !equality.Semantic.DeepEqual(got, want) {
		e.Errorf("the pod's status has %v, want %v", got, want)
	}

	// One cpu is left.
	e.createPods(workload.Pod("other", workload.Requests("cpu", "2")))
	e.awaitUnschedulable("other", "0/1 nodes are available: 1 Insufficient cpu. "+
		"preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.")
	none := int64(0)
	e.must(e.admin.CoreV1().Pods(e.namespace).Delete(e.ctx, "pinned", metav1.DeleteOptions{GracePeriodSeconds: &none}))
	e.awaitNode(e.within(30*time.Second), "other", "a")
}
