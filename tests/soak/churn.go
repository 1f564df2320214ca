// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/internal/daemon/workload"
)

const (
	poolLabel = "soak.berth.dev/pool"
	doorLabel = "soak.berth.dev/door"
	// mostCordoned is one node of so many.
	mostCordoned = 20
	// patience is how long the API server may fail to answer.
	patience = time.Minute
	// secondsBehind of changes are what kubelets may have before them.
	secondsBehind = 5
)

func poolName(i int) string { return fmt.Sprintf("pool-%d", i) }

// churn changes the cluster, one change after the other, at an even rate of pods. What it does
// follows from the seed alone, but for which pods it deletes.
type churn struct {
	client  kubernetes.Interface
	tracker *workload.Tracker
	random  *rand.Rand
	rate    float64
	wanted  int // pods of apps together

	apps     []*app
	waiters  []*waiter
	nodes    int
	pool     []int // of each node
	cordoned []int // nodes
	rounds   int
	done     map[string]int // changes by their names
	held     time.Duration  // spent waiting for the kubelets
}

// change does something and returns how many pods it creates and deletes.
type change struct {
	name   string
	weight int
	do     func(ctx context.Context) (pods int, err error)
}

func newChurn(client kubernetes.Interface, tracker *workload.Tracker, o options) *churn {
	c := &churn{
		client: client, tracker: tracker, random: rand.New(rand.NewPCG(o.seed, 0)), rate: o.rate,
		wanted: o.pods, nodes: o.nodes, pool: make([]int, o.nodes), done: map[string]int{},
	}
	for i := range c.pool {
		c.pool[i] = i % pools
	}
	c.apps, c.waiters = makeApps(o), makeWaiters()
	return c
}

// create makes the Deployments and Services.
func (c *churn) create(ctx context.Context) error {
	for _, a := range c.apps {
		if _, err := c.client.AppsV1().Deployments(namespace).Create(ctx, a.deployment(), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create Deployment %s: %w", a.name, err)
		}
		if !a.served {
			continue
		}
		if _, err := c.client.CoreV1().Services(namespace).Create(ctx, workload.Service(a.name), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create Service %s: %w", a.name, err)
		}
	}
	for _, w := range c.waiters {
		if _, err := c.client.AppsV1().Deployments(namespace).Create(ctx, w.deployment(), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create Deployment %s: %w", w.name, err)
		}
	}
	return nil
}

// run changes the cluster until the context ends.
func (c *churn) run(ctx context.Context) error {
	changes := []change{
		{"scaled", 35, c.scale},
		{"rolled over", 6, c.rollOver},
		{"pods deleted", 20, c.deletePod},
		{"relabelled", 15, c.relabel},
		{"cordoned", 12, c.cordon},
		{"uncordoned", 12, c.uncordon},
		{"doors", 10, c.moveDoor},
	}
	total := 0
	for _, one := range changes {
		total += one.weight
	}
	due := time.Now()
	for {
		if c.awaitKubelets(ctx) {
			due = time.Now()
		}
		draw := c.random.IntN(total)
		next := slices.IndexFunc(changes, func(one change) bool {
			draw -= one.weight
			return draw < 0
		})
		pods, err := changes[next].do(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", changes[next].name, err)
		}
		c.done[changes[next].name]++
		due = due.Add(time.Duration(float64(max(pods, 1)) / c.rate * float64(time.Second)))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(due)):
		}
	}
}

// awaitKubelets waits while they are far behind, as on a machine that is busy with something else:
// then more changes would only make more work that lies about. It says whether it had to wait.
func (c *churn) awaitKubelets(ctx context.Context) bool {
	begin := time.Now()
	for c.leftToKubelets() > int(c.rate*secondsBehind) {
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
			continue
		}
		break
	}
	waited := time.Since(begin)
	if waited < 100*time.Millisecond {
		return false
	}
	c.held += waited
	return true
}

// leftToKubelets is how many pods wait for their node to start or to end them.
func (c *churn) leftToKubelets() int {
	left := 0
	for _, pod := range c.tracker.Pods() {
		if pod.DeletionTimestamp != nil || (pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodPending) {
			left++
		}
	}
	return left
}

// scale gives a Deployment another size, so that all together stay near the number wanted.
func (c *churn) scale(ctx context.Context) (int, error) {
	all := 0
	for _, a := range c.apps {
		all += a.replicas
	}
	a := c.apps[c.random.IntN(len(c.apps))]
	from, to := a.replicas, a.most
	if all > c.wanted {
		from, to = 0, a.replicas
	}
	size := from + c.random.IntN(to-from+1)
	pods := max(size-a.replicas, a.replicas-size)
	a.replicas = size
	return pods, c.resize(ctx, a.name, size)
}

func (c *churn) resize(ctx context.Context, name string, size int) error {
	return c.patchDeployment(ctx, name, fmt.Sprintf(`{"spec":{"replicas":%d}}`, size))
}

// rollOver replaces the pods of a Deployment by others of a new template.
func (c *churn) rollOver(ctx context.Context) (int, error) {
	a := c.apps[c.random.IntN(len(c.apps))]
	c.rounds++
	patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"soak.berth.dev/round":"%d"}}}}}`, c.rounds)
	return 2 * a.replicas, c.patchDeployment(ctx, a.name, patch)
}

// deletePod deletes a pod, as an eviction would.
func (c *churn) deletePod(ctx context.Context) (int, error) {
	draw := c.random.Uint64()
	pods := c.tracker.Pods()
	if len(pods) == 0 {
		return 0, nil
	}
	name := pods[draw%uint64(len(pods))].Name
	return 2, workload.Persist(ctx, patience, func() error {
		err := c.client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// relabel moves a node to another pool, and another one back, so that no pool runs dry.
func (c *churn) relabel(ctx context.Context) (int, error) {
	a, b := c.random.IntN(c.nodes), c.random.IntN(c.nodes)
	c.pool[a], c.pool[b] = c.pool[b], c.pool[a]
	for _, i := range []int{a, b} {
		if err := c.label(ctx, i, poolLabel, fmt.Sprintf("%q", poolName(c.pool[i]))); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// cordon cordons a node or, if enough are, uncordons one.
func (c *churn) cordon(ctx context.Context) (int, error) {
	if len(c.cordoned) >= c.nodes/mostCordoned {
		return c.uncordon(ctx)
	}
	i := c.freeNode()
	c.cordoned = append(c.cordoned, i)
	return 0, c.patchNode(ctx, i, `{"spec":{"unschedulable":true}}`)
}

// uncordon uncordons a node or, if none is cordoned, cordons one.
func (c *churn) uncordon(ctx context.Context) (int, error) {
	if len(c.cordoned) == 0 {
		return c.cordon(ctx)
	}
	at := c.random.IntN(len(c.cordoned))
	i := c.cordoned[at]
	c.cordoned = slices.Delete(c.cordoned, at, at+1)
	return 0, c.patchNode(ctx, i, `{"spec":{"unschedulable":null}}`)
}

// moveDoor takes a waiter one step on.
func (c *churn) moveDoor(ctx context.Context) (int, error) {
	return c.advance(ctx, c.waiters[c.random.IntN(len(c.waiters))])
}

// calmDown lets in all pods that wait. Nothing that it leaves keeps a pod from being bound.
func (c *churn) calmDown(ctx context.Context) error {
	for _, w := range c.waiters {
		if w.state != waiting {
			continue
		}
		if _, err := c.advance(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

func (c *churn) patchDeployment(ctx context.Context, name, patch string) error {
	err := workload.Persist(ctx, patience, func() error {
		_, err := c.client.AppsV1().Deployments(namespace).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("patch Deployment %s: %w", name, err)
	}
	return nil
}

// label sets a node's label; the value is JSON.
func (c *churn) label(ctx context.Context, node int, key, value string) error {
	return c.patchNode(ctx, node, fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, key, value))
}

func (c *churn) patchNode(ctx context.Context, node int, patch string) error {
	name := nodeName(node)
	err := workload.Persist(ctx, patience, func() error {
		_, err := c.client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("patch node %s: %w", name, err)
	}
	return nil
}
