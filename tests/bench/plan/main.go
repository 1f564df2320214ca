// SPDX-License-Identifier: Apache-2.0

// Command plan measures what `berth plan` finds, and what a search costs.
//
//	go run ./bench/plan                                  # repair: all sizes, seeds 1 to 100
//	go run ./bench/plan -nodes 4,8 -seeds 1-5 -o json
//	go run ./bench/plan -consolidation                   # gangs that fit only after moves of other pods
//
// Repair has the clusters of "Priority Matters: Optimising Kubernetes Clusters Usage with
// Constraint-Based Pod Packing" (arXiv 2511.08373): ReplicaSets whose pods a scheduler places in a
// drawn order, as many as fit, on equal nodes that these pods fill to 90 to 105 %. Then the plan for
// all that wait is asked for. Consolidation is the case of that name of KAI's scale tests: nodes of 8
// devices, 3 of which are taken on each by pods of one, and gangs of 10 pods of 6.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"berth.dev/tests/checkout"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/machine"
	"berth.dev/tests/internal/program"
	"berth.dev/tests/internal/progress"
)

type options struct {
	consolidation, evict              bool
	nodes, perNode, priorities, usage []int
	seeds                             []int
	berth, output                     string
}

func main() { program.Main("plan", parse, run) }

func parse(args []string) (options, error) {
	var o options
	var nodes, perNode, priorities, usage, seeds string
	flags := flag.NewFlagSet("plan", flag.ContinueOnError)
	flags.BoolVar(&o.consolidation, "consolidation", false, "gangs that fit only after moves of other pods")
	flags.BoolVar(&o.evict, "evict", false, "pods of lower priority may be evicted for good; not with -consolidation")
	flags.StringVar(&nodes, "nodes", "", "numbers of nodes; default 4,8,16,32, with -consolidation 500")
	flags.StringVar(&perNode, "per-node", "4,8", "pods for each node")
	flags.StringVar(&priorities, "priorities", "1,2,4", "numbers of different priorities")
	flags.StringVar(&usage, "usage", "90,95,100,105", "what the pods ask for, in percent of what the nodes have")
	flags.StringVar(&seeds, "seeds", "1-100", "seeds, as 1-100 or 1,2")
	flags.StringVar(&o.berth, "berth", "", "Berth's binary; default $"+checkout.BinaryVariable+", then what the presets build")
	flags.StringVar(&o.output, "o", "table", "table or json")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if nodes == "" {
		nodes = "4,8,16,32"
		if o.consolidation {
			nodes = "500"
		}
	}
	for _, list := range []struct {
		name, text string
		to         *[]int
	}{{"nodes", nodes, &o.nodes}, {"per-node", perNode, &o.perNode}, {"priorities", priorities, &o.priorities},
		{"usage", usage, &o.usage}, {"seeds", seeds, &o.seeds}} {
		numbers, err := parseNumbers(list.text)
		if err != nil {
			return o, fmt.Errorf("-%s: %w", list.name, err)
		}
		*list.to = numbers
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.output != "table" && o.output != "json":
		return o, fmt.Errorf("-o: %q is neither table nor json", o.output)
	case o.consolidation && o.evict:
		return o, errors.New("-evict and -consolidation exclude each other")
	}
	return o, nil
}

// parseNumbers reads 1-3 or 1,2,3.
func parseNumbers(text string) (numbers []int, err error) {
	problem := fmt.Errorf("%q is neither 1-3 nor 1,2,3, of numbers from 1", text)
	if first, last, isRange := strings.Cut(text, "-"); isRange {
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 1 || from > to || to-from > 10_000 {
			return nil, problem
		}
		for number := from; number <= to; number++ {
			numbers = append(numbers, number)
		}
		return numbers, nil
	}
	for _, one := range strings.Split(text, ",") {
		number, err := strconv.Atoi(one)
		if err != nil || number < 1 {
			return nil, problem
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

func run(ctx context.Context, o options) error {
	berth, err := daemon.Berth(o.berth)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-plan-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r := report{Date: time.Now().Format(time.DateOnly), Machine: machine.Describe(), Load: machine.Load()}
	bar := progress.New(os.Stderr)
	defer bar.Clear()
	if o.consolidation {
		for _, nodes := range o.nodes {
			bar.Say("%d nodes", nodes)
			c, err := consolidate(ctx, berth.Path, dir, nodes)
			if err != nil {
				return fmt.Errorf("%d nodes: %w", nodes, err)
			}
			r.Consolidations = append(r.Consolidations, c)
		}
		bar.Clear()
		return writeConsolidations(os.Stdout, o.output, r)
	}
	var results []result
	for _, s := range sizesOf(o) {
		for _, seed := range o.seeds {
			bar.Say("%d nodes, %d pods a node, %d priorities, %d %%, seed %d", s.Nodes, s.PerNode, s.Priorities, s.Usage, seed)
			one, err := repair(ctx, berth.Path, dir, s, seed, o.evict)
			if err != nil {
				return fmt.Errorf("%+v, seed %d: %w", s, seed, err)
			}
			results = append(results, one)
		}
	}
	bar.Clear()
	r.Rows, r.Runs = summarise(results), results
	return writeRepairs(os.Stdout, o.output, r)
}

func sizesOf(o options) (sizes []size) {
	for _, nodes := range o.nodes {
		for _, perNode := range o.perNode {
			for _, priorities := range o.priorities {
				for _, usage := range o.usage {
					sizes = append(sizes, size{nodes, perNode, priorities, usage})
				}
			}
		}
	}
	return sizes
}

// repair lets the default scheduler place the pods of one cluster, asks for the plan for those that
// wait, and plays it back.
func repair(ctx context.Context, berth, dir string, s size, seed int, evict bool) (result, error) {
	c := draw(s, seed)
	r := result{size: s, Seed: seed, Pods: len(c.pods)}
	file := filepath.Join(dir, "cluster.json")
	// Without priorities: nothing is preempted, and the pods are tried in the order drawn.
	if err := writeList(file, c.objects(false)); err != nil {
		return r, err
	}
	out, _, err := call(ctx, berth, "simulate", "--cluster", file, "--seed", strconv.Itoa(seed), "-o", "json")
	if err != nil {
		return r, err
	}
	if err := c.takePlaces(out); err != nil {
		return r, err
	}
	r.Waiting = c.waiting()
	before := c.placed()
	r.NoneProved = provesMost(c, before)
	if r.Waiting == 0 {
		return r, nil
	}
	if err := writeList(file, c.objects(true)); err != nil {
		return r, err
	}
	var more []string
	if evict {
		more = []string{"--evict"}
	}
	p, used, err := planOf(ctx, berth, file, more...)
	if err != nil {
		return r, err
	}
	r.CPUSeconds = used
	if r.Moves, err = c.play(p.Moves); err != nil {
		return r, err
	}
	after := c.placed()
	r.Better = isBetter(after, before)
	if isBetter(before, after) {
		return r, fmt.Errorf("the plan places %v, the scheduler %v", after, before)
	}
	r.All = c.waiting() == 0
	r.Most = p.Most
	r.Proved = provesMost(c, after)
	return r, nil
}

type plan struct {
	Outcome, Why string
	Moves        []move
	Fewest       int
	Most         bool
}

type move struct{ Pod, From, To string }

// planOf asks for the plan for all that wait, and says what CPU time that took: of the whole run,
// from the file to the printed plan.
func planOf(ctx context.Context, berth, cluster string, more ...string) (plan, float64, error) {
	var p plan
	out, used, err := call(ctx, berth, append([]string{"plan", "--cluster", cluster, "--goal", "pending", "-o", "json"}, more...)...)
	if err != nil {
		return p, used, err
	}
	return p, used, json.Unmarshal(out, &p)
}

// call runs Berth. That it ends with 1, which says that not all was reached, is no error.
func call(ctx context.Context, berth string, args ...string) (out []byte, cpuSeconds float64, err error) {
	command := exec.CommandContext(ctx, berth, args...)
	var printed, problems bytes.Buffer
	command.Stdout, command.Stderr = &printed, &problems
	err = command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("berth %s: %w: %s", args[0], err, bytes.TrimSpace(problems.Bytes()))
	}
	state := command.ProcessState
	return printed.Bytes(), (state.UserTime() + state.SystemTime()).Seconds(), nil
}
