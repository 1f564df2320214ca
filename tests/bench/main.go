// SPDX-License-Identifier: Apache-2.0

// Command bench measures Berth and kube-scheduler side by side on one control plane: pods bound a
// second, and the CPU time that the scheduler itself takes for each.
//
//	go run ./bench                      # 1,000 nodes, 5,000 plain pods
//	go run ./bench --rounds 3 -o json   # medians of three, the schedulers in alternation
//
// The nodes are bare objects without kubelets. Both schedulers have the same configuration: the
// default one but for a rate limit that does not bite.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/daemon"
)

type options struct {
	nodes, pods, rounds int
	qps, burst          int
	variants            []string
	schedulers          []string
	berth               string
	output              string
}

func main() {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	var variants, schedulers string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.nodes, "nodes", 1000, "number of nodes")
	flags.IntVar(&o.pods, "pods", 5000, "number of pods in each measurement")
	flags.IntVar(&o.rounds, "rounds", 1, "measurements of each kind; medians are shown")
	flags.IntVar(&o.qps, "qps", 5000, "clientConnection.qps of both schedulers")
	flags.IntVar(&o.burst, "burst", 10000, "clientConnection.burst of both schedulers")
	flags.StringVar(&variants, "variants", "pending,stream",
		"pending: the pods are there before the scheduler starts; stream: they come while it runs")
	flags.StringVar(&schedulers, "schedulers", "kube-scheduler,berth", "which schedulers, in which order")
	flags.StringVar(&o.berth, "berth", "", "Berth's binary; default $"+daemon.BinaryVariable+", then what the presets build")
	flags.StringVar(&o.output, "o", "table", "table or json")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.variants, o.schedulers = strings.Split(variants, ","), strings.Split(schedulers, ",")
	return o, o.validate(flags.Args())
}

func (o options) validate(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q", rest[0])
	}
	if o.nodes < 1 || o.pods < 1 || o.rounds < 1 {
		return errors.New("--nodes, --pods and --rounds must be at least 1")
	}
	for _, v := range o.variants {
		if v != pending && v != stream {
			return fmt.Errorf("--variants: %q is neither %s nor %s", v, pending, stream)
		}
	}
	for _, s := range o.schedulers {
		if s != peerName && s != berthName {
			return fmt.Errorf("--schedulers: %q is neither %s nor %s", s, peerName, berthName)
		}
	}
	if o.output != "table" && o.output != "json" {
		return fmt.Errorf("-o: %q is neither table nor json", o.output)
	}
	return nil
}

func run(ctx context.Context, o options) (err error) {
	programs, err := findPrograms(o)
	if err != nil {
		return err
	}
	c, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	for i := range programs {
		if programs[i].Peer {
			programs[i].Path = c.Binary(controlplane.Scheduler)
		}
	}
	b, err := newBench(ctx, o, c)
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.measureAll(ctx, programs); err != nil {
		return err
	}
	report := b.report()
	if o.output == "json" {
		return report.writeJSON(os.Stdout)
	}
	return report.writeTable(os.Stdout)
}

func findPrograms(o options) ([]daemon.Program, error) {
	var programs []daemon.Program
	for _, name := range o.schedulers {
		if name == peerName {
			programs = append(programs, daemon.Peer("")) // the control plane knows where it is
			continue
		}
		berth, err := daemon.Berth(o.berth)
		if err != nil {
			return nil, err
		}
		programs = append(programs, berth)
	}
	return programs, nil
}
