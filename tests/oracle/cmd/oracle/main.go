// SPDX-License-Identifier: Apache-2.0

// Command oracle prints what kube-scheduler's own code says about each pending pod of cluster files:
// one verdict document a line, as `berth explain --preemption --claims -o json` does.
//
//	go run ./oracle/cmd/oracle --cluster cluster.yaml --config config.yaml
//	go run ./oracle/cmd/oracle --cluster cluster.yaml --replay decisions.jsonl   # checks `berth simulate -o json`
//	go run ./oracle/cmd/oracle --cluster cluster.yaml --pod-groups --replay decisions.jsonl   # with pod groups
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"berth.dev/tests/oracle/upstream"
)

type options struct {
	clusters       files
	config, replay string
	podGroups      upstream.PodGroups
	resizes        bool
}

// files is a flag that may be given several times.
type files []string

func (f *files) String() string { return strings.Join(*f, ",") }

func (f *files) Set(name string) error {
	*f = append(*f, name)
	return nil
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
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("oracle", flag.ContinueOnError)
	flags.Var(&o.clusters, "cluster", "cluster file, YAML or JSON; may be repeated")
	flags.StringVar(&o.config, "config", "", "KubeSchedulerConfiguration; must disable what the oracle does not know")
	flags.StringVar(&o.replay, "replay", "", "decisions of `berth simulate -o json` to check")
	plain := flags.Bool("pod-groups", false, "with the feature gate GenericWorkload")
	composite := flags.Bool("composite-pod-groups", false, "with CompositePodGroup and the gates that it needs")
	withClaims := flags.Bool("pod-group-claims", false, "with GenericWorkload and DRAWorkloadResourceClaims")
	flags.BoolVar(&o.resizes, "deferred-resizes", false, "with InPlacePodVerticalScalingSchedulerPreemption")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case *withClaims:
		o.podGroups = upstream.PodGroupsWithClaims
	case *composite:
		o.podGroups = upstream.CompositePodGroups
	case *plain:
		o.podGroups = upstream.PlainPodGroups
	}
	if len(o.clusters) == 0 || flags.NArg() > 0 {
		return o, errors.New("oracle: give --cluster FILE, and no arguments")
	}
	return o, nil
}

func run(o options) error {
	state, err := open(o)
	if err != nil {
		return err
	}
	defer state.Close()
	if o.replay != "" {
		return replay(state, o)
	}
	out := bufio.NewWriter(os.Stdout)
	for _, verdict := range state.JudgeAll() {
		out.Write(verdict.Line())
		out.WriteByte('\n')
	}
	return out.Flush()
}

func open(o options) (*upstream.State, error) {
	if err := errors.Join(upstream.UsePodGroups(o.podGroups), upstream.UseDeferredResizes(o.resizes)); err != nil {
		return nil, err
	}
	var texts [][]byte
	for _, name := range o.clusters {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	cluster, err := upstream.ReadCluster(texts...)
	if err != nil {
		return nil, err
	}
	var text []byte
	if o.config != "" {
		if text, err = os.ReadFile(o.config); err != nil {
			return nil, err
		}
	}
	config, err := upstream.ReadConfig(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.config, err)
	}
	return upstream.NewState(cluster, config)
}

func replay(state *upstream.State, o options) error {
	text, err := os.ReadFile(o.replay)
	if err != nil {
		return err
	}
	decisions, err := upstream.ParseDecisions(text)
	if err != nil {
		return fmt.Errorf("%s: %w", o.replay, err)
	}
	if o.podGroups != upstream.NoPodGroups {
		return state.ReplayPodGroups(decisions)
	}
	return state.Replay(decisions)
}
