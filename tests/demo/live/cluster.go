// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/demo/story"
	"berth.dev/tests/internal/daemon/workload"
)

// cluster is where the demo runs.
type cluster struct {
	client           kubernetes.Interface
	daemonKubeconfig string
	dir              string                     // for the daemon's configuration and log
	own              *controlplane.ControlPlane // nil in a cluster that was there before
}

// openCluster uses the cluster of the kubeconfig, or starts one if there is none.
func openCluster(ctx context.Context, s *story.Screen, kubeconfig string) (*cluster, error) {
	dir, err := os.MkdirTemp("", "berth-demo-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir}
	if kubeconfig == "" {
		err = c.startOwn(ctx, s)
	} else {
		err = c.useExisting(ctx, s, kubeconfig)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

func (c *cluster) startOwn(ctx context.Context, s *story.Screen) (err error) {
	begin := time.Now()
	options := controlplane.Options{ControllerManager: true, Kwok: true, Programs: story.Programs}
	if c.own, err = controlplane.Start(ctx, options); err != nil {
		return err
	}
	c.client = c.own.Client(controlplane.Admin)
	c.daemonKubeconfig = c.own.Kubeconfig(controlplane.Berth)
	s.Step("Kubernetes %s is up after %s: etcd, kube-apiserver, kube-controller-manager, and kwok for kubelets",
		programs.KubernetesVersion, story.Rounded(time.Since(begin)))
	return nil
}

func (c *cluster) useExisting(ctx context.Context, s *story.Screen, kubeconfig string) error {
	file, err := filepath.Abs(kubeconfig)
	if err != nil {
		return err
	}
	rest, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	rest.QPS = -1
	if c.client, err = kubernetes.NewForConfig(rest); err != nil {
		return fmt.Errorf("make a client of %s: %w", file, err)
	}
	c.daemonKubeconfig = file
	version, err := c.client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("reach the cluster of %s: %w", file, err)
	}
	s.Step("The cluster of %s runs Kubernetes %s", kubeconfig, version.GitVersion)
	return c.cleanUp(ctx) // what an earlier demo may have left
}

// close removes all that the demo has made.
func (c *cluster) close() (err error) {
	if c.own != nil {
		err = c.own.Stop()
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err = c.cleanUp(ctx)
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}

// cleanUp removes the demo's objects from a cluster that stays, and waits until its namespace has gone.
func (c *cluster) cleanUp(ctx context.Context) error {
	namespaces := c.client.CoreV1().Namespaces()
	err := namespaces.Delete(ctx, story.Namespace, metav1.DeleteOptions{})
	if ignoreNotFound(err) != nil {
		return fmt.Errorf("delete namespace %s: %w", story.Namespace, err)
	}
	if err == nil {
		if err := workload.DeletePods(ctx, c.client, story.Namespace); err != nil {
			return err
		}
	}
	if err := workload.DeleteNodes(ctx, c.client, story.NodeLabel); err != nil {
		return err
	}
	err = c.client.SchedulingV1().PriorityClasses().Delete(ctx, story.UrgentClass, metav1.DeleteOptions{})
	if ignoreNotFound(err) != nil {
		return fmt.Errorf("delete priority class %s: %w", story.UrgentClass, err)
	}
	return await(ctx, "namespace "+story.Namespace+" to be gone", func() bool {
		_, err := namespaces.Get(ctx, story.Namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// await polls for what no watch here tells.
func await(ctx context.Context, what string, done func() bool) error {
	for !done() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
