// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/volume"
)

// Provisioner makes volumes for the claims of a namespace as an external provisioner does: once the scheduler has
// selected a node, and PV controller has asked for a volume, it makes one that the node's zone reaches.
type Provisioner struct {
	Client    kubernetes.Interface
	Namespace string
	// Name is the one that storage classes name.
	Name string
	// Fails says whether there is no room for the claim in the node's zone; nil: there always is. The provisioner then
	// takes the selected node from the claim, and says so in an event.
	Fails func(claim, zone string) bool
	// BindsToo is set where no PV controller runs: the provisioner then binds claim and volume, too.
	BindsToo bool
	// Workers is how many claims are served at a time; 0 means one.
	Workers int
	// Problem hears of what went wrong.
	Problem func(claim string, err error)
	// Failures counts what Fails has caused.
	Failures atomic.Int32

	zones sync.Map // by node
}

// Run serves until the context ends.
func (p *Provisioner) Run(ctx context.Context) {
	claims := cache.NewFilteredListWatchFromClient(p.Client.CoreV1().RESTClient(), "persistentvolumeclaims", p.Namespace,
		func(*metav1.ListOptions) {})
	changed := make(chan *corev1.PersistentVolumeClaim, 10000)
	tell := func(object any) {
		if claim := object.(*corev1.PersistentVolumeClaim); p.isDue(claim) {
			select {
			case changed <- claim:
			case <-ctx.Done():
			}
		}
	}
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: claims, ObjectType: &corev1.PersistentVolumeClaim{},
		Handler: cache.ResourceEventHandlerFuncs{AddFunc: tell, UpdateFunc: func(_, object any) { tell(object) }},
	})
	var running sync.WaitGroup
	running.Go(func() { controller.RunWithContext(ctx) })
	for range max(p.Workers, 1) {
		running.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case claim := <-changed:
					if err := p.serve(ctx, claim); err != nil && ctx.Err() == nil {
						p.Problem(claim.Name, err)
					}
				}
			}
		})
	}
	running.Wait()
}

func (p *Provisioner) isDue(claim *corev1.PersistentVolumeClaim) bool {
	asked := p.BindsToo || claim.Annotations[volume.AnnStorageProvisioner] == p.Name
	return asked && claim.Annotations[volume.AnnSelectedNode] != "" && claim.Spec.VolumeName == ""
}

func (p *Provisioner) serve(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	zone, err := p.zoneOf(ctx, claim.Annotations[volume.AnnSelectedNode])
	if err != nil {
		return err
	}
	if p.Fails != nil && p.Fails(claim.Name, zone) {
		return p.giveUp(ctx, claim)
	}
	pv := Volume("pvc-"+string(claim.UID), *claim.Spec.StorageClassName, "1Gi", corev1.LabelTopologyZone, zone)
	pv.Annotations = map[string]string{volume.AnnDynamicallyProvisioned: p.Name}
	pv.Spec.CSI.Driver = p.Name
	pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]}
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1",
		Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	_, err = p.Client.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil || !p.BindsToo {
		return err
	}
	return p.bind(ctx, claim.DeepCopy(), pv.Name)
}

func (p *Provisioner) zoneOf(ctx context.Context, nodeName string) (string, error) {
	if zone, known := p.zones.Load(nodeName); known {
		return zone.(string), nil
	}
	node, err := p.Client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	zone := node.Labels[corev1.LabelTopologyZone]
	p.zones.Store(nodeName, zone)
	return zone, nil
}

// bind does to the claim what PV controller does.
func (p *Provisioner) bind(ctx context.Context, claim *corev1.PersistentVolumeClaim, pv string) error {
	claim.Spec.VolumeName = pv
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volume.AnnBindCompleted, "yes")
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volume.AnnBoundByController, "yes")
	_, err := p.Client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
	return err
}

// giveUp takes the selected node from the claim, as it is now.
func (p *Provisioner) giveUp(ctx context.Context, seen *corev1.PersistentVolumeClaim) error {
	claims := p.Client.CoreV1().PersistentVolumeClaims(seen.Namespace)
	claim, err := claims.Get(ctx, seen.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && claim.Annotations[volume.AnnSelectedNode] != seen.Annotations[volume.AnnSelectedNode] {
		return nil
	}
	if err != nil {
		return err
	}
	p.Failures.Add(1)
	delete(claim.Annotations, volume.AnnSelectedNode)
	if _, err := claims.Update(ctx, claim, metav1.UpdateOptions{}); err != nil {
		if apierrors.IsConflict(err) {
			return nil // It will be seen again.
		}
		return err
	}
	now := metav1.Now()
	_, err = p.Client.CoreV1().Events(claim.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", claim.Name, time.Now().UnixNano())},
		InvolvedObject: corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
		Type:           corev1.EventTypeWarning, Reason: "ProvisioningFailed", Message: "there is no room in the node's zone",
		FirstTimestamp: now, LastTimestamp: now, Count: 1, Source: corev1.EventSource{Component: p.Name},
	}, metav1.CreateOptions{})
	return err
}
