// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"berth.dev/tests/internal/daemon/workload"
)

const (
	provisioner    = "soak.berth.dev"
	storageClass   = "made-late"
	deviceClass    = "gpu"
	deviceTemplate = "one-gpu"
	devicesOfNode  = 2
)

// supplies are the volumes that pods get made and the devices that they get lent, for as long as the pods live.
type supplies struct {
	client  kubernetes.Interface
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	problem error // the first
}

// supply puts devices on the nodes, and begins to make volumes and to remove those that no claim has any more.
func supply(ctx context.Context, client kubernetes.Interface, nodes int) (*supplies, error) {
	_, err := client.StorageV1().StorageClasses().Create(ctx, workload.WaitingClass(storageClass, provisioner), metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create the storage class: %w", err)
	}
	resources := client.ResourceV1()
	if _, err := resources.DeviceClasses().Create(ctx, workload.DeviceClass(deviceClass), metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("create the device class: %w", err)
	}
	template := workload.DeviceClaimTemplate(deviceTemplate, workload.DeviceRequest(deviceClass, 1))
	if _, err := resources.ResourceClaimTemplates(namespace).Create(ctx, template, metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("create the claim template: %w", err)
	}
	err = workload.Each(ctx, nodes, func(ctx context.Context, i int) error {
		_, err := resources.ResourceSlices().Create(ctx, workload.DevicesOf(nodeName(i), devicesOfNode), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create the devices: %w", err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &supplies{client: client, stop: stop}
	maker := &workload.Provisioner{Client: client, Namespace: namespace, Name: provisioner, Workers: 4,
		Problem: func(claim string, err error) { s.note(fmt.Errorf("make the volume of %s: %w", claim, err)) }}
	s.running.Go(func() { maker.Run(ctx) })
	s.running.Go(func() { s.reclaim(ctx) })
	return s, nil
}

// reclaim removes volumes whose claims are gone, as a provisioner does.
func (s *supplies) reclaim(ctx context.Context) {
	volumes := cache.NewFilteredListWatchFromClient(s.client.CoreV1().RESTClient(), "persistentvolumes", "", func(*metav1.ListOptions) {})
	remove := func(object any) {
		pv := object.(*corev1.PersistentVolume)
		if pv.Status.Phase != corev1.VolumeReleased || pv.DeletionTimestamp != nil {
			return
		}
		err := s.client.CoreV1().PersistentVolumes().Delete(ctx, pv.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
			s.note(fmt.Errorf("remove volume %s: %w", pv.Name, err))
		}
	}
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: volumes, ObjectType: &corev1.PersistentVolume{}, ResyncPeriod: 10 * time.Second,
		Handler: cache.ResourceEventHandlerFuncs{AddFunc: remove, UpdateFunc: func(_, object any) { remove(object) }},
	})
	controller.RunWithContext(ctx)
}

func (s *supplies) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.problem == nil {
		s.problem = err
	}
}

// close ends the making, and tells what went wrong with it.
func (s *supplies) close() error {
	s.stop()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}
