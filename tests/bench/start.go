// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
	"berth.dev/tests/internal/machine"
)

const (
	boundNamespace = "bound"
	// createLimit is how long it may take to create the pods that are there.
	createLimit = 30 * time.Minute
)

// startMeasurement is one start of one scheduler: a pod waits for it.
type startMeasurement struct {
	scheduler string
	first     time.Duration // from the start of the process until the pod was seen bound
	cpu       time.Duration // used until then
	resident  int64         // bytes, then
	peak      int64
}

// measureStarts lets each scheduler start among many bound pods.
func (b *bench) measureStarts(ctx context.Context, programs []daemon.Program) error {
	if err := b.createBound(ctx); err != nil {
		return err
	}
	for round := range b.rounds {
		for _, program := range programs {
			b.bar.Say("round %d/%d, start of %s", round+1, b.rounds, program.Name)
			m, err := b.measureStart(ctx, program)
			if err != nil {
				return fmt.Errorf("start of %s: %w", program.Name, err)
			}
			b.starts = append(b.starts, m)
		}
	}
	return nil
}

func (b *bench) createBound(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, createLimit, fmt.Errorf("not done within %s", createLimit))
	defer cancel()
	if err := workload.CreateNamespace(ctx, b.admin, boundNamespace); err != nil {
		return err
	}
	b.bar.Say("creating %d bound pods", b.bound)
	return workload.CreatePods(ctx, b.admin, boundNamespace, b.bound, func(i int) *corev1.Pod {
		pod := kinds[0].pod(fmt.Sprintf("bound-%d", i))
		pod.Spec.NodeName = fmt.Sprintf("node-%d", i%b.nodes)
		return pod
	})
}

func (b *bench) measureStart(ctx context.Context, program daemon.Program) (m startMeasurement, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, measureLimit, fmt.Errorf("not done within %s", measureLimit))
	defer cancel()
	tracker, err := workload.TrackBound(ctx, b.admin, namespace)
	if err != nil {
		return m, err
	}
	defer tracker.Stop()
	const waiting = "first"
	err = workload.CreatePods(ctx, b.admin, namespace, 1, func(int) *corev1.Pod { return kinds[0].pod(waiting) })
	if err != nil {
		return m, err
	}
	d, err := b.start(program)
	if err != nil {
		return m, err
	}
	defer d.Kill()
	if err := d.await(ctx, func(ctx context.Context) error { return tracker.AwaitBound(ctx, 1) }); err != nil {
		return m, err
	}
	used, err := d.CPUTime()
	if err != nil {
		return m, err
	}
	m = startMeasurement{
		scheduler: program.Name,
		first:     tracker.BoundAt(waiting).Sub(d.Started),
		cpu:       used,
		resident:  machine.ResidentMemory(d.PID()),
		peak:      machine.PeakMemory(d.PID()),
	}
	if err := d.Stop(); err != nil {
		return m, err
	}
	return m, b.cleanUp(ctx)
}

// startRow is the medians of one scheduler's starts.
type startRow struct {
	Scheduler       string  `json:"scheduler"`
	Rounds          int     `json:"rounds"`
	SecondsToBind   float64 `json:"secondsToFirstBound"`
	CPUSeconds      float64 `json:"cpuSeconds"`
	ResidentMemory  int64   `json:"residentMemoryBytes"`
	PeakMemoryBytes int64   `json:"peakMemoryBytes"`
}

type startReport struct {
	circumstances
	Bound int        `json:"boundPods"`
	Rows  []startRow `json:"rows"`
}

func (b *bench) startReport() startReport {
	r := startReport{circumstances: b.circumstances("start"), Bound: b.bound}
	for _, scheduler := range b.schedulers {
		var own []startMeasurement
		for _, m := range b.starts {
			if m.scheduler == scheduler {
				own = append(own, m)
			}
		}
		r.Rows = append(r.Rows, startRow{
			Scheduler:       scheduler,
			Rounds:          len(own),
			SecondsToBind:   workload.Median(own, func(m startMeasurement) float64 { return m.first.Seconds() }),
			CPUSeconds:      workload.Median(own, func(m startMeasurement) float64 { return m.cpu.Seconds() }),
			ResidentMemory:  int64(workload.Median(own, func(m startMeasurement) float64 { return float64(m.resident) })),
			PeakMemoryBytes: int64(workload.Median(own, func(m startMeasurement) float64 { return float64(m.peak) })),
		})
	}
	return r
}

func (r startReport) writeTable(out io.Writer) error {
	fmt.Fprintf(out, "%s; %d bound pods\n\n", r.circumstances, r.Bound)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "scheduler\tfirst bound\tCPU\tmemory\tpeak\t")
	for _, row := range r.Rows {
		fmt.Fprintf(table, "%s\t%.2f s\t%.2f s\t%s\t%s\t\n", row.Scheduler, row.SecondsToBind, row.CPUSeconds,
			mebibytes(row.ResidentMemory), mebibytes(row.PeakMemoryBytes))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, `
first bound: from the start of the process until a pod that waited for it was seen bound; CPU and
memory are those of the scheduler then. Medians of %d.
`, r.Rows[0].Rounds)
	return err
}
