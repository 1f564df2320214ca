// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// replicas is how many pods each Deployment has; the last one has what is left.
const replicas = 40

// withControllers is a control plane whose pods become Ready and whose Deployments and Services
// learn of it: each pod then changes its ReplicaSet's status some times.
var withControllers = controlplane.Options{
	ControllerManager: true,
	Controllers: []string{
		"deployment-controller", "replicaset-controller", "endpointslice-controller",
		"garbage-collector-controller", "serviceaccount-controller",
	},
	Kwok: true,
}

// createDeployments makes Deployments behind Services that have n pods together.
func (b *bench) createDeployments(ctx context.Context, k kind, n int) error {
	return workload.Each(ctx, (n+replicas-1)/replicas, func(ctx context.Context, i int) error {
		name := fmt.Sprintf("%s-%d", k.name, i)
		// Services of an earlier measurement stay.
		_, err := b.admin.CoreV1().Services(namespace).Create(ctx, workload.Service(name), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create Service %s: %w", name, err)
		}
		deployment := workload.Deployment(name, min(replicas, n-i*replicas), podRequests, k.change)
		if _, err := b.admin.AppsV1().Deployments(namespace).Create(ctx, deployment, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create Deployment %s: %w", name, err)
		}
		return nil
	})
}

// awaitAvailable waits until every Deployment says that all its pods are ready.
func (b *bench) awaitAvailable(ctx context.Context) error {
	return b.poll(ctx, func() (string, error) {
		list, err := b.admin.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return "", fmt.Errorf("list the Deployments: %w", err)
		}
		for i := range list.Items {
			if lags := workload.Lags(&list.Items[i]); lags != "" {
				return lags, nil
			}
		}
		return "", nil
	})
}

// deleteDeployments deletes them with their ReplicaSets, so that no pod that is deleted comes back.
func (b *bench) deleteDeployments(ctx context.Context) error {
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background}
	apps := b.admin.AppsV1()
	if err := apps.Deployments(namespace).DeleteCollection(ctx, options, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("delete the Deployments: %w", err)
	}
	return b.poll(ctx, func() (string, error) {
		if err := apps.ReplicaSets(namespace).DeleteCollection(ctx, options, metav1.ListOptions{}); err != nil {
			return "", fmt.Errorf("delete the ReplicaSets: %w", err)
		}
		if err := workload.DeletePods(ctx, b.admin, namespace); err != nil {
			return "", err
		}
		pods, err := b.admin.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return "", fmt.Errorf("list the pods: %w", err)
		}
		sets, err := apps.ReplicaSets(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return "", fmt.Errorf("list the ReplicaSets: %w", err)
		}
		if len(pods.Items)+len(sets.Items) > 0 {
			return "there are pods or ReplicaSets left", nil
		}
		return "", nil
	})
}

// poll waits until there is nothing left to wait for.
func (b *bench) poll(ctx context.Context, lacking func() (string, error)) error {
	for {
		what, err := lacking()
		if err != nil || what == "" {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), errors.New(what))
		case <-time.After(200 * time.Millisecond):
		}
	}
}
