// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/internal/daemon/workload"
)

func TestAPodGetsTheDevicesThatItsClaimsAskFor(t *testing.T) {
	e := newDeviceEnv(t, 2, 4)
	e.createTemplate("two-b", workload.DeviceRequest("gpu", 2, `device.attributes["gpu.example.com"].model == "b"`))
	e.createDeviceClaim("shared", workload.DeviceRequest("gpu", 1))
	e.startForDevices()
	e.createPods(workload.Pod("first", workload.UseDevices("", "two-b")), workload.Pod("second", workload.UseDevices("", "two-b")),
		workload.Pod("sharer", workload.UseDevices("shared", "")), workload.Pod("other-sharer", workload.UseDevices("shared", "")))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 4))
	if devices := e.checkDevices(); devices != 5 {
		e.Errorf("%d devices are allocated, want 5", devices)
	}
	for name, claim := range e.deviceClaims() {
		if name == "shared" {
			if len(claim.Status.ReservedFor) != 2 {
				e.Errorf("claim shared is reserved for %v", claim.Status.ReservedFor)
			}
			continue
		}
		pool := claim.Status.Allocation.Devices.Results[0].Pool
		want := []string{"gpu.example.com/" + pool + "/gpu-1", "gpu.example.com/" + pool + "/gpu-3"}
		if got := workload.AllocatedDevices(claim); !slices.Equal(got, want) {
			e.Errorf("claim %s has %v, want %v", name, got, want)
		}
	}
}

// TestAllocationAndReservationAreWrittenWhole holds a claim against what kube-scheduler writes into one.
func TestAllocationAndReservationAreWrittenWhole(t *testing.T) {
	e := newDeviceEnv(t, 1, 1)
	e.createDeviceClaim("claim", workload.DeviceRequest("gpu", 1))
	e.startForDevices()
	e.createPods(workload.Pod("pod", workload.UseDevices("claim", "")))
	e.awaitNode(e.within(30*time.Second), "pod", "g-0")
	pod, err := e.admin.CoreV1().Pods(e.namespace).Get(e.ctx, "pod", metav1.GetOptions{})
	e.must(err)
	claim := e.deviceClaims()["claim"]
	if !slices.Equal(claim.Finalizers, []string{resourcev1.Finalizer}) {
		e.Errorf("finalizers %v", claim.Finalizers)
	}
	if claim.Status.Allocation.AllocationTimestamp == nil {
		e.Error("the allocation has no time")
	}
	want := resourcev1.ResourceClaimStatus{
		Allocation: &resourcev1.AllocationResult{
			AllocationTimestamp: claim.Status.Allocation.AllocationTimestamp,
			Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
				{Request: "gpu", Driver: workload.DeviceDriver, Pool: "g-0", Device: "gpu-0"}}},
			NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
				{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{"g-0"}}}}}},
		},
		ReservedFor: []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "pod", UID: pod.UID}},
	}
	if !equality.Semantic.DeepEqual(claim.Status, want) {
		e.Errorf("the claim's status is\n%+v\nwant\n%+v", claim.Status, want)
	}
}

func TestAPodWaitsForADeviceThatIsGivenBack(t *testing.T) {
	e := newDeviceEnv(t, 1, 1)
	e.startForDevices()
	e.createPods(workload.Pod("first", workload.UseDevices("", "one-gpu")))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 1))
	e.createPods(workload.Pod("second", workload.UseDevices("", "one-gpu")))
	e.awaitUnschedulable("second", "0/1 nodes are available: 1 cannot allocate all claims. "+
		"preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
	e.deletePod("first")
	e.awaitNode(e.within(60*time.Second), "second", "g-0")
	e.eventually("one claim that is allocated", func() bool { return e.countAllocated() == 1 })
	e.checkDevices()
}

func TestANewSliceOrClassLetsAPodFit(t *testing.T) {
	e := newDeviceEnv(t, 0, 0)
	e.createNodes(workload.Node("g-0"))
	e.createTemplate("late", workload.DeviceRequest("late-class", 1))
	e.startForDevices()
	e.createPods(workload.Pod("early", workload.UseDevices("", "one-gpu")), workload.Pod("classless", workload.UseDevices("", "late")))
	const notHelpful = " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
	e.awaitUnschedulable("early", "0/1 nodes are available: 1 cannot allocate all claims."+notHelpful)
	e.awaitUnschedulable("classless", "0/1 nodes are available: request gpu: device class late-class does not exist."+notHelpful)
	_, err := e.admin.ResourceV1().ResourceSlices().Create(e.ctx, workload.DevicesOf("g-0", 2), metav1.CreateOptions{})
	e.must(err)
	e.awaitNode(e.within(30*time.Second), "early", "g-0")
	_, err = e.admin.ResourceV1().DeviceClasses().Create(e.ctx, workload.DeviceClass("late-class"), metav1.CreateOptions{})
	e.must(err)
	e.awaitNode(e.within(30*time.Second), "classless", "g-0")
	e.checkDevices()
}

// TestADeviceThatVanishesIsReplaced has a device which nothing may be given any more, and that its driver withdraws only
// after the scheduler has chosen it.
func TestADeviceThatVanishesIsReplaced(t *testing.T) {
	e := newDeviceEnv(t, 1, 2)
	e.refusals = true // in these words the API server reports the policy
	e.refuseDevice("gpu-0")
	e.startForDevices()
	e.createPods(workload.Pod("pod", workload.UseDevices("", "one-gpu")))
	e.awaitErrors("pod", "gpu-0 is gone")
	slice, err := e.admin.ResourceV1().ResourceSlices().Get(e.ctx, "g-0-gpus", metav1.GetOptions{})
	e.must(err)
	slice.Spec.Devices = slice.Spec.Devices[1:]
	slice.Spec.Pool.Generation++
	_, err = e.admin.ResourceV1().ResourceSlices().Update(e.ctx, slice, metav1.UpdateOptions{})
	e.must(err)
	e.awaitNode(e.within(60*time.Second), "pod", "g-0")
	for name, claim := range e.deviceClaims() {
		if got := workload.AllocatedDevices(claim); !slices.Equal(got, []string{"gpu.example.com/g-0/gpu-1"}) {
			e.Errorf("claim %s has %v", name, got)
		}
	}
	e.checkDevices()
}

// refuseDevice returns when the API server refuses to let a claim of the namespace have the device.
func (e *env) refuseDevice(name string) {
	e.Helper()
	e.refuseUpdates("resource.k8s.io", "resourceclaims/status",
		fmt.Sprintf("object.metadata.namespace != %q || !has(object.status.allocation) || "+
			"object.status.allocation.devices.results.all(r, r.device != %q)", e.namespace, name), name+" is gone")
	e.createDeviceClaim("probe", workload.DeviceRequest("gpu", 1))
	e.eventually("the policy to hold", func() bool {
		patch := []byte(fmt.Sprintf(`{"status":{"allocation":{"devices":{"results":[{"request":"gpu","driver":%q,"pool":"g-0","device":%q}]}}}}`,
			workload.DeviceDriver, name))
		_, err := e.admin.ResourceV1().ResourceClaims(e.namespace).Patch(e.ctx, "probe", types.MergePatchType, patch,
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "status")
		return err != nil
	})
	e.must(e.admin.ResourceV1().ResourceClaims(e.namespace).Delete(e.ctx, "probe", metav1.DeleteOptions{}))
}

// TestTwoDaemonsNeverAllocateOneDeviceTwice stops the leader while it allocates, and lets it go on once another leads.
func TestTwoDaemonsNeverAllocateOneDeviceTwice(t *testing.T) {
	const pods = 120
	e := newDeviceEnv(t, 10, pods/10)
	leader, standby := e.replicasWith(shortLease.election() + deviceConfig)
	e.manyPods(pods/2, "early", workload.UseDevices("", "one-gpu"))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 5))
	e.must(leader.Signal(syscall.SIGSTOP))
	e.must(standby.AwaitLog(e.within(30*time.Second), says("Successfully acquired lease")))
	e.manyPods(pods/2, "late", workload.UseDevices("", "one-gpu"))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), pods/2))
	e.must(leader.Signal(syscall.SIGCONT))
	e.must(e.pods.AwaitBound(e.within(60*time.Second), pods))
	if devices := e.checkDevices(); devices != pods {
		e.Errorf("%d devices are allocated, want %d", devices, pods)
	}
}

// TestKillsWhileDevicesAreAllocatedLeaveNothingStuck kills the daemon when claims are allocated and their pods are bound to
// no node yet.
func TestKillsWhileDevicesAreAllocatedLeaveNothingStuck(t *testing.T) {
	const kills, pods = 20, 100
	e := newDeviceEnv(t, 10, pods/10)
	random, between := rand.New(rand.NewPCG(1, 2)), 0
	for kill := range kills {
		e.manyPods(pods/kills, fmt.Sprintf("pod-%d", kill), workload.UseDevices("", "one-gpu"))
		d := e.startForDevices()
		before := kill * pods / kills
		e.eventually("a claim that is allocated", func() bool { return e.countAllocated() > before+random.IntN(3) })
		d.Kill()
		between += e.countAllocated() - e.pods.Bound()
	}
	e.Logf("%d claims were allocated and their pods not bound when the daemon was killed", between)
	e.startForDevices()
	e.must(e.pods.AwaitBound(e.within(60*time.Second), pods))
	if devices := e.checkDevices(); devices != pods {
		e.Errorf("%d devices are allocated, want %d", devices, pods)
	}
	e.checkBoundOnce(pods, true)
}

func (e *env) countAllocated() int {
	e.Helper()
	count := 0
	for _, claim := range e.deviceClaims() {
		if claim.Status.Allocation != nil {
			count++
		}
	}
	return count
}

// TestDevicesStandForAnExtendedResource has a claim made for what the pod's container asks for.
func TestDevicesStandForAnExtendedResource(t *testing.T) {
	needsKubernetes(t, "1.36", "the extended resource of a device class by default")
	const resource = "gpus.example.com/one"
	e := newDeviceEnv(t, 1, 2)
	e.startForDevices()
	wants := func(name, amount string) *corev1.Pod {
		pod := workload.Pod(name, workload.Requests(resource, amount))
		pod.Spec.Containers[0].Resources.Limits = pod.Spec.Containers[0].Resources.Requests
		return pod
	}
	e.createPods(wants("early", "1"))
	e.awaitUnschedulable("early", "0/1 nodes are available: 1 Insufficient "+resource+
		". preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
	class, err := e.admin.ResourceV1().DeviceClasses().Get(e.ctx, "gpu", metav1.GetOptions{})
	e.must(err)
	name := resource
	class.Spec.ExtendedResourceName = &name
	_, err = e.admin.ResourceV1().DeviceClasses().Update(e.ctx, class, metav1.UpdateOptions{})
	e.must(err)
	e.awaitNode(e.within(30*time.Second), "early", "g-0")
	pod, err := e.admin.CoreV1().Pods(e.namespace).Get(e.ctx, "early", metav1.GetOptions{})
	e.must(err)
	status := pod.Status.ExtendedResourceClaimStatus
	if status == nil || len(status.RequestMappings) != 1 || status.RequestMappings[0].ResourceName != resource {
		t.Fatalf("the pod's extendedResourceClaimStatus is %v", status)
	}
	claim := e.deviceClaims()[status.ResourceClaimName]
	if claim == nil || !slices.Equal(workload.AllocatedDevices(claim), []string{"gpu.example.com/g-0/gpu-0"}) || !metav1.IsControlledBy(claim, pod) {
		t.Errorf("the claim is %v", claim)
	}
	// No device is left for both of these.
	e.createPods(wants("second", "1"))
	e.awaitNode(e.within(30*time.Second), "second", "g-0")
	e.createPods(wants("third", "1"))
	e.awaitUnschedulable("third", "0/1 nodes are available: 1 cannot allocate all claims. "+
		"preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
	e.checkDevices()
}
