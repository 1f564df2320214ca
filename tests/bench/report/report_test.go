// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const engineJSON = `{"kind":"engine","date":"2026-01-02","machine":"a machine"}
{"workload":"SchedulingBasic","size":"5000Nodes","threshold":680,"podsPerSecond":12345.6,"decisionsPerSecond":9000,"decisionP50Microseconds":7.5,"plain":{"decisionsPerSecond":1000}}
{"workload":"SchedulingDaemonset","size":"15000Nodes","decisionsPerSecond":500,"plain":{"decisionsPerSecond":2000}}
{"workload":"Coscheduling","size":"5000Nodes","podsPerSecond":900,"decisionsPerSecond":800,"beside":{"workload":"GangScheduling","cost":1.25,"costsAtMost":2,"podsPerSecond":1000}}
{"workload":"Starvation","what":"median","value":1,"unit":"us"}
`

func TestReportRewritesWhatStandsBetweenItsMarks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("engine.json", engineJSON)
	write("cluster.json", `{"nodes":5000,"pods":4000,"rows":[
		{"workload":"plain","variant":"stream","scheduler":"berth","cpuMicrosecondsPerPodUntilLastEvent":200},
		{"workload":"plain","variant":"stream","scheduler":"kube-scheduler","cpuMicrosecondsPerPodUntilLastEvent":2000}]}`)
	write("claims.json", `{"nodes":500,"pods":1000,"rows":[
		{"workload":"claim-templates","variant":"pending","scheduler":"berth","rounds":3,"podsPerSecond":1092,"cpuMicrosecondsPerPod":430,"apiServerCPUMicrosecondsPerPod":1850}]}`)
	write("wide.json", `{"nodes":50000,"pods":2000,"rows":[{"workload":"plain","variant":"pending","scheduler":"berth","secondsToLastBound":1.91}]}`)
	write("latency.json", `{"nodes":5000,"pods":100,"rows":[
		{"workload":"plain","variant":"5/s","scheduler":"berth","rounds":3,"latencyP50Milliseconds":4.24,"latencyP99Milliseconds":12.4}]}`)
	write("scale.json", `{"date":"2026-01-03","rows":[{"nodes":1000000,"pods":1000,"cpuSeconds":41.66,"cpuMicrosecondsPerPod":33.3,"peakMemoryBytes":4294967296}]}`)
	write("performance.md", "before\n<!-- engine -->\nold\n<!-- end -->\nbetween\n<!-- cluster -->\n<!-- end -->\n<!-- claims -->\n<!-- end -->\n<!-- scale -->\n<!-- end -->\n<!-- latency -->\n<!-- end -->\n<!-- wide -->\n<!-- end -->\n<!-- start -->\nkept\n<!-- end -->\n")
	if err := run(dir, dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n", "between\n", "kept\n", "| SchedulingBasic | 5000Nodes | 12,346 |", "| 1,000 | 680 |", "| 2000 µs |",
		"500 nodes, qps 0, 1000 pods, medians of 3 rounds", "| claim-templates | pending | berth |  |  | 1,092 | 430 µs |  | 1850 µs |  |  |  |  |", "| plain | pending | berth | 1.9 s |",
		"| plain | 5/s | berth |", "| 4.2 ms | 12 ms |", "| 1,000,000 | 1,000 | 33.3 µs | 41.7 s | 4,096 MiB |", "one round each", "slower than plain evaluation in SchedulingDaemonset (500 decisions/s against 2,000).\n",
		"| in turn with | its pods/s | a pod costs | at most |\n| --- | --- | --- | ---: | ---: | ---: |\n| Coscheduling | 5000Nodes | GangScheduling | 1,000 | 1.25 times | 2 |\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, unwanted := range []string{"old\n", "Starvation"} {
		if strings.Contains(string(page), unwanted) {
			t.Errorf("the page still has %q:\n%s", unwanted, page)
		}
	}
	plot, err := os.ReadFile(filepath.Join(dir, "performance.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(plot), "plain, stream") || !strings.HasSuffix(string(plot), "</svg>\n") {
		t.Errorf("the plot lacks the workload:\n%s", plot)
	}
}

func TestReplaceSectionRefusesAPageWithoutMarks(t *testing.T) {
	for _, page := range []string{"no mark at all", "<!-- engine -->\nno end"} {
		if _, err := replaceSection([]byte(page), "engine", "table"); err == nil {
			t.Errorf("%q was taken", page)
		}
	}
}
