// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/daemon/workload"
)

const deviceConfig = "clientConnection: {qps: 5000, burst: 5000}"

// newDeviceEnv has nodes node-0, node-1 and so on, each with a pool of that many devices, and the class "gpus".
func newDeviceEnv(t *testing.T, nodes, devices int) *env {
	t.Helper()
	e := newEnv(t)
	if shared.Process(controlplane.ControllerManager) == nil {
		_, err := shared.StartControllers(e.ctx, controlplane.VolumeControllers...)
		e.must(err)
	}
	api := e.admin.ResourceV1()
	_, err := api.DeviceClasses().Create(e.ctx, workload.DeviceClass("gpus"), metav1.CreateOptions{})
	e.must(err)
	t.Cleanup(func() {
		// The test's own context has ended by now.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, err := range []error{
			api.DeviceClasses().Delete(ctx, "gpus", metav1.DeleteOptions{}),
			api.ResourceSlices().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
		} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	for i := range nodes {
		name := fmt.Sprintf("node-%d", i)
		e.createNodes(workload.Node(name))
		_, err := api.ResourceSlices().Create(e.ctx, workload.NodeSlice(name, devices), metav1.CreateOptions{})
		e.must(err)
	}
	return e
}

// checkDevices checks that no device is given to two claims, and that each bound pod has its claims' devices on its node
// and is whom they are reserved for.
func (e *env) checkDevices() (allocated int) {
	e.Helper()
	list, err := e.admin.ResourceV1().ResourceClaims(e.namespace).List(e.ctx, metav1.ListOptions{})
	e.must(err)
	holder := map[string]string{}
	for _, claim := range list.Items {
		if claim.Status.Allocation == nil {
			continue
		}
		allocated++
		for _, result := range claim.Status.Allocation.Devices.Results {
			device := result.Driver + "/" + result.Pool + "/" + result.Device
			if other, taken := holder[device]; taken {
				e.Errorf("device %s is given to %s and %s", device, other, claim.Name)
			}
			holder[device] = claim.Name
		}
	}
	return allocated
}

func TestEachPodGetsADeviceOfItsOwn(t *testing.T) {
	e := newDeviceEnv(t, 2, 2)
	e.startAs(controlplane.Berth, deviceConfig)
	_, err := e.admin.ResourceV1().ResourceClaimTemplates(e.namespace).Create(e.ctx, workload.DeviceClaimTemplate("gpu", "gpus", 1), metav1.CreateOptions{})
	e.must(err)
	for i := range 5 {
		e.createPods(workload.Pod(fmt.Sprintf("pod-%d", i), workload.UseOwnDevices("gpu")))
	}
	e.must(e.pods.AwaitBound(e.within(60*time.Second), 4))
	if allocated := e.checkDevices(); allocated != 4 {
		t.Errorf("%d claims are allocated, want 4", allocated)
	}
	list, err := e.admin.ResourceV1().ResourceClaims(e.namespace).List(e.ctx, metav1.ListOptions{})
	e.must(err)
	for _, claim := range list.Items {
		if claim.Status.Allocation == nil {
			continue
		}
		if len(claim.Status.ReservedFor) != 1 || claim.Status.ReservedFor[0].Resource != "pods" {
			t.Errorf("claim %s is reserved for %v", claim.Name, claim.Status.ReservedFor)
		}
		if len(claim.Finalizers) != 1 || claim.Finalizers[0] != resourcev1.Finalizer {
			t.Errorf("claim %s has finalizers %v", claim.Name, claim.Finalizers)
		}
	}
}
