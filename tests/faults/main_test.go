// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// cluster is the control plane that all tests share; the first that needs it starts it.
var cluster = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	ctx := context.Background()
	c, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return nil, err
	}
	started = c
	if _, err := c.StartControllers(ctx, controlplane.ClaimControllers...); err != nil {
		return nil, err
	}
	admin := c.Client(controlplane.Admin)
	_, err = admin.StorageV1().StorageClasses().Create(ctx, workload.WaitingClass(volumeClass, workload.NoProvisioner), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	if _, err := admin.ResourceV1().DeviceClasses().Create(ctx, workload.DeviceClass(deviceClass), metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: urgent}, Value: 1000}
	_, err = admin.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{})
	return c, err
})

var started *controlplane.ControlPlane

func TestMain(m *testing.M) {
	code := m.Run()
	if started != nil {
		if err := started.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
