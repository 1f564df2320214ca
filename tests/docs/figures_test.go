// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// measured is a row of the benchmarks' results: the members that the README's ratios are made of.
type measured struct {
	Workload         string
	Variant          string
	Scheduler        string
	PodsPerSecond    float64
	CPUMicrosPod     float64 `json:"cpuMicrosecondsPerPod"`
	LatencyP50Millis float64 `json:"latencyP50Milliseconds"`
	SecondsToFirst   float64 `json:"secondsToFirstBound"`
	SecondsToLast    float64 `json:"secondsToLastBound"`
	ResidentMemory   float64 `json:"residentMemoryBytes"`
}

// results are the rows of a file of tests/bench/results, by workload, variant and scheduler.
func results(t *testing.T, name string) (workloads []string, rows map[string]measured) {
	t.Helper()
	var file struct{ Rows []measured }
	if err := json.Unmarshal([]byte(read(t, "tests/bench/results/"+name)), &file); err != nil {
		t.Fatal(err)
	}
	rows = map[string]measured{}
	for _, row := range file.Rows {
		if row.Scheduler == "berth" && row.Variant == "pending" {
			workloads = append(workloads, row.Workload)
		}
		rows[row.Workload+" "+row.Variant+" "+row.Scheduler] = row
	}
	return workloads, rows
}

// TestTheReadmesRatiosAreThoseOfTheResults makes the table's rows and the sentence below it from the
// files that docs/performance.md is made from.
func TestTheReadmesRatiosAreThoseOfTheResults(t *testing.T) {
	readme := read(t, "README.md")
	want := func(text string) {
		t.Helper()
		if !strings.Contains(strings.Join(strings.Fields(readme), " "), text) {
			t.Errorf("README.md does not say %q", text)
		}
	}
	workloads, rows := results(t, "cluster.json")
	if len(workloads) < 5 {
		t.Fatalf("cluster.json has the workloads %q", workloads)
	}
	for _, workload := range workloads {
		pending, stream := rows[workload+" pending berth"], rows[workload+" stream berth"]
		otherPending, otherStream := rows[workload+" pending kube-scheduler"], rows[workload+" stream kube-scheduler"]
		want(fmt.Sprintf("| %s | %.1f | 1/%.0f | %.1f | 1/%.0f | 1/%.0f |", workload,
			pending.PodsPerSecond/otherPending.PodsPerSecond, otherPending.CPUMicrosPod/pending.CPUMicrosPod,
			stream.PodsPerSecond/otherStream.PodsPerSecond, otherStream.CPUMicrosPod/stream.CPUMicrosPod,
			otherStream.LatencyP50Millis/stream.LatencyP50Millis))
	}
	_, rows = results(t, "start.json")
	ours, others := rows["  berth"], rows["  kube-scheduler"]
	const mebibyte = 1 << 20
	want(fmt.Sprintf("With 50,000 bound pods the first bind comes %.2f s after the start instead of %.2f, in %.0f MiB instead of %.0f.",
		ours.SecondsToFirst, others.SecondsToFirst, ours.ResidentMemory/mebibyte, others.ResidentMemory/mebibyte))
	_, rows = results(t, "wide.json")
	want(fmt.Sprintf("On 50,000 nodes the last of 2,000 waiting plain pods is bound after %.1f s instead of %.1f.",
		rows["plain pending berth"].SecondsToLast, rows["plain pending kube-scheduler"].SecondsToLast))
}
