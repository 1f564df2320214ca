// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// TestPodsOfAGangShareAClaim whose devices they get in the cycle that tries them all.
func TestPodsOfAGangShareAClaim(t *testing.T) {
	const size = 3
	e := newGangEnv(t, "DRAWorkloadResourceClaims")
	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "8")))
	resources := e.admin.ResourceV1()
	_, err := resources.DeviceClasses().Create(e.ctx, workload.DeviceClass("gpu"), metav1.CreateOptions{})
	e.must(err)
	_, err = resources.ResourceSlices().Create(e.ctx, workload.DevicesOf("a", 2), metav1.CreateOptions{})
	e.must(err)

	// One claim is the pods', the other their group's.
	e.createGang("pods", size)
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "group"}}
	group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: size}
	claimOfGroup := "group"
	group.Spec.ResourceClaims = []schedulingv1beta1.PodGroupResourceClaim{{Name: "devices-0", ResourceClaimName: &claimOfGroup}}
	group, err = e.admin.SchedulingV1beta1().PodGroups(e.namespace).Create(e.ctx, group, metav1.CreateOptions{})
	e.must(err)
	for _, name := range []string{"pods", "group"} {
		e.createDeviceClaim(name, workload.DeviceRequest("gpu", 1))
		e.createMembersWith(name, 0, size, workload.UseDevices(name, ""))
	}
	e.must(e.pods.AwaitBound(e.within(60*time.Second), 2*size))

	claims := e.deviceClaims()
	var names []string
	for _, r := range claims["pods"].Status.ReservedFor {
		names = append(names, r.Resource+"/"+r.Name)
	}
	slices.Sort(names)
	if want := []string{"pods/pods-0", "pods/pods-1", "pods/pods-2"}; !slices.Equal(names, want) {
		e.Errorf("the pods' claim is reserved for %v, want %v", names, want)
	}
	want := []resourcev1.ResourceClaimConsumerReference{
		{APIGroup: schedulingv1beta1.GroupName, Resource: "podgroups", Name: "group", UID: group.UID}}
	if got := claims["group"].Status.ReservedFor; !slices.Equal(got, want) {
		e.Errorf("the group's claim is reserved for %v, want %v", got, want)
	}
	if e.countAllocated() != 2 || slices.Equal(workload.AllocatedDevices(claims["pods"]), workload.AllocatedDevices(claims["group"])) {
		e.Errorf("devices %v and %v", workload.AllocatedDevices(claims["pods"]), workload.AllocatedDevices(claims["group"]))
	}
}

// TestAGangWaitsForDevicesForAllItsPods, and holds none meanwhile.
func TestAGangWaitsForDevicesForAllItsPods(t *testing.T) {
	const size = 3
	e := newGangEnv(t)
	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "8")))
	resources := e.admin.ResourceV1()
	_, err := resources.DeviceClasses().Create(e.ctx, workload.DeviceClass("gpu"), metav1.CreateOptions{})
	e.must(err)
	slice, err := resources.ResourceSlices().Create(e.ctx, workload.DevicesOf("a", size-1), metav1.CreateOptions{})
	e.must(err)
	e.createGang("gang", size)
	claims := []string{"one", "two", "three"}
	for i, name := range claims {
		e.createDeviceClaim(name, workload.DeviceRequest("gpu", 1))
		e.createMembersWith("gang", i, 1, workload.UseDevices(name, ""))
	}
	e.awaitInitiallyScheduled("gang", metav1.ConditionFalse, "Unschedulable")
	if bound, allocated := e.boundOf("gang", size), e.countAllocated(); bound+allocated != 0 {
		e.Errorf("%d pods are bound, %d claims are allocated", bound, allocated)
	}
	slice.Spec.Devices = workload.DevicesOf("a", size).Spec.Devices
	slice.Spec.Pool.Generation++
	_, err = resources.ResourceSlices().Update(e.ctx, slice, metav1.UpdateOptions{})
	e.must(err)
	e.must(e.pods.AwaitBound(e.within(60*time.Second), size))
	if devices := e.checkDevices(); devices != size {
		e.Errorf("%d devices are allocated, want %d", devices, size)
	}
}
