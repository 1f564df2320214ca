// SPDX-License-Identifier: Apache-2.0

// Command packing measures how much of a cluster's devices a policy can give away before pods fit
// nowhere, by a trace of a cluster and the protocol of "Beware of Fragmentation" (USENIX ATC 2023):
// pods come in a drawn order until they ask for 1.3 times the devices that there are, each that fits
// is placed, and none goes. `berth simulate` decides.
//
//	go run ./bench/packing -trace DIR                                # all lists, seeds 42 to 51
//	go run ./bench/packing -trace DIR -lists default -seeds 42 -decisions decisions.jsonl
//
// The trace is openb, https://github.com/alibaba/clusterdata (cluster-trace-gpu-v2023): its folder
// csv, with one list of nodes.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"berth.dev/tests/checkout"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/program"
	"berth.dev/tests/internal/progress"
)

type options struct {
	trace, decisions, config string
	lists, policies          []string
	seeds                    []int64
	berth, output            string
}

func main() { program.Main("packing", parse, run) }

func parse(args []string) (options, error) {
	var o options
	var lists, seeds, names string
	flags := flag.NewFlagSet("packing", flag.ContinueOnError)
	flags.StringVar(&o.trace, "trace", "", "folder of the trace's CSV files")
	flags.StringVar(&lists, "lists", "", "lists of pods, by the names of their files (pod_list_NAME.csv); all without it")
	flags.StringVar(&seeds, "seeds", "42-51", "seeds, as 42-51 or 42,43")
	flags.StringVar(&names, "policy", "fgd", "policies: "+strings.Join(policies, ", "))
	flags.StringVar(&o.config, "config", "", "a KubeSchedulerConfiguration to measure instead")
	flags.StringVar(&o.decisions, "decisions", "", "writes one JSON line for each arrival to this file; for one list, seed and policy")
	flags.StringVar(&o.berth, "berth", "", "Berth's binary; default $"+checkout.BinaryVariable+", then what the presets build")
	flags.StringVar(&o.output, "o", "table", "table or json")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if lists != "" {
		o.lists = strings.Split(lists, ",")
	}
	o.policies = strings.Split(names, ",")
	var err error
	if o.seeds, err = parseSeeds(seeds); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.trace == "":
		return o, errors.New("-trace is missing: the folder of the trace's CSV files")
	case o.output != "table" && o.output != "json":
		return o, fmt.Errorf("-o: %q is neither table nor json", o.output)
	case o.decisions != "" && (len(o.lists) != 1 || len(o.seeds) != 1 || len(o.policies) != 1):
		return o, errors.New("-decisions needs one list, one seed and one policy")
	}
	if o.config != "" {
		o.policies = []string{filepath.Base(o.config)}
		return o, nil
	}
	for _, policy := range o.policies {
		if !slices.Contains(policies, policy) {
			return o, fmt.Errorf("-policy: no %q; there are %s", policy, strings.Join(policies, ", "))
		}
	}
	return o, nil
}

func parseSeeds(text string) (seeds []int64, err error) {
	problem := fmt.Errorf("-seeds: %q is neither 42-51 nor 42,43", text)
	if first, last, isRange := strings.Cut(text, "-"); isRange {
		from, err := strconv.ParseInt(first, 10, 64)
		to, err2 := strconv.ParseInt(last, 10, 64)
		if err != nil || err2 != nil || from > to || to-from > 1000 {
			return nil, problem
		}
		for seed := from; seed <= to; seed++ {
			seeds = append(seeds, seed)
		}
		return seeds, nil
	}
	for _, one := range strings.Split(text, ",") {
		seed, err := strconv.ParseInt(one, 10, 64)
		if err != nil {
			return nil, problem
		}
		seeds = append(seeds, seed)
	}
	return seeds, nil
}

// ratio is how many times the devices there are the pods ask for.
const ratio = 1.3

func run(ctx context.Context, o options) error {
	t, err := readTrace(o.trace)
	if err != nil {
		return err
	}
	if len(o.lists) == 0 {
		for list := range t.lists {
			o.lists = append(o.lists, list)
		}
		slices.Sort(o.lists)
	}
	berth, err := daemon.Berth(o.berth)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-packing-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bar := progress.New(os.Stderr)
	defer bar.Clear()
	var results []result
	for _, list := range o.lists {
		pods, ok := t.lists[list]
		if !ok {
			return fmt.Errorf("-lists: %s has no list %q", o.trace, list)
		}
		for _, policy := range o.policies {
			config, err := writeConfiguration(dir, o.config, policy, pods)
			if err != nil {
				return err
			}
			for _, seed := range o.seeds {
				bar.Say("%s, %s, seed %d", list, policy, seed)
				come, named := arrivals(pods, t.nodes, seed, ratio)
				decided, err := simulate(ctx, berth.Path, dir, config, seed, named, come)
				if err != nil {
					return fmt.Errorf("%s, %s, seed %d: %w", list, policy, seed, err)
				}
				allocated, err := recompute(t.nodes, come, decided)
				if err != nil {
					return fmt.Errorf("%s, %s, seed %d: %w", list, policy, seed, err)
				}
				results = append(results, result{List: list, Policy: policy, Seed: seed, Allocated: allocated,
					Bound: boundPercent(t.nodes, come)})
				bar.Clear()
				fmt.Fprintf(os.Stderr, "%s, %s, seed %d: %.2f %%\n", list, policy, seed, allocated[len(points)-1])
				if o.decisions != "" {
					if err := writeDecisions(o.decisions, decided); err != nil {
						return err
					}
				}
			}
		}
	}
	bar.Clear()
	return write(os.Stdout, o.output, summarise(results, t.published))
}

// writeConfiguration returns the file of the configuration to measure.
func writeConfiguration(dir, own, policy string, pods []tracePod) (string, error) {
	if own != "" {
		return own, nil
	}
	configuration, err := configurationOf(policy, pods)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(configuration)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "configuration.yaml")
	return file, os.WriteFile(file, text, 0o600)
}

// decision is what became of an arrival. Devices are the places of those that it was given.
type decision struct {
	Pod     string  `json:"pod"`
	Node    *string `json:"node"`
	Devices []int64 `json:"devices"`
}

// simulate lets Berth decide, and returns the decisions in the order of the arrivals.
func simulate(ctx context.Context, berth, dir, config string, seed int64, nodes []traceNode, come []tracePod) ([]decision, error) {
	cluster := filepath.Join(dir, "cluster.json")
	if err := writeCluster(cluster, nodes, come); err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, berth, "simulate", "--cluster", cluster, "--config", config, "-o", "json",
		"--seed", strconv.FormatInt(seed, 10))
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(problems.Bytes()))
	}
	return readDecisions(out.Bytes(), come)
}

// readDecisions takes what `berth simulate` printed. Pods must have been tried in the order in which
// they came, and one that fitted nowhere must not have been placed later.
func readDecisions(printed []byte, come []tracePod) ([]decision, error) {
	var decided []decision
	first := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(printed))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var line struct {
			Pod     string
			Node    *string
			Devices []string
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, err
		}
		if line.Pod == "" {
			continue
		}
		name := strings.TrimPrefix(line.Pod, "default/")
		if first[name] {
			if line.Node != nil {
				return nil, fmt.Errorf("%s was placed after it had fitted nowhere", name)
			}
			continue
		}
		first[name] = true
		if at := len(decided); at >= len(come) || come[at].name != name {
			return nil, fmt.Errorf("decision %d is about %s, which is not the arrival of that number", at, name)
		}
		d := decision{Pod: name, Devices: []int64{}}
		if line.Node != nil {
			own := ownName(*line.Node)
			d.Node = &own
		}
		for _, device := range line.Devices {
			i, err := strconv.ParseInt(device[strings.LastIndex(device, "-")+1:], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s was given the device %q", name, device)
			}
			d.Devices = append(d.Devices, i)
		}
		decided = append(decided, d)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(decided) != len(come) {
		return nil, fmt.Errorf("%d of %d arrivals were decided", len(decided), len(come))
	}
	return decided, nil
}

func writeDecisions(file string, decided []decision) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriter(f)
	encoder := json.NewEncoder(out)
	for _, d := range decided {
		if err := encoder.Encode(d); err != nil {
			return err
		}
	}
	return out.Flush()
}
