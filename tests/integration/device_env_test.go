// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/daemon"
	"berth.dev/tests/daemon/workload"
)

const deviceConfig = "clientConnection: {qps: 5000, burst: 5000}"

// newDeviceEnv has nodes g-0, g-1 and so on with so many devices each, class "gpu" and template "one-gpu".
func newDeviceEnv(t *testing.T, nodes, devices int) *env {
	t.Helper()
	e := newEnv(t)
	startClaimControllers(e)
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := workload.DeleteDevices(ctx, e.admin, e.namespace); err != nil {
			e.Error(err)
		}
	})
	resources := e.admin.ResourceV1()
	for i := range nodes {
		name := fmt.Sprintf("g-%d", i)
		e.createNodes(workload.Node(name))
		_, err := resources.ResourceSlices().Create(e.ctx, workload.DevicesOf(name, devices), metav1.CreateOptions{})
		e.must(err)
	}
	_, err := resources.DeviceClasses().Create(e.ctx, workload.DeviceClass("gpu"), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		e.must(err)
	}
	e.createTemplate("one-gpu", workload.DeviceRequest("gpu", 1))
	return e
}

// startClaimControllers starts those that make and bind claims, with the first test that needs them.
func startClaimControllers(e *env) {
	e.Helper()
	if shared.Process(controlplane.ControllerManager) == nil {
		_, err := shared.StartControllers(e.ctx, controlplane.ClaimControllers...)
		e.must(err)
	}
}

// startForDevices starts the daemon with the default profile. The peer asks for more than Berth's rights.
func (e *env) startForDevices() *daemon.Daemon {
	e.Helper()
	if program.Peer {
		return e.startAs(controlplane.KubeScheduler, deviceConfig)
	}
	return e.startAs(controlplane.Berth, deviceConfig)
}

func (e *env) createTemplate(name string, spec resourcev1.ResourceClaimSpec) {
	e.Helper()
	_, err := e.admin.ResourceV1().ResourceClaimTemplates(e.namespace).Create(e.ctx, workload.DeviceClaimTemplate(name, spec), metav1.CreateOptions{})
	e.must(err)
}

func (e *env) createDeviceClaim(name string, spec resourcev1.ResourceClaimSpec) {
	e.Helper()
	_, err := e.admin.ResourceV1().ResourceClaims(e.namespace).Create(e.ctx, workload.DeviceClaim(name, spec), metav1.CreateOptions{})
	e.must(err)
}

// deviceClaims are the namespace's, by name.
func (e *env) deviceClaims() map[string]*resourcev1.ResourceClaim {
	e.Helper()
	list, err := e.admin.ResourceV1().ResourceClaims(e.namespace).List(e.ctx, metav1.ListOptions{})
	e.must(err)
	claims := map[string]*resourcev1.ResourceClaim{}
	for i := range list.Items {
		claims[list.Items[i].Name] = &list.Items[i]
	}
	return claims
}

// devicesOf has "driver/pool/device" of what is allocated to the claim.
func devicesOf(claim *resourcev1.ResourceClaim) []string {
	var devices []string
	if claim.Status.Allocation != nil {
		for _, result := range claim.Status.Allocation.Devices.Results {
			devices = append(devices, strings.Join([]string{result.Driver, result.Pool, result.Device}, "/"))
		}
	}
	return devices
}

// checkDevices checks that each bound pod's claims are allocated on its node and reserved for it, that no device has two
// claims, and that none is reserved for a pod that is not there. It returns how many devices are allocated.
func (e *env) checkDevices() int {
	e.Helper()
	claims, pods := e.deviceClaims(), map[string]*corev1.Pod{}
	for _, pod := range e.pods.Pods() {
		pods[string(pod.UID)] = pod
		if pod.Spec.NodeName == "" {
			continue
		}
		for _, name := range claimNamesOf(pod) {
			claim := claims[name]
			if claim == nil || claim.Status.Allocation == nil {
				e.Errorf("pod %s is bound, its claim %s is not allocated", pod.Name, name)
				continue
			}
			for _, device := range devicesOf(claim) {
				if !strings.HasPrefix(device, workload.DeviceDriver+"/"+pod.Spec.NodeName+"/") {
					e.Errorf("pod %s is on node %s and has device %s", pod.Name, pod.Spec.NodeName, device)
				}
			}
			reserved := func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == pod.UID }
			if !slices.ContainsFunc(claim.Status.ReservedFor, reserved) {
				e.Errorf("pod %s is bound, its claim %s is reserved for %v", pod.Name, name, claim.Status.ReservedFor)
			}
			if !slices.Contains(claim.Finalizers, resourcev1.Finalizer) {
				e.Errorf("claim %s is allocated without its finalizer", name)
			}
		}
	}
	owner := map[string]string{}
	for name, claim := range claims {
		for _, device := range devicesOf(claim) {
			if other, taken := owner[device]; taken {
				e.Errorf("device %s is allocated to claims %s and %s", device, other, name)
			}
			owner[device] = name
		}
		for _, reserved := range claim.Status.ReservedFor {
			if pods[string(reserved.UID)] == nil {
				e.Errorf("claim %s is reserved for pod %s, which is not there", name, reserved.Name)
			}
		}
	}
	return len(owner)
}

// claimNamesOf are the pod's claims that there are.
func claimNamesOf(pod *corev1.Pod) []string {
	var names []string
	for _, use := range pod.Spec.ResourceClaims {
		if use.ResourceClaimName != nil {
			names = append(names, *use.ResourceClaimName)
		}
	}
	for _, status := range pod.Status.ResourceClaimStatuses {
		if status.ResourceClaimName != nil {
			names = append(names, *status.ResourceClaimName)
		}
	}
	return names
}
