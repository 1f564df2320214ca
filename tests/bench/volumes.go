// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/internal/daemon/workload"
)

const (
	csiDriver = "disk.csi.example"
	// attachable is how many volumes a node may have.
	attachable int32 = 39
)

// lateClass is the class of claims that wait for their pods' nodes.
const lateClass = "made-late"

func claimOf(pod string) string     { return "data-" + pod }
func lateClaimOf(pod string) string { return "late-" + pod }

// createCSINodes says of each node what its driver can attach.
func (b *bench) createCSINodes(ctx context.Context) error {
	if b.hasCSINodes {
		return nil
	}
	most := attachable
	err := workload.Each(ctx, b.nodes, func(ctx context.Context, i int) error {
		name := fmt.Sprintf("node-%d", i)
		_, err := b.admin.StorageV1().CSINodes().Create(ctx, &storagev1.CSINode{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
				{Name: csiDriver, NodeID: name, Allocatable: &storagev1.VolumeNodeResources{Count: &most},
					TopologyKeys: []string{corev1.LabelTopologyZone}}}},
		}, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("create the CSINodes: %w", err)
	}
	b.hasCSINodes = true
	return nil
}

// createVolumes makes each pod's claim and volume, bound to each other. They stay: pods of later measurements have the
// same names.
func (b *bench) createVolumes(ctx context.Context, c crowd) error {
	if b.hasVolumes {
		return nil
	}
	b.bar.Say("creating %d volumes", len(c.created))
	if err := b.createCSINodes(ctx); err != nil {
		return err
	}
	err := workload.Each(ctx, len(c.created), func(ctx context.Context, i int) error {
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

// provision makes each pod's claim, and a provisioner that makes volumes for them. It does PV controller's part, too, which
// has one worker and would be all that is measured. The provisioner lives as long as the context; the one returned ends
// when the provisioner fails.
func (b *bench) provision(ctx context.Context, c crowd) (context.Context, error) {
	b.bar.Say("creating %d claims", len(c.created))
	if err := b.createCSINodes(ctx); err != nil {
		return ctx, err
	}
	if !b.hasClass {
		if _, err := b.admin.StorageV1().StorageClasses().Create(ctx, workload.WaitingClass(lateClass, csiDriver), metav1.CreateOptions{}); err != nil {
			return ctx, fmt.Errorf("create the class: %w", err)
		}
		b.hasClass = true
	}
	err := workload.Each(ctx, len(c.created), func(ctx context.Context, i int) error {
		_, err := b.admin.CoreV1().PersistentVolumeClaims(namespace).Create(ctx,
			workload.Claim(lateClaimOf(c.name(i)), lateClass, "1Gi"), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return ctx, fmt.Errorf("create the claims: %w", err)
	}
	ctx, fail := context.WithCancelCause(ctx)
	provisioner := &workload.Provisioner{
		Client: b.admin, Namespace: namespace, Name: csiDriver, BindsToo: true, Workers: provisionerWorkers,
		Problem: func(claim string, err error) { fail(fmt.Errorf("provision for claim %s: %w", claim, err)) },
	}
	go provisioner.Run(ctx)
	return ctx, nil
}

// provisionerWorkers is so many that the API server bounds them.
const provisionerWorkers = 16

// deleteProvisioned deletes the claims that provision made, and their volumes. No controller takes off what protects them.
func (b *bench) deleteProvisioned(ctx context.Context) error {
	unprotect := []byte(`{"metadata":{"finalizers":null}}`)
	core := b.admin.CoreV1()
	claims, err := core.PersistentVolumeClaims(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the claims: %w", err)
	}
	err = workload.Each(ctx, len(claims.Items), func(ctx context.Context, i int) error {
		claim := &claims.Items[i]
		if *claim.Spec.StorageClassName != lateClass {
			return nil
		}
		volumes, claims := core.PersistentVolumes(), core.PersistentVolumeClaims(namespace)
		if name := claim.Spec.VolumeName; name != "" {
			_, err := volumes.Patch(ctx, name, types.MergePatchType, unprotect, metav1.PatchOptions{})
			if err == nil {
				err = volumes.Delete(ctx, name, metav1.DeleteOptions{})
			}
			if err != nil {
				return err
			}
		}
		if _, err := claims.Patch(ctx, claim.Name, types.MergePatchType, unprotect, metav1.PatchOptions{}); err != nil {
			return err
		}
		return claims.Delete(ctx, claim.Name, metav1.DeleteOptions{})
	})
	if err != nil {
		return fmt.Errorf("delete the claims and their volumes: %w", err)
	}
	return nil
}
