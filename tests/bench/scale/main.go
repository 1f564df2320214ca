// SPDX-License-Identifier: Apache-2.0

// Command scale measures what a pod costs as clusters grow: `berth simulate` reads the dump of a
// cluster whose pods all wait, schedules them by the daemon's engine on one thread, and prints where
// each went.
//
//	go run ./bench/scale                                   # 1,000 to 1,000,000 nodes, up to 1,000,000 pods
//	go run ./bench/scale -nodes 50000,200000 -o json
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"berth.dev/tests/checkout"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/machine"
	"berth.dev/tests/internal/program"
	"berth.dev/tests/internal/progress"
)

const (
	// podsOfNode is at most how many pods there are for each node: less than the 40 that fit.
	podsOfNode = 30
	// summaryBytes is more than the last line of `berth simulate -o json` takes.
	summaryBytes = 4096
)

type options struct {
	nodes         []int
	pods          int
	berth, output string
}

// row is one cluster.
type row struct {
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	// CPUSeconds is that of the whole run, from the file to the printed decisions.
	CPUSeconds float64 `json:"cpuSeconds"`
	// CPUMicrosPod is what the pods add to a run on the nodes alone, for each pod.
	CPUMicrosPod float64 `json:"cpuMicrosecondsPerPod"`
	Seconds      float64 `json:"seconds"`
	PeakMemory   int64   `json:"peakMemoryBytes"`
}

type report struct {
	Kind    string `json:"kind"`
	Date    string `json:"date"`
	Machine string `json:"machine"`
	Load    string `json:"loadAverage"`
	Rows    []row  `json:"rows"`
}

func main() { program.Main("scale", parse, run) }

func parse(args []string) (options, error) {
	var o options
	var nodes string
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.StringVar(&nodes, "nodes", "1000,10000,100000,1000000", "numbers of nodes")
	flags.IntVar(&o.pods, "pods", 1_000_000, fmt.Sprintf("number of pods, where the nodes take them: %d each", podsOfNode))
	flags.StringVar(&o.berth, "berth", "", "Berth's binary; default $"+checkout.BinaryVariable+", then what the presets build")
	flags.StringVar(&o.output, "o", "table", "table or json")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	for _, text := range strings.Split(nodes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, fmt.Errorf("-nodes: %q is no number of nodes", text)
		}
		o.nodes = append(o.nodes, n)
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.pods < 1:
		return o, errors.New("-pods must be at least 1")
	case o.output != "table" && o.output != "json":
		return o, fmt.Errorf("-o: %q is neither table nor json", o.output)
	}
	return o, nil
}

func run(ctx context.Context, o options) error {
	berth, err := daemon.Berth(o.berth)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-scale-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bar := progress.New(os.Stderr)
	defer bar.Clear()
	var rows []row
	for _, nodes := range o.nodes {
		pods := min(o.pods, podsOfNode*nodes)
		bar.Say("%d nodes, %d pods", nodes, pods)
		bare, err := measure(ctx, berth.Path, dir, nodes, 0)
		if err != nil {
			return err
		}
		full, err := measure(ctx, berth.Path, dir, nodes, pods)
		if err != nil {
			return err
		}
		full.CPUMicrosPod = (full.CPUSeconds - bare.CPUSeconds) * 1e6 / float64(pods)
		rows = append(rows, full)
	}
	bar.Clear()
	return write(os.Stdout, o.output, report{
		Kind: "scale", Date: time.Now().Format(time.DateOnly), Machine: machine.Describe(), Load: machine.Load(), Rows: rows,
	})
}

// measure simulates one cluster. An error, if not all pods were bound.
func measure(ctx context.Context, berth, dir string, nodes, pods int) (row, error) {
	r := row{Nodes: nodes, Pods: pods}
	dump, decisions := filepath.Join(dir, "dump.json"), filepath.Join(dir, "decisions.json")
	if err := writeDump(dump, nodes, pods); err != nil {
		return r, err
	}
	out, err := os.Create(decisions)
	if err != nil {
		return r, err
	}
	defer func() { _ = out.Close() }()
	command := exec.CommandContext(ctx, berth, "simulate", "--cluster", dump, "-o", "json")
	var problems bytes.Buffer
	command.Stdout, command.Stderr = out, &problems
	began := time.Now()
	if err := command.Run(); err != nil {
		return r, fmt.Errorf("%d nodes, %d pods: %w: %s", nodes, pods, err, bytes.TrimSpace(problems.Bytes()))
	}
	r.Seconds = time.Since(began).Seconds()
	bound, err := boundOf(out)
	if err != nil {
		return r, err
	}
	if bound != pods {
		return r, fmt.Errorf("%d nodes: %d of %d pods were bound", nodes, bound, pods)
	}
	used := command.ProcessState.SysUsage().(*syscall.Rusage)
	r.CPUSeconds = (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds()
	r.PeakMemory = used.Maxrss << 10
	return r, nil
}

// writeDump writes a cluster of equal nodes and of pods that wait.
func writeDump(file string, nodes, pods int) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprint(out, `{"apiVersion":"v1","kind":"List","items":[`)
	for i := range nodes + pods {
		if i > 0 {
			fmt.Fprint(out, ",\n")
		}
		if i < nodes {
			fmt.Fprintf(out, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-%d","labels":{"kubernetes.io/hostname":"node-%d"}},`+
				`"status":{"allocatable":{"cpu":"4","memory":"32Gi","pods":"110"}}}`, i, i)
			continue
		}
		fmt.Fprintf(out, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%d","namespace":"default"},"spec":{"containers":[`+
			`{"name":"pause","image":"pause:3.10","resources":{"requests":{"cpu":"100m","memory":"500Mi"}}}]}}`, i-nodes)
	}
	fmt.Fprint(out, "]}\n")
	return out.Flush()
}

// boundOf reads the summary, which is the last line.
func boundOf(decisions *os.File) (int, error) {
	info, err := decisions.Stat()
	if err != nil {
		return 0, err
	}
	tail := make([]byte, min(info.Size(), summaryBytes))
	if _, err := decisions.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return 0, err
	}
	lines := bytes.Split(bytes.TrimSpace(tail), []byte("\n"))
	var last struct{ Summary *struct{ Bound int } }
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil || last.Summary == nil {
		return 0, fmt.Errorf("berth simulate ended without a summary: %q (%v)", lines[len(lines)-1], err)
	}
	return last.Summary.Bound, nil
}

func write(out io.Writer, output string, r report) error {
	if output == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	fmt.Fprintf(out, "%s; %s; load %s\n\n", r.Date, r.Machine, r.Load)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "nodes\tpods\tCPU a pod\tCPU\ttime\tpeak memory\t")
	for _, row := range r.Rows {
		fmt.Fprintf(table, "%d\t%d\t%.1f µs\t%.1f s\t%.1f s\t%.0f MiB\t\n", row.Nodes, row.Pods, row.CPUMicrosPod,
			row.CPUSeconds, row.Seconds, float64(row.PeakMemory)/(1<<20))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(out, `
CPU a pod: what the pods add to a run on the nodes alone: to read, schedule, bind and print each.
CPU and time: of the whole run, from the file to the printed decisions.
`)
	return err
}
