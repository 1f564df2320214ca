// SPDX-License-Identifier: Apache-2.0

// Command controlplane builds, starts and stops a Kubernetes control plane on loopback.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
)

const usage = `usage:
  controlplane build [program...]
        build what the cache lacks of these programs, or of all; print their folder
  controlplane up --dir D [--kwok] [--scheduler] [--controller-manager=false] ...
        start a control plane in D, or start the one in D again; 'up --help' lists all flags
  controlplane down --dir D
        stop it; its data stays
`

// errUsage asks for the exit status of wrong input.
var errUsage = errors.New("wrong usage")

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	err := run(ctx, os.Args[1:])
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	verbs := map[string]func(context.Context, []string) error{"build": build, "up": up, "down": down}
	verb, ok := verbs[args[0]]
	if !ok {
		return errUsage
	}
	return verb(ctx, args[1:])
}

func build(ctx context.Context, args []string) error {
	binaries, err := programs.Build(ctx, os.Stderr, args...)
	if err != nil {
		return err
	}
	fmt.Println(binaries.Dir())
	return nil
}

func up(ctx context.Context, args []string) error {
	options := controlplane.Options{Detached: true}
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	dirFlag(flags, &options.Dir)
	flags.BoolVar(&options.ControllerManager, "controller-manager", true, "run kube-controller-manager")
	flags.BoolVar(&options.NodeLifecycle, "node-lifecycle", false, "taint nodes that are not ready and evict their pods")
	flags.BoolVar(&options.Kwok, "kwok", false, "run kwok, which plays the kubelet of every node")
	flags.BoolVar(&options.Scheduler, "scheduler", false, "run kube-scheduler")
	schedulerConfig := flags.String("scheduler-config", "", "`file` with kube-scheduler's configuration; implies --scheduler")
	flags.Func("apiserver-arg", "one more `flag` for kube-apiserver (repeatable)", appendTo(&options.APIServerArgs))
	flags.Func("controller-manager-arg", "one more `flag` for kube-controller-manager (repeatable)", appendTo(&options.ControllerManagerArgs))
	if err := parse(flags, args, &options.Dir); err != nil {
		return err
	}
	if *schedulerConfig != "" {
		text, err := os.ReadFile(*schedulerConfig)
		if err != nil {
			return fmt.Errorf("read the scheduler's configuration: %w", err)
		}
		options.Scheduler, options.SchedulerConfig = true, string(text)
	}
	if _, err := programs.Build(ctx, os.Stderr); err != nil {
		return err
	}
	begin := time.Now()
	c, err := controlplane.Start(ctx, options)
	if err != nil {
		return err
	}
	fmt.Printf("%s is ready after %.1f s: export KUBECONFIG=%s\n", c.URL(), time.Since(begin).Seconds(), c.Kubeconfig(controlplane.Admin))
	return nil
}

func down(_ context.Context, args []string) error {
	var dir string
	flags := flag.NewFlagSet("down", flag.ContinueOnError)
	dirFlag(flags, &dir)
	if err := parse(flags, args, &dir); err != nil {
		return err
	}
	return controlplane.Down(dir)
}

func dirFlag(flags *flag.FlagSet, dir *string) {
	flags.StringVar(dir, "dir", "", "`folder` of the control plane (required)")
}

func parse(flags *flag.FlagSet, args []string, dir *string) error {
	var messages strings.Builder
	flags.SetOutput(&messages)
	err := flags.Parse(args)
	if err == nil && (flags.NArg() > 0 || *dir == "") {
		err = errUsage
	}
	if err != nil {
		io.WriteString(os.Stderr, messages.String())
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		return errUsage
	}
	return err
}

func appendTo(list *[]string) func(string) error {
	return func(value string) error {
		*list = append(*list, value)
		return nil
	}
}
