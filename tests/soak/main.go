// SPDX-License-Identifier: Apache-2.0

// Command soak runs Berth on a busy cluster for a long time and judges whether it stays as it began:
// memory, descriptors and threads, what its cache holds, and what became of the pods.
//
//	go run ./soak                        # an hour, 1,000 nodes, 2,000 pods
//	go run ./soak --for 3m --nodes 100   # a short one
//	go run ./soak --seed 7 -o json       # the same changes in the same order
//
// The API server, etcd and the controllers are real; kwok plays the kubelets. Deployments are scaled
// up and down and rolled over, nodes relabelled and cordoned, pods deleted; some pods wait until a
// node gets the label that they ask for. It ends with 1 when a judgement says no.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"berth.dev/tests/checkout"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/program"
)

type options struct {
	duration    time.Duration
	every       time.Duration
	nodes, pods int
	rate        float64
	seed        uint64
	growth      float64
	calm        bool
	berth       string
	output      string
}

// errJudged says that the run went to its end and was found wanting.
var errJudged = errors.New("not all that should hold holds")

func main() { program.Main("soak", parse, run) }

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.DurationVar(&o.duration, "for", time.Hour, "how long the cluster changes")
	flags.DurationVar(&o.every, "every", 0, "time between samples; default 30s, and less in runs of less than 12m")
	flags.IntVar(&o.nodes, "nodes", 1000, "number of nodes")
	flags.IntVar(&o.pods, "pods", 0, "pods kept in the cluster; default two a node")
	flags.Float64Var(&o.rate, "rate", 30, "pods created or deleted in a second")
	flags.Uint64Var(&o.seed, "seed", 0, "of the changes; default a random one, which the report tells")
	flags.BoolVar(&o.calm, "calm", false, "nothing goes wrong between the daemon and the API server")
	flags.Float64Var(&o.growth, "growth", 5, "percent by which memory may grow from the second quarter to the last")
	flags.StringVar(&o.berth, "berth", "", "Berth's binary; default $"+checkout.BinaryVariable+", then what the presets build")
	flags.StringVar(&o.output, "o", "table", "table or json")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.pods == 0 {
		o.pods = 2 * o.nodes
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1_000_000) + 1
	}
	if o.every == 0 {
		o.every = max(min(30*time.Second, o.duration/24), time.Second)
	}
	return o, o.validate(flags.Args())
}

func (o options) validate(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case o.nodes < fewestNodes:
		return fmt.Errorf("--nodes: there must be at least %d", fewestNodes)
	case o.pods < 1 || o.pods > o.nodes*podsPerNode/4:
		return fmt.Errorf("--pods: must be 1 to %d, a quarter of what the nodes hold", o.nodes*podsPerNode/4)
	case o.rate <= 0:
		return errors.New("--rate: must be above 0")
	case o.every <= 0 || o.duration < minSamples*o.every:
		return fmt.Errorf("--for: must be at least %d times --every", minSamples)
	case o.output != "table" && o.output != "json":
		return fmt.Errorf("-o: %q is neither table nor json", o.output)
	}
	return nil
}

func run(ctx context.Context, o options) (err error) {
	berth, err := daemon.Berth(o.berth)
	if err != nil {
		return err
	}
	s, err := newSoak(ctx, o, berth)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(err != nil)) }()
	r, err := s.run(ctx)
	if err != nil {
		return err
	}
	if o.output == "json" {
		err = r.writeJSON(os.Stdout)
	} else {
		err = r.writeTable(os.Stdout)
	}
	if err == nil && !r.Holds {
		err = errJudged
	}
	return err
}
