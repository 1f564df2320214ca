// SPDX-License-Identifier: Apache-2.0

// Command bench measures Berth and kube-scheduler side by side on one control plane: how long each
// takes for a crowd of pods, and the CPU time that the scheduler itself takes for each pod.
//
//	go run ./bench                       # 5,000 nodes, 4,000 pods of every kind
//	go run ./bench -workload spread      # of one kind
//	go run ./bench --rounds 3 -o json    # medians of three, the schedulers in alternation
//	go run ./bench -variants 5/s,100/s   # latency with so many pods a second
//	go run ./bench -start                # from the start of the process to the first pod bound
//	go run ./bench -record DIR           # Berth alone, in turn without and with --record DIR
//	go run ./bench -explain              # Berth alone, in turn left alone and asked why pods wait that fit nowhere
//
// The nodes are bare objects without kubelets; where Deployments are measured, controllers make their
// pods and kwok makes them Ready, on a control plane of their own. Both schedulers have the same configuration: the
// default one but for a rate limit that does not bite.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth.dev/tests/checkout"
	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/program"
)

type options struct {
	nodes, pods, rounds int
	qps, burst          int
	bound               int
	start               bool
	kinds               []kind
	variants            []string
	schedulers          []string
	berth               string
	output              string
	// record is the folder to record to in every other measurement; "": nothing is recorded.
	record string
	// explaining: Berth is asked about all pending pods in every other measurement.
	explaining bool
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == askCommand {
		if err := ask(os.Stdin, os.Stdout, os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	program.Main("bench", parse, run)
}

func parse(args []string) (options, error) {
	var o options
	var variants, schedulers, names string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.nodes, "nodes", 5000, "number of nodes")
	flags.IntVar(&o.pods, "pods", 4000, "number of pods in each measurement")
	flags.IntVar(&o.rounds, "rounds", 1, "measurements of each kind; medians are shown")
	flags.IntVar(&o.qps, "qps", 5000, "clientConnection.qps of both schedulers")
	flags.IntVar(&o.burst, "burst", 10000, "clientConnection.burst of both schedulers")
	flags.StringVar(&names, "workload", "all", "sorts of pods: plain, spread, preferred-affinity, anti-affinity, csi-volumes, csi-provisioned, claim-templates, deployments, or all")
	flags.BoolVar(&o.start, "start", false, "measure the start among many bound pods instead")
	flags.IntVar(&o.bound, "bound", 50000, "with -start: how many pods are bound")
	flags.StringVar(&variants, "variants", "pending,stream",
		"pending: the pods are there before the scheduler starts; stream: they come while it runs, as fast as can be; 5/s: so many a second")
	flags.StringVar(&schedulers, "schedulers", "kube-scheduler,berth", "which schedulers, in which order")
	flags.StringVar(&o.berth, "berth", "", "Berth's binary; default $"+checkout.BinaryVariable+", then what the presets build")
	flags.StringVar(&o.record, "record", "",
		"a folder: measure Berth alone, in turn without --record and with it, into this folder; then replay the recordings")
	flags.BoolVar(&o.explaining, "explain", false,
		"measure Berth alone, in turn left alone and asked why all pods are pending, again a quarter of a second after each answer; beside pods that fit nowhere, one for four that fit; not for the variant pending")
	flags.StringVar(&o.output, "o", "table", "table or json")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.kinds, err = findKinds(names); err != nil {
		return o, err
	}
	o.variants, o.schedulers = strings.Split(variants, ","), strings.Split(schedulers, ",")
	for name, on := range map[string]bool{"record": o.record != "", "explain": o.explaining} {
		flags.Visit(func(f *flag.Flag) {
			if on && (f.Name == "schedulers" || f.Name == "start" || (name == "record" && f.Name == "explain")) {
				err = errors.Join(err, fmt.Errorf("-%s and -%s exclude each other", name, f.Name))
			}
		})
	}
	if err != nil {
		return o, err
	}
	if o.explaining {
		o.schedulers = []string{berthName, explainingName}
		o.variants = slices.DeleteFunc(o.variants, func(v string) bool { return v == pending })
		if len(o.variants) == 0 {
			return o, fmt.Errorf("-explain: not for the variant %s", pending)
		}
	}
	if o.record != "" {
		if o.record, err = filepath.Abs(o.record); err != nil {
			return o, err
		}
		o.schedulers = []string{berthName, recordingName}
	}
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
		rate, err := rateOf(v)
		if err != nil {
			return err
		}
		if rate > 0 && slices.ContainsFunc(o.kinds, func(k kind) bool { return k.ofDeployments }) {
			return fmt.Errorf("--variants: %s is for pods that are created one by one, and controllers create those of Deployments", v)
		}
	}
	for _, s := range o.schedulers {
		if s != peerName && s != berthName && (s != recordingName || o.record == "") && (s != explainingName || !o.explaining) {
			return fmt.Errorf("--schedulers: %q is neither %s nor %s", s, peerName, berthName)
		}
	}
	for _, k := range o.kinds {
		if k.oneToANode && !o.start && o.pods >= o.nodes {
			return fmt.Errorf("-workload %s: %d nodes do not take %d pods", k.name, o.nodes, o.pods)
		}
	}
	if o.output != "table" && o.output != "json" {
		return fmt.Errorf("-o: %q is neither table nor json", o.output)
	}
	return nil
}

func run(ctx context.Context, o options) error {
	schedulers, err := findPrograms(o)
	if err != nil {
		return err
	}
	if o.start {
		return o.on(ctx, controlplane.Options{}, schedulers, func(b *bench) error {
			if err := b.measureStarts(ctx, schedulers); err != nil {
				return err
			}
			return o.write(b.startReport())
		})
	}
	var taken []measurement
	for _, deployments := range []bool{false, true} {
		kinds := slices.DeleteFunc(slices.Clone(o.kinds), func(k kind) bool { return k.ofDeployments != deployments })
		if len(kinds) == 0 {
			continue
		}
		options := controlplane.Options{}
		if deployments {
			options = withControllers
		}
		err := o.on(ctx, options, schedulers, func(b *bench) error {
			b.kinds = kinds
			err := b.measureAll(ctx, schedulers)
			taken = append(taken, b.taken...)
			return err
		})
		if err != nil {
			return err
		}
	}
	r := o.report(taken)
	if o.record != "" {
		if r.Replays, err = replay(ctx, schedulers[0].Path, o.record); err != nil {
			return err
		}
	}
	return o.write(r)
}

// on lets something be measured on a control plane of its own.
func (o options) on(ctx context.Context, options controlplane.Options, schedulers []daemon.Program, measure func(*bench) error) (err error) {
	c, err := controlplane.Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	for i := range schedulers {
		if schedulers[i].Peer {
			schedulers[i].Path = c.Binary(programs.Scheduler)
		}
	}
	b, err := newBench(ctx, o, c)
	if err != nil {
		return err
	}
	defer b.close()
	return measure(b)
}

// write prints a report in the form asked for.
func (o options) write(r interface{ writeTable(io.Writer) error }) error {
	if o.output == "json" {
		return writeJSON(os.Stdout, r)
	}
	return r.writeTable(os.Stdout)
}

func findPrograms(o options) ([]daemon.Program, error) {
	var schedulers []daemon.Program
	for _, name := range o.schedulers {
		if name == peerName {
			schedulers = append(schedulers, daemon.Peer("")) // the control plane knows where it is
			continue
		}
		berth, err := daemon.Berth(o.berth)
		if err != nil {
			return nil, err
		}
		berth.Name = name
		schedulers = append(schedulers, berth)
	}
	return schedulers, nil
}
