// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// engineRow is a line of engine.json: the machine, a workload or a figure of a story.
type engineRow struct {
	Kind, Date, Machine string

	Workload           string
	Size               string
	Threshold          float64
	Nodes, Pods        int
	PodsPerSecond      float64
	ThreadPerSecond    float64 `json:"podsPerSecondOfThread"`
	DecisionsPerSecond float64
	P50                float64 `json:"decisionP50Microseconds"`
	P99                float64 `json:"decisionP99Microseconds"`
	BytesPerNode       float64
	BytesPerPod        float64
	Plain              *engineRow // the slow twin
	Beside             *engineRow // the peer, with what one of the workload's pods costs in its pods
	Cost, CostsAtMost  float64

	What, Unit string
	Value      float64
}

type circumstances struct {
	Date, Machine, Kubernetes string
	Load                      string `json:"loadAverage"`
	Nodes, QPS                int
}

func (c circumstances) String() string {
	load := ""
	if c.Load != "" {
		load = ", load " + c.Load
	}
	return fmt.Sprintf("%s, %s%s, Kubernetes %s, %d nodes, qps %d", c.Date, c.Machine, load, c.Kubernetes, c.Nodes, c.QPS)
}

type clusterRow struct {
	Workload, Variant, Scheduler string
	Rounds                       int
	PodsPerSecond                float64
	SecondsToLast                float64 `json:"secondsToLastBound"`
	SecondsToEvents              float64 `json:"secondsToLastEvent"`
	CPU                          float64 `json:"cpuMicrosecondsPerPod"`
	CPUEvents                    float64 `json:"cpuMicrosecondsPerPodUntilLastEvent"`
	APIServerCPU                 float64 `json:"apiServerCPUMicrosecondsPerPod"`
	EtcdCPU                      float64 `json:"etcdCPUMicrosecondsPerPod"`
	PeakMemory                   float64 `json:"peakMemoryBytes"`
	LatencyP50                   float64 `json:"latencyP50Milliseconds"`
	LatencyP99                   float64 `json:"latencyP99Milliseconds"`
}

type startRow struct {
	Scheduler string
	Seconds   float64 `json:"secondsToFirstBound"`
	CPU       float64 `json:"cpuSeconds"`
	Resident  float64 `json:"residentMemoryBytes"`
}

// clusterRun is what one run of `./dev bench cluster` left.
type clusterRun struct {
	circumstances
	Pods int
	Rows []clusterRow
}

// scaleRow is one cluster of `./dev bench scale`.
type scaleRow struct {
	Nodes, Pods float64
	CPU         float64 `json:"cpuSeconds"`
	CPUPod      float64 `json:"cpuMicrosecondsPerPod"`
	PeakMemory  float64 `json:"peakMemoryBytes"`
}

// figures are all that was measured.
type figures struct {
	machine engineRow // of the engine's benchmark
	engine  []engineRow
	cluster clusterRun
	// claims are the workloads whose pods have claims of devices, on fewer nodes.
	claims clusterRun
	// latency is of pods that come at a rate that leaves the machine time.
	latency clusterRun
	// wide is of as many nodes as the machine bears.
	wide  clusterRun
	start struct {
		circumstances
		BoundPods int
		Rows      []startRow
	}
	scale struct {
		Date, Machine string
		Rows          []scaleRow
	}
}

func (f *figures) readEngine(file string) error {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for decoder.More() {
		var row engineRow
		if err := decoder.Decode(&row); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		switch {
		case row.Kind != "":
			f.machine = row
		case row.What == "":
			f.engine = append(f.engine, row)
		}
	}
	return nil
}

func (f *figures) engineTable() string {
	if len(f.engine) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %s.\n\n", f.machine.Date, f.machine.Machine)
	out.WriteString("| workload | size | pods/s | scheduling thread | decisions/s | p50 | p99 | plain | upstream asks |\n")
	out.WriteString("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, row := range f.engine {
		plain, asked := "", ""
		if row.Plain != nil {
			plain = thousands(row.Plain.DecisionsPerSecond)
		}
		if row.Threshold > 0 {
			asked = thousands(row.Threshold)
		}
		thread, decisions := "", ""
		if row.DecisionsPerSecond > 0 {
			thread, decisions = thousands(row.ThreadPerSecond), thousands(row.DecisionsPerSecond)
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", row.Workload, row.Size, thousands(row.PodsPerSecond),
			thread, decisions, ifMeasured("%.1f µs", row.P50), ifMeasured("%.1f µs", row.P99), plain, asked)
	}
	out.WriteString(f.slowerThanPlain())
	out.WriteString(f.besidePeers())
	return out.String()
}

// besidePeers tells what a pod costs in pods of another workload that ran in turn with its own.
func (f *figures) besidePeers() string {
	var out strings.Builder
	for _, row := range f.engine {
		peer := row.Beside
		if peer == nil {
			continue
		}
		if out.Len() == 0 {
			out.WriteString("\n| workload | size | in turn with | its pods/s | a pod costs | at most |\n")
			out.WriteString("| --- | --- | --- | ---: | ---: | ---: |\n")
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %.2f times | %g |\n", row.Workload, row.Size, peer.Workload,
			thousands(peer.PodsPerSecond), peer.Cost, peer.CostsAtMost)
	}
	return out.String()
}

// slowerThanPlain names the workloads in which what is kept between decisions costs more than it saves.
func (f *figures) slowerThanPlain() string {
	var slower []string
	for _, row := range f.engine {
		if row.Plain != nil && row.DecisionsPerSecond < row.Plain.DecisionsPerSecond {
			slower = append(slower, fmt.Sprintf("%s (%s decisions/s against %s)", row.Workload,
				thousands(row.DecisionsPerSecond), thousands(row.Plain.DecisionsPerSecond)))
		}
	}
	if len(slower) == 0 {
		return "\nKept answers are slower than plain evaluation in none of these workloads.\n"
	}
	return "\nKept answers are slower than plain evaluation in " + strings.Join(slower, ", ") + ".\n"
}

// rounds says what the figures of the rows are.
func rounds(rows []clusterRow) string {
	least := slices.MinFunc(rows, func(a, b clusterRow) int { return a.Rounds - b.Rounds }).Rounds
	if least <= 1 {
		return "one round each, so that no row tells how much the next run would differ"
	}
	return fmt.Sprintf("medians of %d rounds", least)
}

func (r *clusterRun) table() string {
	rows := r.Rows
	if len(rows) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %d pods, %s.\n\n", r.circumstances, r.Pods, rounds(rows))
	out.WriteString("| workload | pods | scheduler | last bind | last event | pods/s after the first bind | CPU a pod | to last event | API server's | etcd's | latency p50 | p99 | memory |\n")
	out.WriteString("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, row := range rows {
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", row.Workload, row.Variant, row.Scheduler,
			ifMeasured("%.1f s", row.SecondsToLast), ifMeasured("%.1f s", row.SecondsToEvents), thousands(row.PodsPerSecond),
			ifMeasured("%.0f µs", row.CPU), ifMeasured("%.0f µs", row.CPUEvents), ifMeasured("%.0f µs", row.APIServerCPU),
			ifMeasured("%.0f µs", row.EtcdCPU), milliseconds(row.LatencyP50),
			milliseconds(row.LatencyP99), ifMeasured("%.0f MiB", row.PeakMemory/(1<<20)))
	}
	return out.String()
}

// ifMeasured is empty where there is no value.
func ifMeasured(format string, value float64) string {
	if value == 0 {
		return ""
	}
	return fmt.Sprintf(format, value)
}

// milliseconds writes a latency, with a fraction where it is short.
func milliseconds(value float64) string {
	if value < 10 {
		return ifMeasured("%.1f ms", value)
	}
	return ifMeasured("%.0f ms", value)
}

func (f *figures) startTable() string {
	if len(f.start.Rows) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %s bound pods.\n\n", f.start.circumstances, thousands(float64(f.start.BoundPods)))
	out.WriteString("| scheduler | first bind after | CPU until then | memory then |\n| --- | ---: | ---: | ---: |\n")
	for _, row := range f.start.Rows {
		fmt.Fprintf(&out, "| %s | %.2f s | %.2f s | %.0f MiB |\n", row.Scheduler, row.Seconds, row.CPU, row.Resident/(1<<20))
	}
	return out.String()
}

func (f *figures) scaleTable() string {
	if len(f.scale.Rows) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %s.\n\n", f.scale.Date, f.scale.Machine)
	out.WriteString("| nodes | pods | CPU a pod | CPU of the run | memory |\n| ---: | ---: | ---: | ---: | ---: |\n")
	for _, row := range f.scale.Rows {
		fmt.Fprintf(&out, "| %s | %s | %.1f µs | %.1f s | %s MiB |\n", thousands(row.Nodes), thousands(row.Pods), row.CPUPod, row.CPU,
			thousands(row.PeakMemory/(1<<20)))
	}
	return out.String()
}

// thousands writes a number without its fraction: 12,345.
func thousands(value float64) string {
	digits := fmt.Sprintf("%.0f", value)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
