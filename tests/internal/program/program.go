// SPDX-License-Identifier: Apache-2.0

// Package program is how the commands of this module start and end.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main reads the options and runs the command with a context that an interrupt or a termination
// ends. The exit status is 0, also when only help was asked for; 1 when run fails; 2 when the
// arguments are wrong.
func Main[Options any](name string, parse func(args []string) (Options, error), run func(context.Context, Options) error) {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		stop()
		os.Exit(1)
	}
}
