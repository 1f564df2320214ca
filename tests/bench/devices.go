// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon/workload"
)

const (
	deviceClass   = "gpu"
	claimTemplate = "one-gpu"
	// devicesOfNode is how many devices each node has.
	devicesOfNode = 8
)

// prepareDevices has each node publish its devices, once, and starts the controller that makes pods' claims, as long as the
// measurement takes.
func (b *bench) prepareDevices(ctx context.Context) error {
	if !b.hasDevices {
		b.bar.Say("creating the devices of %d nodes", b.nodes)
		resources := b.admin.ResourceV1()
		if _, err := resources.DeviceClasses().Create(ctx, workload.DeviceClass(deviceClass), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create the class: %w", err)
		}
		made := workload.DeviceClaimTemplate(claimTemplate, workload.DeviceRequest(deviceClass, 1))
		if _, err := resources.ResourceClaimTemplates(namespace).Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create the template: %w", err)
		}
		err := workload.Each(ctx, b.nodes, func(ctx context.Context, i int) error {
			slice := workload.DevicesOf(fmt.Sprintf("node-%d", i), devicesOfNode)
			_, err := resources.ResourceSlices().Create(ctx, slice, metav1.CreateOptions{})
			return err
		})
		if err != nil {
			return fmt.Errorf("create the slices: %w", err)
		}
		b.hasDevices = true
	}
	_, err := b.control.StartControllers(ctx, "resourceclaim-controller")
	return err
}

// haveClaims says whether the controller has made the claims of that many pods.
func haveClaims(pods map[string]*corev1.Pod, count int) bool {
	for _, pod := range pods {
		if len(pod.Status.ResourceClaimStatuses) == len(pod.Spec.ResourceClaims) {
			count--
		}
	}
	return count == 0
}

// cleanUpDevices deletes the claims once the pods are gone.
func (b *bench) cleanUpDevices(ctx context.Context) error {
	claims := b.admin.ResourceV1().ResourceClaims(namespace)
	if err := claims.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("delete the claims: %w", err)
	}
	// The controller takes what protects them.
	for {
		left, err := claims.List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return fmt.Errorf("list the claims: %w", err)
		}
		if len(left.Items) == 0 {
			break
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	b.control.Process(programs.ControllerManager).Stop()
	return nil
}
