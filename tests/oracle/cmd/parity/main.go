// SPDX-License-Identifier: Apache-2.0

// Command parity compares Berth with kube-scheduler's own code on random clusters: every verdict, reason
// and score of `berth explain`, and every decision of `berth simulate`.
//
//	go run ./oracle/cmd/parity --berth ../.build/release/bin/berth --seeds 2000
//	go run ./oracle/cmd/parity --berth ... --seeds 1 --seed 4711     # one case again
//
// Cases that differ are made small and written to a folder. Exit status 0 when nothing differs, 1 when
// something does, 2 when the arguments are wrong.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"berth.dev/tests/internal/program"
	"berth.dev/tests/oracle/upstream"
)

type options struct {
	seeds, nodes, jobs, shrink int
	seed                       uint64
	without                    []string
	berth, out                 string
	volumes, replayVolumes     bool
	devices                    bool
	podGroups                  upstream.PodGroups
	deferredResizes            bool
}

func main() { program.Main("parity", parse, run) }

func parse(args []string) (options, error) {
	o := options{seed: uint64(rand.Uint32())}
	flags := flag.NewFlagSet("parity", flag.ContinueOnError)
	flags.IntVar(&o.seeds, "seeds", 200, "number of cases")
	flags.Uint64Var(&o.seed, "seed", o.seed, "seed of the first case; the others follow it (default random)")
	flags.IntVar(&o.nodes, "nodes", 60, "greatest number of nodes")
	flags.IntVar(&o.jobs, "j", runtime.NumCPU(), "cases at a time")
	flags.IntVar(&o.shrink, "shrink", 3, "how many cases to make small, of different kinds")
	flags.StringVar(&o.berth, "berth", os.Getenv("BERTH_BINARY"), "the berth program (default $BERTH_BINARY)")
	flags.StringVar(&o.out, "out", filepath.Join(os.TempDir(), "berth-parity"), "folder for cases that differ")
	flags.BoolVar(&o.volumes, "volumes", true, "compare the plugins of volumes too")
	flags.BoolVar(&o.replayVolumes, "replay-volumes", true, "replay decisions about clusters with volumes, too")
	flags.BoolVar(&o.devices, "devices", true, "compare DynamicResources, too")
	plain := flags.Bool("pod-groups", false, "compare clusters with pod groups only")
	composite := flags.Bool("composite-pod-groups", false, "compare clusters with trees of pod groups only")
	withClaims := flags.Bool("pod-group-claims", false, "compare clusters with pod groups and claims of devices only")
	flags.BoolVar(&o.deferredResizes, "deferred-resizes", false,
		"compare clusters with pods that wait on their nodes for room for a resize")
	without := flags.String("without", "", "plugins to switch off in every profile, separated by commas")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if *without != "" {
		o.without = strings.Split(*without, ",")
	}
	switch {
	case *composite:
		o.podGroups = upstream.CompositePodGroups
	case *withClaims:
		o.podGroups = upstream.PodGroupsWithClaims
	case *plain:
		o.podGroups = upstream.PlainPodGroups
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("parity: no argument is expected, got %q", flags.Arg(0))
	case o.deferredResizes && o.podGroups != upstream.NoPodGroups:
		return o, errors.New("parity: --deferred-resizes goes without pod groups")
	case o.berth == "":
		return o, errors.New("parity: give --berth")
	case o.seeds < 1 || o.nodes < 1 || o.jobs < 1 || o.shrink < 0:
		return o, errors.New("parity: --seeds, --nodes and -j must be positive")
	}
	var err error
	o.berth, err = filepath.Abs(o.berth)
	if err == nil {
		_, err = os.Stat(o.berth)
	}
	return o, err
}
