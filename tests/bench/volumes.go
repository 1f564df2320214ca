// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/daemon/workload"
)

const (
	csiDriver = "disk.csi.example"
	// attachable is how many volumes a node may have.
	attachable int32 = 39
)

func claimOf(pod string) string { return "data-" + pod }

// createVolumes makes each pod's claim and volume, bound to each other, and says of each node what its driver can attach.
// They stay: pods of later measurements have the same names.
func (b *bench) createVolumes(ctx context.Context, c crowd) error {
	if b.hasVolumes {
		return nil
	}
	b.bar.Say("creating %d volumes", len(c.created))
	most := attachable
	err := workload.Each(ctx, b.nodes, func(ctx context.Context, i int) error {
		name := fmt.Sprintf("node-%d", i)
		_, err := b.admin.StorageV1().CSINodes().Create(ctx, &storagev1.CSINode{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
				{Name: csiDriver, NodeID: name, Allocatable: &storagev1.VolumeNodeResources{Count: &most}}}},
		}, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("create the CSINodes: %w", err)
	}
	err = workload.Each(ctx, len(c.created), func(ctx context.Context, i int) error {
		name := claimOf(c.name(i))
		claim := workload.Claim(name, "", "1Gi")
		claim.Spec.VolumeName = name
		claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "true"}
		claim, err := b.admin.CoreV1().PersistentVolumeClaims(namespace).Create(ctx, claim, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		pv := workload.Volume(name, "", "1Gi", "", "")
		pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1",
			Namespace: namespace, Name: name, UID: claim.UID}
		_, err = b.admin.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("create the volumes: %w", err)
	}
	b.hasVolumes = true
	return nil
}
