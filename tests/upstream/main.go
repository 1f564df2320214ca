// SPDX-License-Identifier: Apache-2.0

// Command upstream runs Kubernetes' own integration tests of its scheduler, and of dynamic resource
// allocation, with Berth in the scheduler's place: where a test starts the scheduler,
// stand_in.go.txt starts Berth with the same configuration, feature gates and API server.
//
//	go run ./upstream                    # all of them, about an hour
//	go run ./upstream podgroup taint     # some, by their folder
//
// A copy of Kubernetes' module is kept in the cache, with the stand-in put into pkg/scheduler. It ends
// with 1 when a test fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"berth.dev/tests/checkout"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/program"
)

type options struct {
	suites []suite
	berth  string
	logs   string
}

var errFailed = errors.New("not all tests passed")

func main() { program.Main("upstream", parse, run) }

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("upstream", flag.ContinueOnError)
	flags.StringVar(&o.berth, "berth", "", "Berth's binary; default $"+checkout.BinaryVariable+", then what the presets build")
	flags.StringVar(&o.logs, "logs", "../.build/upstream", "folder for what tests and daemons print")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() == 0 {
		o.suites = suites
	}
	for _, folder := range flags.Args() {
		s, err := suiteIn(folder)
		if err != nil {
			return o, err
		}
		o.suites = append(o.suites, s)
	}
	return o, nil
}

func run(ctx context.Context, o options) error {
	berth, err := daemon.Berth(o.berth)
	if err != nil {
		return err
	}
	logs, err := filepath.Abs(o.logs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	binaries, err := programs.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	source, err := prepareSource(ctx)
	if err != nil {
		return err
	}
	env := environment{
		logs:  logs,
		path:  binaries.Dir() + string(os.PathListSeparator) + os.Getenv("PATH"),
		berth: berth.Path,
		tests: source.testEnv(),
	}
	var results []result
	for _, s := range o.suites {
		fmt.Fprintf(os.Stderr, "== %s\n", s.folder)
		tests, err := source.compile(ctx, s)
		if err != nil {
			return err
		}
		r, err := s.run(ctx, tests, env)
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	if err := report(os.Stdout, results); err != nil {
		return err
	}
	for _, r := range results {
		if !r.good() {
			return fmt.Errorf("%w; what they printed is in %s", errFailed, logs)
		}
	}
	return nil
}

func report(out io.Writer, results []result) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TESTS IN\tPASSED\tFAILED\tBERTH STARTED\tOWN PLUGINS")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\n", r.folder, len(r.passed), len(r.failed), r.stoodIn, r.left)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		if !r.ended {
			fmt.Fprintf(out, "\nThe tests in %s were cut short.\n", r.folder)
		}
		if len(r.failed) > 0 {
			fmt.Fprintf(out, "\nFailed in %s:\n  %s\n", r.folder, strings.Join(r.failed, "\n  "))
		}
	}
	return nil
}
