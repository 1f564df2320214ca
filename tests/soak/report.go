// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon/workload"
	"berth.dev/tests/internal/machine"
)

// report is what a run came to.
type report struct {
	Kind       string         `json:"kind"`
	Date       string         `json:"date"`
	Machine    string         `json:"machine"`
	Load       string         `json:"loadAverage"`
	Kubernetes string         `json:"kubernetes"`
	Seed       uint64         `json:"seed"`
	Seconds    float64        `json:"seconds"`
	Nodes      int            `json:"nodes"`
	Pods       int            `json:"pods"`
	Rate       float64        `json:"podChangesPerSecond"`
	Changes    map[string]int `json:"changes"`
	HeldBack   float64        `json:"secondsHeldBack"` // since kubelets were behind

	Bound      int     `json:"podsBound"`
	LatencyP50 float64 `json:"bindLatencyP50Milliseconds"`
	LatencyP99 float64 `json:"bindLatencyP99Milliseconds"`
	LatencyMax float64 `json:"bindLatencyMaxMilliseconds"`
	CPUPerPod  float64 `json:"cpuMicrosecondsPerPod"`

	Samples  []sample   `json:"samples"`
	Flatness []flatness `json:"flatness"`
	Verdicts []verdict  `json:"verdicts"`
	Holds    bool       `json:"holds"`
}

// report judges what was found after changes that began at `since` and for which so many pods were
// bound with so much CPU.
func (s *soak) report(found findings, since time.Time, bound int, cpu time.Duration) *report {
	latencies := s.tracker.Latencies(since, func(pod string) bool { return !waits(pod) })
	milliseconds := func(percent int) float64 {
		return float64(workload.Percentile(latencies, percent).Microseconds()) / 1000
	}
	r := &report{
		Kind:       "soak",
		Date:       time.Now().Format(time.DateOnly),
		Machine:    machine.Describe(),
		Load:       machine.Load(),
		Kubernetes: programs.KubernetesVersion,
		Seed:       s.seed,
		Seconds:    s.duration.Seconds(),
		Nodes:      s.nodes,
		Pods:       s.pods,
		Rate:       s.rate,
		Changes:    s.churn.done,
		HeldBack:   s.churn.held.Seconds(),
		Bound:      bound,
		LatencyP50: milliseconds(50),
		LatencyP99: milliseconds(99),
		LatencyMax: milliseconds(100),
		CPUPerPod:  float64(cpu.Microseconds()) / float64(max(bound, 1)),
		Samples:    s.sampler.all(),
	}
	r.Flatness = judgeFlatness(r.Samples, s.growth)
	for _, f := range r.Flatness {
		r.Verdicts = append(r.Verdicts, f.verdict())
	}
	r.Verdicts = append(r.Verdicts, found.judge()...)
	overfull := ""
	for _, one := range r.Samples {
		overfull = cmp.Or(overfull, one.Overfull)
	}
	r.Verdicts = append(r.Verdicts, holds("no node had more than it can hold in any sample", overfull))
	r.Holds = !slices.ContainsFunc(r.Verdicts, func(v verdict) bool { return !v.Holds })
	return r
}

func (r *report) writeJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

func (r *report) writeTable(out io.Writer) error {
	fmt.Fprintf(out, "%s; Kubernetes %s; %s; load %s\n", r.Date, r.Kubernetes, r.Machine, r.Load)
	fmt.Fprintf(out, "%s, %d nodes, about %d pods, %.0f pods created or deleted a second, seed %d\n\n",
		time.Duration(r.Seconds*float64(time.Second)), r.Nodes, r.Pods, r.Rate, r.Seed)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "after\tresident\theap\tdescriptors\tthreads\tCPU\tbound\tpods\tpending\t")
	for _, s := range thinned(r.Samples) {
		heap := ""
		if s.Heap > 0 {
			heap = mebibytes(s.Heap)
		}
		fmt.Fprintf(table, "%.0f s\t%s\t%s\t%d\t%d\t%.1f s\t%d\t%d\t%d\t\n",
			s.Seconds, mebibytes(s.Resident), heap, s.Descriptors, s.Threads, s.CPUSeconds, s.Bound, s.Pods, s.Pending)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(r.Changes)) {
		changes = append(changes, fmt.Sprintf("%s %d", name, r.Changes[name]))
	}
	fmt.Fprintf(out, "\nchanges: %s; held back for %.0f s, since the kubelets were behind\n", strings.Join(changes, ", "), r.HeldBack)
	fmt.Fprintf(out, "bound: %d pods, after %.0f ms (median), %.0f ms (99 of 100), %.0f ms (longest); %.0f µs of CPU a pod\n\n",
		r.Bound, r.LatencyP50, r.LatencyP99, r.LatencyMax, r.CPUPerPod)
	for _, v := range r.Verdicts {
		mark := "yes"
		if !v.Holds {
			mark = "NO "
		}
		fmt.Fprintf(out, "%s  %s", mark, v.What)
		if v.Detail != "" {
			fmt.Fprintf(out, ": %s", v.Detail)
		}
		fmt.Fprintln(out)
	}
	return nil
}

// thinned leaves about twenty samples, the last among them.
func thinned(samples []sample) []sample {
	step := max(1, len(samples)/20)
	var some []sample
	for i := len(samples) - 1; i >= 0; i -= step {
		some = append(some, samples[i])
	}
	slices.Reverse(some)
	return some
}
