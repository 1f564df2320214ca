// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// workers is how many requests are under way at once. More make a small API server slower.
const workers = 16

// Each calls do(0) to do(n-1) from several goroutines and returns the first error, after which it
// starts no further call.
func Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// CreateNodes creates the nodes with their statuses.
func CreateNodes(ctx context.Context, client kubernetes.Interface, nodes ...*corev1.Node) error {
	return Each(ctx, len(nodes), func(ctx context.Context, i int) error {
		if _, err := client.CoreV1().Nodes().Create(ctx, nodes[i], metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create node %s: %w", nodes[i].Name, err)
		}
		return nil
	})
}

// CreatePods creates pod(0) to pod(n-1) in the namespace.
func CreatePods(ctx context.Context, client kubernetes.Interface, namespace string, n int, pod func(i int) *corev1.Pod) error {
	return Each(ctx, n, func(ctx context.Context, i int) error {
		return CreatePod(ctx, client, namespace, pod(i))
	})
}

// CreatePod creates the pod in the namespace.
func CreatePod(ctx context.Context, client kubernetes.Interface, namespace string, pod *corev1.Pod) error {
	if _, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create pod %s: %w", pod.Name, err)
	}
	return nil
}

// DeletePods deletes all pods of the namespace, without grace and whatever their finalizers say.
func DeletePods(ctx context.Context, client kubernetes.Interface, namespace string) error {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the pods to delete: %w", err)
	}
	return Each(ctx, len(pods.Items), func(ctx context.Context, i int) error {
		pod := &pods.Items[i]
		if len(pod.Finalizers) > 0 {
			pod.Finalizers = nil
			if _, err := client.CoreV1().Pods(namespace).Update(ctx, pod, metav1.UpdateOptions{}); ignoreNotFound(err) != nil {
				return fmt.Errorf("free pod %s: %w", pod.Name, err)
			}
		}
		return DeletePod(ctx, client, namespace, pod.Name)
	})
}

// DeletePod deletes the pod without grace.
func DeletePod(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	now := int64(0)
	err := client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	if ignoreNotFound(err) != nil {
		return fmt.Errorf("delete pod %s: %w", name, err)
	}
	return nil
}

// DeleteNodes deletes all nodes that the label selector selects; "" selects every node.
func DeleteNodes(ctx context.Context, client kubernetes.Interface, selector string) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return fmt.Errorf("list the nodes to delete: %w", err)
	}
	return Each(ctx, len(nodes.Items), func(ctx context.Context, i int) error {
		name := nodes.Items[i].Name
		if err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); ignoreNotFound(err) != nil {
			return fmt.Errorf("delete node %s: %w", name, err)
		}
		return nil
	})
}

type deleteCollection func(context.Context, metav1.DeleteOptions, metav1.ListOptions) error

// deleteAll deletes everything of these kinds.
func deleteAll(ctx context.Context, kinds map[string]deleteCollection) error {
	for what, all := range kinds {
		if err := all(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return fmt.Errorf("delete the %s: %w", what, err)
		}
	}
	return nil
}

// CreateNamespace creates the namespace; one that is there already is no error.
func CreateNamespace(ctx context.Context, client kubernetes.Interface, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return nil
}

// AwaitServiceAccount waits until the controllers have made the namespace's default service account,
// without which the API server takes no pods.
func AwaitServiceAccount(ctx context.Context, client kubernetes.Interface, namespace string) error {
	// Begins with the account if it is there.
	watcher, err := client.CoreV1().ServiceAccounts(namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=default"})
	if err != nil {
		return fmt.Errorf("watch the service accounts of %s: %w", namespace, err)
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		if event.Type == watch.Added {
			return nil
		}
	}
	if err = context.Cause(ctx); err == nil {
		err = errors.New("the watch ended")
	}
	return fmt.Errorf("wait for the default service account of %s: %w", namespace, err)
}

// Persist tries again for as long as patience lasts: a request that fails for once must not end a long run.
func Persist(ctx context.Context, patience time.Duration, try func() error) error {
	const longestPause = time.Second
	pause := 50 * time.Millisecond
	for deadline := time.Now().Add(patience); ; {
		err := try()
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
