// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
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
	if shared.Process(programs.ControllerManager) == nil {
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

// checkDevices checks what claims and pods have of devices, and returns how many devices are allocated.
func (e *env) checkDevices() int {
	e.Helper()
	wrong, allocated := workload.CheckDevices(e.pods.Pods(), slices.Collect(maps.Values(e.deviceClaims())))
	for _, text := range wrong {
		e.Error(text)
	}
	return allocated
}
