// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// app is a Deployment that is scaled and rolled over.
type app struct {
	name           string
	replicas, most int
	served         bool // behind a Service
	options        []workload.PodOption
}

func (a *app) deployment() *appsv1.Deployment {
	return workload.Deployment(a.name, a.replicas, a.options...)
}

// makeApps are of seven sorts, which together want the number of pods asked for.
func makeApps(o options) []*app {
	count := max(10, o.pods/50)
	mean := max(1, o.pods/count)
	apps := make([]*app, count)
	for i := range apps {
		a := &app{replicas: mean, most: 2 * mean}
		requests := workload.Requests("cpu", fmt.Sprintf("%dm", 50+50*(i%7)), "memory", fmt.Sprintf("%dMi", 64+64*(i%5)))
		switch i % 7 {
		case 0:
			a.name, a.served = fmt.Sprintf("web-%d", i), true
		case 1:
			a.name, a.options = fmt.Sprintf("zonal-%d", i), []workload.PodOption{
				workload.Spread(corev1.LabelTopologyZone, corev1.DoNotSchedule),
				workload.Spread(corev1.LabelHostname, corev1.ScheduleAnyway),
			}
		case 2:
			a.name, a.options = fmt.Sprintf("pooled-%d", i), []workload.PodOption{
				workload.RequireNode(poolLabel, poolName(i%pools), poolName((i+1)%pools)),
			}
		case 3:
			a.name, a.options = fmt.Sprintf("apart-%d", i), []workload.PodOption{workload.Apart()}
			// A rolling update takes a quarter more, and some nodes are cordoned.
			a.most = max(1, min(a.most, o.nodes/2))
			a.replicas = min(a.replicas, a.most)
		case 4:
			a.name, a.served = fmt.Sprintf("fond-%d", i), true
			a.options = []workload.PodOption{workload.PreferNode(poolLabel, poolName(i%pools))}
		case 5:
			a.name, a.options = fmt.Sprintf("stored-%d", i), []workload.PodOption{workload.UseEphemeral("data", storageClass, "1Gi")}
		case 6:
			a.name, a.options = fmt.Sprintf("device-%d", i), []workload.PodOption{workload.UseDevices("", deviceTemplate)}
		}
		a.options = append(a.options, requests)
		apps[i] = a
	}
	return apps
}

const (
	waiterPrefix = "waiter-"
	waiterSize   = 5
)

// waits tells by its name whether a pod has to wait until a door opens.
func waits(pod string) bool { return strings.HasPrefix(pod, waiterPrefix) }

// waiter is a Deployment whose pods fit nowhere until a node gets the label of its door.
type waiter struct {
	name   string
	number int
	state  doorState
	node   int // that has the label, if it is open
}

type doorState int

const (
	away    doorState = iota // no pods, no node with the label
	waiting                  // the pods are there
	inside                   // a node has the label
)

func (w *waiter) deployment() *appsv1.Deployment {
	return workload.Deployment(w.name, 0, workload.Requests("cpu", "10m"), workload.NodeSelector(doorLabel, w.door()))
}

func (w *waiter) door() string { return fmt.Sprintf("door-%d", w.number) }

func makeWaiters() []*waiter {
	waiters := make([]*waiter, 4)
	for i := range waiters {
		waiters[i] = &waiter{name: fmt.Sprintf("%s%d", waiterPrefix, i), number: i}
	}
	return waiters
}

// advance takes the waiter one step on: its pods come, its door opens, all is as before.
func (c *churn) advance(ctx context.Context, w *waiter) (int, error) {
	switch w.state {
	case away:
		w.state = waiting
		return waiterSize, c.resize(ctx, w.name, waiterSize)
	case waiting:
		w.node = c.freeNode()
		w.state = inside
		return 0, c.label(ctx, w.node, doorLabel, fmt.Sprintf("%q", w.door()))
	default:
		w.state = away
		if err := c.label(ctx, w.node, doorLabel, "null"); err != nil {
			return 0, err
		}
		return waiterSize, c.resize(ctx, w.name, 0)
	}
}

// freeNode is one on which a door can be opened.
func (c *churn) freeNode() int {
	for {
		if i := c.random.IntN(c.nodes); c.isFree(i) {
			return i
		}
	}
}

// isFree says whether the node is neither cordoned nor has a door.
func (c *churn) isFree(node int) bool {
	return !slices.Contains(c.cordoned, node) && !slices.ContainsFunc(c.waiters, func(w *waiter) bool {
		return w.state == inside && w.node == node
	})
}
