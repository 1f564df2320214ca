// SPDX-License-Identifier: Apache-2.0

// Command demo lets Berth place some six hundred pods on a hundred nodes and shows what happened: first in the simulator, which
// needs nothing but Berth's binary, and then on a real control plane, whose programs it builds if the cache lacks them.
//
//	go run ./demo                      # on a control plane of its own, with kwok for kubelets
//	go run ./demo --kubeconfig FILE    # in a cluster that is there; nodes and pods are removed again
//	go run ./demo --quick              # in the simulator only
//	go run ./demo --ahead              # only builds for the first of these; may be ended, and goes on from there
//
// It compiles in seconds from nothing, for it imports little: the demo on a cluster, which needs a client of the API server, is
// a command of its own, in live/.
//
// It ends with the address of a page on the cluster. On a terminal all of it stays until Ctrl-C. It exits with 1 when a pod is
// not where it belongs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"berth.dev/tests/checkout"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/demo/story"
)

const livePackage = "berth.dev/tests/demo/live"

type options struct {
	kubeconfig string
	berth      string
	quick      bool
	ahead      bool
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of a cluster to use; without it one is started")
	flag.StringVar(&o.berth, "berth", "", "Berth's binary; default $"+checkout.BinaryVariable+", then what the presets build;\na kube-scheduler works too")
	flag.BoolVar(&o.quick, "quick", false, "end after the simulator, which needs no control plane")
	flag.BoolVar(&o.ahead, "ahead", false, "only build the control plane's programs; once ended by a signal, the next build goes on from there")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.ahead {
		_, err := programs.Build(ctx, os.Stderr, story.Programs...)
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	binary, err := checkout.Berth(o.berth)
	if err != nil {
		return err
	}
	screen := story.NewScreen(os.Stdout)
	if o.quick {
		p, err := runPreview(ctx, screen, binary)
		if err != nil {
			return err
		}
		defer p.close()
		if screen.Terminal {
			screen.Step("The page stays until you press Ctrl-C")
			<-ctx.Done()
		}
		return nil
	}
	if err := fillTheWait(ctx, screen, binary, o.kubeconfig); err != nil {
		return err
	}
	live, err := buildLive(ctx, screen)
	if err != nil {
		return err
	}
	return syscall.Exec(live, []string{live, "--berth", binary, "--kubeconfig", o.kubeconfig}, os.Environ())
}

// fillTheWait tells the story in the simulator where the programs of a control plane are still to be built, and builds them;
// the page stays for so long.
func fillTheWait(ctx context.Context, screen *story.Screen, binary, kubeconfig string) error {
	cached, err := programs.Cached(story.Programs...)
	if err != nil || cached || kubeconfig != "" || filepath.Base(binary) == programs.Scheduler {
		return err
	}
	p, err := runPreview(ctx, screen, binary)
	if err != nil {
		return err
	}
	defer p.close()
	screen.Heading("Next: the same on a real control plane, whose programs are built now, once. Until then the page above stays")
	_, err = programs.Build(ctx, screen.Out, story.Programs...)
	return err
}

// buildLive compiles the demo on a cluster.
func buildLive(ctx context.Context, screen *story.Screen) (file string, err error) {
	module, err := checkout.Module()
	if err != nil {
		return "", err
	}
	cache, err := checkout.Cache()
	if err != nil {
		return "", err
	}
	into := filepath.Join(cache, "demo")
	err = programs.Compile(ctx, screen.Out, "the demo's part for clusters", module, into, []string{livePackage}, "-s -w")
	return filepath.Join(into, filepath.Base(livePackage)), err
}
