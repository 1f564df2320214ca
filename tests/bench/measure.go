// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
	"berth.dev/tests/internal/machine"
	"berth.dev/tests/internal/progress"
)

const (
	peerName  = "kube-scheduler"
	berthName = "berth"
	// recordingName is Berth with --record.
	recordingName = "berth --record"
	// explainingName is Berth that is asked again and again why pods are pending.
	explainingName = "berth, explaining"

	// pending pods are there before the scheduler starts; its CPU time counts from its start.
	pending = "pending"
	// stream is pods that are created while the scheduler runs, as fast as the API server takes them.
	stream = "stream"
	// perSecond ends the name of a variant that creates so many pods a second, evenly: "5/s".
	perSecond = "/s"

	namespace = "bench"
	// measureLimit is how long one measurement may take.
	measureLimit = 10 * time.Minute
)

// measurement is one crowd of pods placed by one scheduler. Times count from its begin: the daemon's
// start, or the first pod's creation.
type measurement struct {
	scheduler, variant string
	kind               kind

	wall      time.Duration // from the first pod seen bound to the last
	first     time.Duration // to the first pod bound
	last      time.Duration // to the last
	lastEvent time.Duration // to the last Scheduled event stored
	cpu       time.Duration // user and system, to the last pod bound
	cpuEvents time.Duration // the same, to the last event stored; of Deployments, until all pods are Ready too
	servers   serversCPU    // that the API server and etcd used, to the last event stored
	bound     int
	memory    int64 // greatest resident set in bytes
	events    int   // Scheduled events in the end, of which there should be one for each pod
	// Of each pod, from its creation until it was seen bound; of Deployments' pods, from when a watch
	// told of it. Ascending.
	latencies []time.Duration
	// How many pods were explained meanwhile, by how many answers.
	explained, answers int
}

func (m measurement) rate() float64 { return float64(m.bound-1) / m.wall.Seconds() }

func (m measurement) perPod(cpu time.Duration) float64 {
	return float64(cpu.Microseconds()) / float64(m.bound)
}

type bench struct {
	options
	control *controlplane.ControlPlane
	admin   kubernetes.Interface
	dir     string
	bar     *progress.Line
	taken   []measurement
	starts  []startMeasurement
	// hasCSINodes, hasVolumes, hasClass, hasDevices: these are made, and stay.
	hasCSINodes, hasVolumes, hasClass, hasDevices bool
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
	if c.HasControllers() {
		if err := workload.AwaitServiceAccount(ctx, b.admin, namespace); err != nil {
			return nil, err
		}
	}
	nodes := make([]*corev1.Node, o.nodes)
	for i := range nodes {
		nodes[i] = workload.Node(fmt.Sprintf("node-%d", i),
			workload.NodeLabel(corev1.LabelTopologyZone, fmt.Sprintf("zone-%d", i%3)),
			workload.Allocatable("cpu", "32", "memory", "256Gi", "pods", "110"))
	}
	b.bar.Say("creating %d nodes", o.nodes)
	if err := workload.CreateNodes(ctx, b.admin, nodes...); err != nil || !o.explaining {
		return b, err
	}
	return b, b.createWaiting(ctx)
}

func (b *bench) close() {
	b.bar.Clear()
	_ = os.RemoveAll(b.dir)
}

// measureAll lets the schedulers take turns, so that what drifts in the machine hits them alike.
func (b *bench) measureAll(ctx context.Context, schedulers []daemon.Program) error {
	for round := range b.rounds {
		for _, k := range b.kinds {
			for _, variant := range b.variants {
				for _, program := range schedulers {
					title := fmt.Sprintf("round %d/%d, %s, %s, %s", round+1, b.rounds, k.name, variant, program.Name)
					m, err := b.measure(ctx, title, program, k, variant)
					if err != nil {
						return fmt.Errorf("%s: %w", title, err)
					}
					b.taken = append(b.taken, m)
				}
			}
		}
	}
	return nil
}

func (b *bench) measure(ctx context.Context, title string, program daemon.Program, k kind, variant string) (m measurement, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, measureLimit, fmt.Errorf("not done within %s", measureLimit))
	defer cancel()
	track := workload.TrackBound
	if k.ofDeployments || k.withDevices {
		track = workload.Track // what controllers do is seen by a watch alone
	}
	tracker, err := track(ctx, b.admin, namespace)
	if err != nil {
		return m, err
	}
	defer tracker.Stop()
	crowd := crowd{kind: k, created: make([]time.Time, b.pods)}
	if k.withVolumes {
		if err := b.createVolumes(ctx, crowd); err != nil {
			return m, err
		}
	}
	if k.provisioned {
		ctx, err = b.provision(ctx, crowd)
		if err != nil {
			return m, err
		}
	}
	if k.withDevices {
		if err := b.prepareDevices(ctx); err != nil {
			return m, err
		}
	}
	if variant == pending {
		b.bar.Say("%s: creating pods", title)
		if err := b.create(ctx, crowd, variant); err != nil {
			return m, err
		}
		if k.ofDeployments {
			all := func(pods map[string]*corev1.Pod) bool { return len(pods) == b.pods }
			if err := tracker.Await(ctx, "the Deployments' pods", all); err != nil {
				return m, err
			}
		}
		if k.withDevices {
			made := func(pods map[string]*corev1.Pod) bool { return haveClaims(pods, b.pods) }
			if err := tracker.Await(ctx, "the pods' claims", made); err != nil {
				return m, err
			}
		}
	}
	events, err := watchScheduled(ctx, b.admin)
	if err != nil {
		return m, err
	}
	defer events.stop()
	d, err := b.start(program)
	if err != nil {
		return m, err
	}
	defer d.Kill()
	var asking *explainer
	begin, used, extra := d.Started, time.Duration(0), 0
	serversBefore, err := b.serversCPU()
	if err != nil {
		return m, err
	}
	if variant != pending {
		extra = 1
		if err := b.awaitReady(ctx, d, tracker); err != nil {
			return m, err
		}
		if b.explaining {
			if err := d.await(ctx, d.rest); err != nil {
				return m, err
			}
		}
		if program.Name == explainingName {
			if asking, err = b.explain(ctx, d); err != nil {
				return m, err
			}
			defer func() { _, _, _ = asking.stop() }()
		}
		if used, err = d.CPUTime(); err != nil {
			return m, err
		}
		if serversBefore, err = b.serversCPU(); err != nil {
			return m, err
		}
		begin = time.Now()
	}
	stopBar := b.bar.Follow(title, b.pods, func() (int, string) { return tracker.Bound() - extra, "" })
	if variant != pending {
		err = b.create(ctx, crowd, variant)
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
	explained, answers := 0, 0
	if asking != nil {
		if explained, answers, err = asking.stop(); err != nil {
			return m, err
		}
	}
	cpuEvents, err := b.awaitEvents(ctx, d, events, b.pods+extra)
	if err != nil {
		return m, err
	}
	if k.ofDeployments {
		if err := d.await(ctx, b.awaitAvailable); err != nil {
			return m, err
		}
		if cpuEvents, err = d.CPUTime(); err != nil {
			return m, err
		}
	}
	servers, err := b.serversCPU()
	if err != nil {
		return m, err
	}
	stored, lastEvent := events.count()
	times := tracker.BoundTimes()[extra:]
	m = measurement{
		scheduler: program.Name,
		variant:   variant,
		kind:      k,
		wall:      times[len(times)-1].Sub(times[0]),
		first:     times[0].Sub(begin),
		last:      times[len(times)-1].Sub(begin),
		lastEvent: lastEvent.Sub(begin),
		cpu:       total - used,
		cpuEvents: max(cpuEvents, total) - used,
		servers:   servers.since(serversBefore),
		bound:     len(times),
		memory:    machine.PeakMemory(d.PID()),
		events:    max(stored-extra, 0),

		explained: explained, answers: answers,
	}
	if variant != pending {
		m.latencies = crowd.latencies(tracker, begin)
	}
	if err := d.Stop(); err != nil {
		return m, err
	}
	b.bar.Say("%s: cleaning up", title)
	if k.ofDeployments {
		if err := b.deleteDeployments(ctx); err != nil {
			return m, err
		}
	}
	if err := b.cleanUp(ctx); err != nil {
		return m, err
	}
	switch {
	case k.provisioned:
		return m, b.deleteProvisioned(ctx)
	case k.withDevices:
		return m, b.cleanUpDevices(ctx)
	}
	return m, nil
}

// awaitReady lets one pod show that the daemon schedules.
func (b *bench) awaitReady(ctx context.Context, d process, tracker *workload.Tracker) error {
	err := workload.CreatePods(ctx, b.admin, namespace, 1, func(int) *corev1.Pod { return kinds[0].pod("first") })
	if err != nil {
		return err
	}
	return d.await(ctx, func(ctx context.Context) error { return tracker.AwaitBound(ctx, 1) })
}

// awaitEvents waits until so many Scheduled events are stored, or the process rests and no more
// come. It returns the CPU time that the process had used when the last one came.
func (b *bench) awaitEvents(ctx context.Context, p process, events *scheduledEvents, wanted int) (used time.Duration, err error) {
	const interval, patience, rest = 50 * time.Millisecond, 60, 30 * time.Millisecond
	var before time.Duration
	for seen, idle := -1, 0; ; {
		now, err := p.CPUTime()
		if err != nil {
			return 0, err
		}
		count, _ := events.count()
		switch {
		case count != seen:
			seen, idle, used, before = count, 0, now, now
		case now-before > rest:
			idle, before = 0, now
		default:
			idle++
		}
		if count >= wanted {
			return used, nil
		}
		if idle > patience {
			return used, nil
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// cleanUp deletes the pods and the events.
func (b *bench) cleanUp(ctx context.Context) error {
	events := b.admin.EventsV1().Events(namespace)
	if err := events.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("delete the events: %w", err)
	}
	return workload.DeletePods(ctx, b.admin, namespace)
}

// serversCPU is the user and system time of the processes that do what a scheduler asks for.
type serversCPU struct{ apiServer, etcd time.Duration }

func (s serversCPU) since(before serversCPU) serversCPU {
	return serversCPU{apiServer: s.apiServer - before.apiServer, etcd: s.etcd - before.etcd}
}

func (b *bench) serversCPU() (used serversCPU, err error) {
	for program, time := range map[string]*time.Duration{programs.APIServer: &used.apiServer, programs.Etcd: &used.etcd} {
		process := b.control.Process(program)
		if process == nil {
			return used, fmt.Errorf("%s does not run", program)
		}
		if *time, err = process.CPUTime(); err != nil {
			return used, err
		}
	}
	return used, nil
}

// process is a daemon whose end is an error while something is awaited from it.
type process struct {
	*daemon.Daemon
	port int // where it answers; 0: nowhere
}

func (b *bench) start(program daemon.Program) (process, error) {
	user := controlplane.Berth
	if program.Peer {
		user = controlplane.KubeScheduler
	}
	var args []string
	var port int
	switch {
	case program.Name == recordingName:
		args = []string{"--record=" + b.record}
	case b.explaining:
		var err error
		if port, args, err = b.served(); err != nil {
			return process{}, err
		}
	}
	d, err := daemon.Start(program, daemon.Options{
		Config:     fmt.Sprintf("clientConnection: {qps: %d, burst: %d}", b.qps, b.burst),
		Args:       args,
		Name:       strings.NewReplacer(" ", "", ",", "-").Replace(program.Name),
		Kubeconfig: b.control.Kubeconfig(user),
		Dir:        b.dir,
		Quiet:      true,
	})
	return process{d, port}, err
}

// rest waits until the process has next to nothing to do: it has told of the pods that wait.
func (p process) rest(ctx context.Context) error {
	const interval, little = 500 * time.Millisecond, 10 * time.Millisecond
	before := -time.Second
	for {
		now, err := p.CPUTime()
		if err != nil || now-before < little {
			return err
		}
		before = now
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
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

// crowd is the pods of one measurement.
type crowd struct {
	kind    kind
	created []time.Time // when each was sent
}

func (c crowd) name(i int) string { return fmt.Sprintf("pod-%d", i) }

// latencies are those of pods created after the begin.
func (c crowd) latencies(tracker *workload.Tracker, begin time.Time) []time.Duration {
	if c.kind.ofDeployments {
		return tracker.Latencies(begin, func(string) bool { return true })
	}
	all := make([]time.Duration, len(c.created))
	for i, created := range c.created {
		all[i] = tracker.BoundAt(c.name(i)).Sub(created)
	}
	slices.Sort(all)
	return all
}

// rateOf is how many pods a second are created in a variant; 0: as fast as the API server takes them.
// An error, where there is no such variant.
func rateOf(variant string) (int, error) {
	if variant == pending || variant == stream {
		return 0, nil
	}
	number, ok := strings.CutSuffix(variant, perSecond)
	rate, err := strconv.Atoi(number)
	if !ok || err != nil || rate < 1 {
		return 0, fmt.Errorf("--variants: %q is neither %s, %s nor a rate such as 5%s", variant, pending, stream, perSecond)
	}
	return rate, nil
}

func (b *bench) create(ctx context.Context, c crowd, variant string) error {
	if c.kind.ofDeployments {
		return b.createDeployments(ctx, c.kind, len(c.created))
	}
	rate, err := rateOf(variant)
	if err != nil {
		return err
	}
	begin := time.Now()
	return workload.Each(ctx, len(c.created), func(ctx context.Context, i int) error {
		if rate > 0 {
			due := begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
			select {
			case <-time.After(time.Until(due)):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		c.created[i] = time.Now()
		return workload.CreatePod(ctx, b.admin, namespace, c.kind.pod(c.name(i)))
	})
}
