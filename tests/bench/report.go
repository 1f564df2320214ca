// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"berth.dev/tests/controlplane"
)

// row is the medians of one scheduler in one variant.
type row struct {
	Variant        string  `json:"variant"`
	Scheduler      string  `json:"scheduler"`
	Rounds         int     `json:"rounds"`
	PodsPerSecond  float64 `json:"podsPerSecond"`
	CPUMicrosPod   float64 `json:"cpuMicrosecondsPerPod"`
	CPUMicrosIdle  float64 `json:"cpuMicrosecondsPerPodUntilIdle"`
	CPUSeconds     float64 `json:"cpuSeconds"`
	FirstBoundSecs float64 `json:"secondsToFirstBound"`
	PeakMemory     int64   `json:"peakMemoryBytes"`
	Events         int     `json:"events"`
}

// ratio is Berth's figure divided by its peer's.
type ratio struct {
	Variant       string  `json:"variant"`
	PodsPerSecond float64 `json:"podsPerSecond"`
	CPUPerPod     float64 `json:"cpuPerPod"`
	CPUUntilIdle  float64 `json:"cpuPerPodUntilIdle"`
	PeakMemory    float64 `json:"peakMemory"`
}

type report struct {
	Date       string  `json:"date"`
	Machine    string  `json:"machine"`
	Load       string  `json:"loadAverage"` // of the minute before the measurements ended
	Kubernetes string  `json:"kubernetes"`
	Nodes      int     `json:"nodes"`
	Pods       int     `json:"pods"`
	QPS        int     `json:"qps"`
	Burst      int     `json:"burst"`
	Rows       []row   `json:"rows"`
	Ratios     []ratio `json:"ratios,omitempty"`
}

func (b *bench) report() report {
	r := report{
		Date:       time.Now().Format(time.DateOnly),
		Machine:    machine(),
		Load:       load(),
		Kubernetes: controlplane.KubernetesVersion,
		Nodes:      b.nodes,
		Pods:       b.pods,
		QPS:        b.qps,
		Burst:      b.burst,
	}
	for _, variant := range b.variants {
		rows := map[string]row{}
		for _, scheduler := range b.schedulers {
			rows[scheduler] = b.medians(variant, scheduler)
			r.Rows = append(r.Rows, rows[scheduler])
		}
		ours, theirs := rows[berthName], rows[peerName]
		if ours.Rounds > 0 && theirs.Rounds > 0 {
			r.Ratios = append(r.Ratios, ratio{
				Variant:       variant,
				PodsPerSecond: ours.PodsPerSecond / theirs.PodsPerSecond,
				CPUPerPod:     ours.CPUMicrosPod / theirs.CPUMicrosPod,
				CPUUntilIdle:  ours.CPUMicrosIdle / theirs.CPUMicrosIdle,
				PeakMemory:    float64(ours.PeakMemory) / float64(theirs.PeakMemory),
			})
		}
	}
	return r
}

func (b *bench) medians(variant, scheduler string) row {
	var own []measurement
	for _, m := range b.taken {
		if m.variant == variant && m.scheduler == scheduler {
			own = append(own, m)
		}
	}
	median := func(value func(measurement) float64) float64 {
		values := make([]float64, len(own))
		for i, m := range own {
			values[i] = value(m)
		}
		slices.Sort(values)
		middle := len(values) / 2
		if len(values)%2 == 1 {
			return values[middle]
		}
		return (values[middle-1] + values[middle]) / 2
	}
	return row{
		Variant:        variant,
		Scheduler:      scheduler,
		Rounds:         len(own),
		PodsPerSecond:  median(measurement.rate),
		CPUMicrosPod:   median(measurement.cpuPerPod),
		CPUMicrosIdle:  median(measurement.allPerPod),
		CPUSeconds:     median(func(m measurement) float64 { return m.cpu.Seconds() }),
		FirstBoundSecs: median(func(m measurement) float64 { return m.first.Seconds() }),
		PeakMemory:     int64(median(func(m measurement) float64 { return float64(m.memory) })),
		Events:         int(median(func(m measurement) float64 { return float64(m.events) })),
	}
}

func (r report) writeJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

func (r report) writeTable(out io.Writer) error {
	fmt.Fprintf(out, "%s; Kubernetes %s; %d nodes, %d plain pods, qps %d, burst %d\n", r.Date, r.Kubernetes,
		r.Nodes, r.Pods, r.QPS, r.Burst)
	fmt.Fprintf(out, "%s; load %s\n\n", r.Machine, r.Load)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "pods\tscheduler\tpods/s\tCPU a pod\tuntil idle\tCPU in all\tfirst bound\tmemory\tevents\t")
	for i, row := range r.Rows {
		fmt.Fprintf(table, "%s\t%s\t%.0f\t%.0f µs\t%.0f µs\t%.2f s\t%.2f s\t%.0f MiB\t%d\t\n", row.Variant, row.Scheduler,
			row.PodsPerSecond, row.CPUMicrosPod, row.CPUMicrosIdle, row.CPUSeconds, row.FirstBoundSecs, float64(row.PeakMemory)/(1<<20), row.Events)
		if last := i+1 == len(r.Rows) || r.Rows[i+1].Variant != row.Variant; last {
			r.writeRatio(table, row.Variant)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, `
pending: the pods are there before the scheduler starts, whose start counts in its CPU time.
stream:  they are created while it runs; creating them competes for the same CPUs.
pods/s from the first bound pod to the last; CPU is the scheduler's alone, until the last pod is
bound, and until it has nothing left to do, such as events to write; events are those of reason
Scheduled in the end, one for each pod if none was dropped. Medians of %d.
`, r.Rows[0].Rounds)
	return err
}

func (r report) writeRatio(out io.Writer, variant string) {
	for _, ratio := range r.Ratios {
		if ratio.Variant == variant {
			fmt.Fprintf(out, "\tberth / kube-scheduler\t%.2f x\t%.3f x\t%.3f x\t\t\t%.2f x\t\t\n",
				ratio.PodsPerSecond, ratio.CPUPerPod, ratio.CPUUntilIdle, ratio.PeakMemory)
		}
	}
}
