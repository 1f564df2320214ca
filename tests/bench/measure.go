// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/daemon"
	"berth.dev/tests/daemon/workload"
	"berth.dev/tests/progress"
)

const (
	peerName  = "kube-scheduler"
	berthName = "berth"

	// pending pods are there before the scheduler starts; its CPU time counts from its start.
	pending = "pending"
	// stream is pods that are created while the scheduler runs.
	stream = "stream"

	namespace = "bench"
	// measureLimit is how long one measurement may take.
	measureLimit = 10 * time.Minute
)

// measurement is one crowd of pods placed by one scheduler.
type measurement struct {
	scheduler, variant string

	wall   time.Duration // from the first pod seen bound to the last
	bound  int           // pods bound within it
	first  time.Duration // from the begin (the daemon's start or the first pod) to the first bound
	cpu    time.Duration // user and system, from the begin to the last pod bound
	later  time.Duration // the same, to the end of what comes after: events and confirmations
	pods   int           // that took that time
	memory int64         // greatest resident set in bytes
	events int           // Scheduled events in the end, of which there should be one for each pod
}

func (m measurement) rate() float64      { return float64(m.bound-1) / m.wall.Seconds() }
func (m measurement) cpuPerPod() float64 { return float64(m.cpu.Microseconds()) / float64(m.pods) }
func (m measurement) allPerPod() float64 { return float64(m.later.Microseconds()) / float64(m.pods) }

type bench struct {
	options
	control *controlplane.ControlPlane
	admin   kubernetes.Interface
	dir     string
	bar     *progress.Line
	taken   []measurement
}

func newBench(ctx context.Context, o options, c *controlplane.ControlPlane) (*bench, error) {
	dir, err := os.MkdirTemp("", "berth-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, control: c, admin: c.Client(controlplane.Admin), dir: dir, bar: progress.New(os.Stderr)}
	if err := workload.CreateNamespace(ctx, b.admin, namespace); err != nil {
		return nil, err
	}
	nodes := make([]*corev1.Node, o.nodes)
	for i := range nodes {
		nodes[i] = workload.Node(fmt.Sprintf("node-%d", i),
			workload.NodeLabel(corev1.LabelTopologyZone, fmt.Sprintf("zone-%d", i%3)),
			workload.Allocatable("cpu", "32", "memory", "256Gi", "pods", "110"))
	}
	b.bar.Say("creating %d nodes", o.nodes)
	return b, workload.CreateNodes(ctx, b.admin, nodes...)
}

func (b *bench) close() {
	b.bar.Clear()
	_ = os.RemoveAll(b.dir)
}

// measureAll lets the schedulers take turns, so that what drifts in the machine hits them alike.
func (b *bench) measureAll(ctx context.Context, programs []daemon.Program) error {
	for round := range b.rounds {
		for _, variant := range b.variants {
			for _, program := range programs {
				title := fmt.Sprintf("round %d/%d, %s, %s", round+1, b.rounds, variant, program.Name)
				m, err := b.measure(ctx, title, program, variant)
				if err != nil {
					return fmt.Errorf("%s: %w", title, err)
				}
				b.taken = append(b.taken, m)
			}
		}
	}
	return nil
}

func (b *bench) measure(ctx context.Context, title string, program daemon.Program, variant string) (m measurement, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, measureLimit, fmt.Errorf("not done within %s", measureLimit))
	defer cancel()
	tracker, err := workload.TrackBound(ctx, b.admin, namespace)
	if err != nil {
		return m, err
	}
	defer tracker.Stop()
	if variant == pending {
		b.bar.Say("%s: creating pods", title)
		if err := b.createPods(ctx); err != nil {
			return m, err
		}
	}
	d, err := b.start(program)
	if err != nil {
		return m, err
	}
	defer d.Kill()
	begin, used, extra := d.Started, time.Duration(0), 0
	if variant == stream {
		// One pod shows that it is ready.
		extra = 1
		if err := b.createPod(ctx, "first"); err != nil {
			return m, err
		}
		if err := d.await(ctx, func(ctx context.Context) error { return tracker.AwaitBound(ctx, 1) }); err != nil {
			return m, err
		}
		if used, err = d.CPUTime(); err != nil {
			return m, err
		}
		begin = time.Now()
	}
	stopBar := b.bar.Follow(title, b.pods, func() (int, string) { return tracker.Bound() - extra, "" })
	if variant == stream {
		err = b.createPods(ctx)
	}
	if err == nil {
		err = d.await(ctx, func(ctx context.Context) error { return tracker.AwaitBound(ctx, b.pods+extra) })
	}
	stopBar()
	if err != nil {
		return m, err
	}
	total, err := d.CPUTime()
	if err != nil {
		return m, err
	}
	settled, events, err := b.settle(ctx, d)
	if err != nil {
		return m, err
	}
	times := tracker.BoundTimes()[extra:]
	m = measurement{
		scheduler: program.Name,
		variant:   variant,
		wall:      times[len(times)-1].Sub(times[0]),
		bound:     len(times),
		first:     times[0].Sub(begin),
		cpu:       total - used,
		later:     settled - used,
		pods:      len(times),
		memory:    peakMemory(d.PID()),
		events:    max(events-extra, 0),
	}
	if err := d.Stop(); err != nil {
		return m, err
	}
	b.bar.Say("%s: cleaning up", title)
	return m, b.cleanUp(ctx)
}

// cleanUp deletes the pods and the events.
func (b *bench) cleanUp(ctx context.Context) error {
	events := b.admin.EventsV1().Events(namespace)
	if err := events.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("delete the events: %w", err)
	}
	return workload.DeletePods(ctx, b.admin, namespace)
}

// process is a daemon whose end is an error while something is awaited from it.
type process struct{ *daemon.Daemon }

func (b *bench) start(program daemon.Program) (process, error) {
	user := controlplane.Berth
	if program.Peer {
		user = controlplane.KubeScheduler
	}
	d, err := daemon.Start(program, daemon.Options{
		Config:     fmt.Sprintf("clientConnection: {qps: %d, burst: %d}", b.qps, b.burst),
		Kubeconfig: b.control.Kubeconfig(user),
		Dir:        b.dir,
		Quiet:      true,
	})
	return process{d}, err
}

func (p process) await(ctx context.Context, wait func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.Exited():
			cancel(errors.New("the scheduler ended"))
		case <-ctx.Done():
		}
	}()
	if err := wait(ctx); err != nil {
		return fmt.Errorf("%w\n%s", err, p.Tail())
	}
	return nil
}

// settle waits until the process has nothing left to do: it rests, and no more events come. It
// returns the CPU time that it has used then, and how many pods have their event Scheduled.
func (b *bench) settle(ctx context.Context, p process) (used time.Duration, events int, err error) {
	const interval, rest = time.Second, 30 * time.Millisecond
	for lastUsed, lastEvents := time.Duration(0), -1; ; lastUsed, lastEvents = used, events {
		if used, err = p.CPUTime(); err != nil {
			return 0, 0, err
		}
		if events, err = b.countEvents(ctx); err != nil {
			return 0, 0, err
		}
		if used-lastUsed <= rest && events == lastEvents {
			return used, events, nil
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return 0, 0, context.Cause(ctx)
		}
	}
}

func (b *bench) countEvents(ctx context.Context) (int, error) {
	list, err := b.admin.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=Scheduled"})
	if err != nil {
		return 0, fmt.Errorf("count the events: %w", err)
	}
	return len(list.Items), nil
}

func (b *bench) createPod(ctx context.Context, name string) error {
	return workload.CreatePods(ctx, b.admin, namespace, 1, func(int) *corev1.Pod { return plainPod(name) })
}

func (b *bench) createPods(ctx context.Context) error {
	return workload.CreatePods(ctx, b.admin, namespace, b.pods, func(i int) *corev1.Pod {
		return plainPod(fmt.Sprintf("pod-%d", i))
	})
}

func plainPod(name string) *corev1.Pod {
	return workload.Pod(name, workload.Requests("cpu", "100m", "memory", "128Mi"))
}
