// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/volume"

	"berth.dev/tests/daemon/workload"
)

// provisionerName is the one that storage classes of these tests name.
const provisionerName = "disk.csi.example"

// provisioner makes volumes for the test's claims as an external provisioner does: when the scheduler has selected a
// node, and PV controller has asked for a volume, it makes one that the node's zone reaches.
type provisioner struct {
	*env
	// fails says whether there is no room for the claim in the node's zone. The provisioner then takes the
	// selected node from the claim, and says so in an event.
	fails    func(claim, zone string) bool
	failures atomic.Int32
}

// provision starts a provisioner, which ends with the test.
func (e *env) provision(fails func(claim, zone string) bool) *provisioner {
	e.Helper()
	p := &provisioner{env: e, fails: fails}
	ctx, cancel := context.WithCancel(e.ctx)
	claims := cache.NewFilteredListWatchFromClient(e.admin.CoreV1().RESTClient(), "persistentvolumeclaims", e.namespace,
		func(*metav1.ListOptions) {})
	changed := make(chan string, 10000)
	tell := func(object any) { changed <- object.(*corev1.PersistentVolumeClaim).Name }
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: claims, ObjectType: &corev1.PersistentVolumeClaim{},
		Handler: cache.ResourceEventHandlerFuncs{AddFunc: tell, UpdateFunc: func(_, object any) { tell(object) }},
	})
	done := make(chan struct{})
	go controller.RunWithContext(ctx)
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case name := <-changed:
				if err := p.serve(ctx, name); err != nil && ctx.Err() == nil {
					e.Errorf("provision for claim %s: %v", name, err)
				}
			}
		}
	}()
	e.Cleanup(func() { cancel(); <-done })
	return p
}

// serve looks at the claim as it is now, and does what is to be done.
func (p *provisioner) serve(ctx context.Context, name string) error {
	claims := p.admin.CoreV1().PersistentVolumeClaims(p.namespace)
	claim, err := claims.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	nodeName := claim.Annotations[volume.AnnSelectedNode]
	if nodeName == "" || claim.Spec.VolumeName != "" || claim.Annotations[volume.AnnStorageProvisioner] != provisionerName {
		return nil
	}
	node, err := p.admin.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	zone := node.Labels[corev1.LabelTopologyZone]
	if p.fails != nil && p.fails(name, zone) {
		p.failures.Add(1)
		delete(claim.Annotations, volume.AnnSelectedNode)
		if _, err := claims.Update(ctx, claim, metav1.UpdateOptions{}); err != nil {
			if apierrors.IsConflict(err) {
				return nil // It will be seen again.
			}
			return err
		}
		return p.sayFailed(ctx, claim)
	}
	pv := workload.Volume("pvc-"+string(claim.UID), *claim.Spec.StorageClassName, "1Gi", corev1.LabelTopologyZone, zone)
	pv.Annotations = map[string]string{volume.AnnDynamicallyProvisioned: provisionerName}
	pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]}
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1",
		Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	_, err = p.admin.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (p *provisioner) sayFailed(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	now := metav1.Now()
	_, err := p.admin.CoreV1().Events(p.namespace).Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", claim.Name, time.Now().UnixNano())},
		InvolvedObject: corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
		Type:           corev1.EventTypeWarning, Reason: "ProvisioningFailed", Message: "there is no room in the node's zone",
		FirstTimestamp: now, LastTimestamp: now, Count: 1, Source: corev1.EventSource{Component: provisionerName},
	}, metav1.CreateOptions{})
	return err
}
