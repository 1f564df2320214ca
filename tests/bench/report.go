// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon/workload"
	"berth.dev/tests/internal/machine"
)

// row is the medians of one scheduler with one kind of pods in one variant.
type row struct {
	Workload         string  `json:"workload"`
	Variant          string  `json:"variant"`
	Scheduler        string  `json:"scheduler"`
	Rounds           int     `json:"rounds"`
	PodsPerSecond    float64 `json:"podsPerSecond"`
	SecondsToFirst   float64 `json:"secondsToFirstBound"`
	SecondsToLast    float64 `json:"secondsToLastBound"`
	SecondsToEvents  float64 `json:"secondsToLastEvent"`
	CPUMicrosPod     float64 `json:"cpuMicrosecondsPerPod"`
	CPUMicrosEvents  float64 `json:"cpuMicrosecondsPerPodUntilLastEvent"`
	APIServerMicros  float64 `json:"apiServerCPUMicrosecondsPerPod"`
	EtcdMicros       float64 `json:"etcdCPUMicrosecondsPerPod"`
	PeakMemory       int64   `json:"peakMemoryBytes"`
	Events           int     `json:"events"`
	Explained        int     `json:"explainedPods,omitempty"`
	Answers          int     `json:"answers,omitempty"`
	LatencyP50Millis float64 `json:"latencyP50Milliseconds,omitempty"`
	LatencyP99Millis float64 `json:"latencyP99Milliseconds,omitempty"`
}

// ratio is the figure of one scheduler divided by that of another: Berth's by its peer's, or that of Berth recording or explaining by that of Berth.
type ratio struct {
	Of              string  `json:"of"`
	To              string  `json:"to"`
	Workload        string  `json:"workload"`
	Variant         string  `json:"variant"`
	SecondsToLast   float64 `json:"secondsToLastBound"`
	SecondsToEvents float64 `json:"secondsToLastEvent"`
	PodsPerSecond   float64 `json:"podsPerSecond"`
	CPUPerPod       float64 `json:"cpuPerPod"`
	CPUUntilEvents  float64 `json:"cpuPerPodUntilLastEvent"`
	PeakMemory      float64 `json:"peakMemory"`
}

// circumstances are under which the measurements were taken.
type circumstances struct {
	Kind       string `json:"kind"` // cluster or start
	Date       string `json:"date"`
	Machine    string `json:"machine"`
	Load       string `json:"loadAverage"` // of the minute before the measurements ended
	Kubernetes string `json:"kubernetes"`
	Nodes      int    `json:"nodes"`
	QPS        int    `json:"qps"`
	Burst      int    `json:"burst"`
}

type report struct {
	circumstances
	Pods   int     `json:"pods"`
	Rows   []row   `json:"rows"`
	Ratios []ratio `json:"ratios,omitempty"`
	// Replays are of the recordings that the measurements left.
	Replays []replayed `json:"replays,omitempty"`
}

func (o options) circumstances(kind string) circumstances {
	return circumstances{
		Kind:       kind,
		Date:       time.Now().Format(time.DateOnly),
		Machine:    machine.Describe(),
		Load:       machine.Load(),
		Kubernetes: programs.KubernetesVersion,
		Nodes:      o.nodes,
		QPS:        o.qps,
		Burst:      o.burst,
	}
}

func (c circumstances) String() string {
	return fmt.Sprintf("%s; Kubernetes %s; %s; load %s\n%d nodes, qps %d, burst %d",
		c.Date, c.Kubernetes, c.Machine, c.Load, c.Nodes, c.QPS, c.Burst)
}

func (o options) report(taken []measurement) report {
	r := report{circumstances: o.circumstances("cluster"), Pods: o.pods}
	of, to := berthName, peerName
	switch {
	case o.record != "":
		of, to = recordingName, berthName
	case o.explaining:
		of, to = explainingName, berthName
	}
	for _, k := range o.kinds {
		for _, variant := range o.variants {
			rows := map[string]row{}
			for _, scheduler := range o.schedulers {
				rows[scheduler] = medians(taken, k.name, variant, scheduler)
				r.Rows = append(r.Rows, rows[scheduler])
			}
			ours, theirs := rows[of], rows[to]
			if ours.Rounds == 0 || theirs.Rounds == 0 {
				continue
			}
			r.Ratios = append(r.Ratios, ratio{
				Of:              of,
				To:              to,
				Workload:        k.name,
				Variant:         variant,
				SecondsToLast:   ours.SecondsToLast / theirs.SecondsToLast,
				SecondsToEvents: ours.SecondsToEvents / theirs.SecondsToEvents,
				PodsPerSecond:   ours.PodsPerSecond / theirs.PodsPerSecond,
				CPUPerPod:       ours.CPUMicrosPod / theirs.CPUMicrosPod,
				CPUUntilEvents:  ours.CPUMicrosEvents / theirs.CPUMicrosEvents,
				PeakMemory:      float64(ours.PeakMemory) / float64(theirs.PeakMemory),
			})
		}
	}
	return r
}

func medians(taken []measurement, kind, variant, scheduler string) row {
	var own []measurement
	for _, m := range taken {
		if m.kind.name == kind && m.variant == variant && m.scheduler == scheduler {
			own = append(own, m)
		}
	}
	latency := func(percent int) float64 {
		return workload.Median(own, func(m measurement) float64 {
			return float64(workload.Percentile(m.latencies, percent).Microseconds()) / 1000
		})
	}
	return row{
		Workload:         kind,
		Variant:          variant,
		Scheduler:        scheduler,
		Rounds:           len(own),
		PodsPerSecond:    workload.Median(own, measurement.rate),
		SecondsToFirst:   workload.Median(own, func(m measurement) float64 { return m.first.Seconds() }),
		SecondsToLast:    workload.Median(own, func(m measurement) float64 { return m.last.Seconds() }),
		SecondsToEvents:  workload.Median(own, func(m measurement) float64 { return m.lastEvent.Seconds() }),
		CPUMicrosPod:     workload.Median(own, func(m measurement) float64 { return m.perPod(m.cpu) }),
		CPUMicrosEvents:  workload.Median(own, func(m measurement) float64 { return m.perPod(m.cpuEvents) }),
		APIServerMicros:  workload.Median(own, func(m measurement) float64 { return m.perPod(m.servers.apiServer) }),
		EtcdMicros:       workload.Median(own, func(m measurement) float64 { return m.perPod(m.servers.etcd) }),
		PeakMemory:       int64(workload.Median(own, func(m measurement) float64 { return float64(m.memory) })),
		Events:           int(workload.Median(own, func(m measurement) float64 { return float64(m.events) })),
		Explained:        int(workload.Median(own, func(m measurement) float64 { return float64(m.explained) })),
		Answers:          int(workload.Median(own, func(m measurement) float64 { return float64(m.answers) })),
		LatencyP50Millis: latency(50),
		LatencyP99Millis: latency(99),
	}
}

func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20)) }

func (r report) writeTable(out io.Writer) error {
	fmt.Fprintf(out, "%s, %d pods\n\n", r.circumstances, r.Pods)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "workload\tpods\tscheduler\tfirst bind\tlast bind\tlast event\tpods/s\tCPU a pod\tto last event\tAPI server\tetcd\tlatency p50\tp99\tmemory\tevents\t")
	for i, row := range r.Rows {
		latencies := "\t"
		if row.LatencyP99Millis > 0 {
			latencies = fmt.Sprintf("%.1f ms\t%.1f ms", row.LatencyP50Millis, row.LatencyP99Millis)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%.2f s\t%.2f s\t%.2f s\t%.0f\t%.0f µs\t%.0f µs\t%.0f µs\t%.0f µs\t%s\t%s\t%d\t\n",
			row.Workload, row.Variant, row.Scheduler, row.SecondsToFirst, row.SecondsToLast, row.SecondsToEvents,
			row.PodsPerSecond, row.CPUMicrosPod, row.CPUMicrosEvents, row.APIServerMicros, row.EtcdMicros, latencies, mebibytes(row.PeakMemory), row.Events)
		if i+1 == len(r.Rows) || r.Rows[i+1].Variant != row.Variant || r.Rows[i+1].Workload != row.Workload {
			r.writeRatio(table, row)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, `
pending: the pods are there before the scheduler starts, whose start counts in its time and CPU.
stream:  they are created while it runs; creating them competes for the same CPUs. 5/s: so many a second.
Seconds count from the start of the process, or from the first pod created; pods/s from the first
bind to the last. CPU is the scheduler's alone, until the last bind and until the last Scheduled
event is stored; with deployments until all pods are Ready as well. That of the API server and etcd is
until the last event, and holds what makes the pods, too. Latency: from a pod's creation
until it is seen bound; with deployments, from when a watch tells of it. Events: one for each pod if
none was dropped. Medians of %d.
`, r.Rows[0].Rounds)
	for _, row := range r.Rows {
		if row.Answers > 0 {
			fmt.Fprintf(out, "%s, %s: %d answers of why pods are pending were given meanwhile, about %d pods each\n",
				row.Workload, row.Variant, row.Answers, row.Explained/row.Answers)
		}
	}
	for _, replay := range r.Replays {
		fmt.Fprintln(out, replay)
	}
	return err
}

func (r report) writeRatio(out io.Writer, row row) {
	for _, ratio := range r.Ratios {
		if ratio.Variant == row.Variant && ratio.Workload == row.Workload {
			fmt.Fprintf(out, "\t\t%s / %s\t\t%.2f x\t%.2f x\t%.3f x\t%.3f x\t%.3f x\t\t\t\t\t%.2f x\t\t\n",
				ratio.Of, ratio.To, ratio.SecondsToLast, ratio.SecondsToEvents, ratio.PodsPerSecond, ratio.CPUPerPod, ratio.CPUUntilEvents,
				ratio.PeakMemory)
		}
	}
}
