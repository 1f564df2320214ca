// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// drawMoves has the first of three nodes come late, the second leave and come back, the third cordoned for a while. Pods
// of the node that leaves stay on it: they count again when it is back.
func (c *crowd) drawMoves(nodes []*corev1.Node, random *rand.Rand, length time.Duration) {
	some := func() time.Duration { return time.Duration(random.Int64N(int64(length) / 2)) }
	try := func(r *run, what string, do func(nodes typedcorev1.NodeInterface) error) {
		if err := workload.Persist(r.ctx, patience, func() error { return do(r.admin.CoreV1().Nodes()) }); err != nil {
			r.Errorf("%s: %v", what, err)
		}
	}
	create := func(r *run, node *corev1.Node) {
		try(r, "create node "+node.Name, func(nodes typedcorev1.NodeInterface) error {
			_, err := nodes.Create(r.ctx, node, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		})
	}
	cordon := func(r *run, node *corev1.Node, on bool) {
		patch := fmt.Appendf(nil, `{"spec": {"unschedulable": %v}}`, on)
		try(r, "cordon node "+node.Name, func(nodes typedcorev1.NodeInterface) error {
			_, err := nodes.Patch(r.ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		})
	}
	late, leaving, cordoned := nodes[0], nodes[1], nodes[2]
	c.late = late
	c.moves = []step{
		{at: length/2 + some(), do: func(r *run) func() {
			create(r, late)
			return nil
		}},
		{at: some(), lasts: some(), do: func(r *run) func() {
			try(r, "delete node "+leaving.Name, func(nodes typedcorev1.NodeInterface) error {
				err := nodes.Delete(r.ctx, leaving.Name, metav1.DeleteOptions{})
				if apierrors.IsNotFound(err) {
					return nil
				}
				return err
			})
			return func() { create(r, leaving) }
		}},
		{at: some(), lasts: some(), do: func(r *run) func() {
			cordon(r, cordoned, true)
			return func() { cordon(r, cordoned, false) }
		}},
	}
}

// startReaper ends pods that are being deleted, as their kubelets would.
func (r *run) startReaper() {
	const pause = 200 * time.Millisecond
	ctx, stop := context.WithCancel(r.ctx)
	var group sync.WaitGroup
	r.Cleanup(func() {
		stop()
		group.Wait()
	})
	group.Go(func() {
		for ctx.Err() == nil {
			time.Sleep(pause)
			pods, err := r.pods()
			if err != nil {
				continue // the servers may be away
			}
			for i := range pods {
				if pods[i].DeletionTimestamp != nil {
					r.remove(wanted{namespace: pods[i].Namespace, name: pods[i].Name}, &pods[i])
				}
			}
		}
	})
}
