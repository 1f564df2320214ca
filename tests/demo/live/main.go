// SPDX-License-Identifier: Apache-2.0

// Command live is the demo on a cluster: one of its own, or one that is there. The command above it builds what this needs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"berth.dev/tests/checkout"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/demo/story"
	"berth.dev/tests/internal/daemon"
)

// limit is how long the demo may take once the cluster is up.
const limit = 3 * time.Minute

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of a cluster to use; without it one is started")
	binary := flag.String("berth", "", "Berth's binary, or a kube-scheduler; default $"+checkout.BinaryVariable+", then what the presets build")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, story.NewScreen(os.Stdout), *kubeconfig, *binary); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, screen *story.Screen, kubeconfig, binary string) (err error) {
	program, err := daemon.Berth(binary)
	if err != nil {
		return err
	}
	if filepath.Base(program.Path) == programs.Scheduler {
		program = daemon.Peer(program.Path)
	}
	cluster, err := openCluster(ctx, screen, kubeconfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.close()) }()
	interrupted := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the demo took more than %s", limit))
	defer cancel()
	show := &show{Story: story.New(screen), cluster: cluster}
	if err := show.prepare(ctx); err != nil {
		return err
	}
	defer show.tracker.Stop()
	d, err := daemon.Start(program, daemon.Options{
		Config:     story.Config,
		Kubeconfig: cluster.daemonKubeconfig,
		Dir:        cluster.dir,
	})
	if err != nil {
		return err
	}
	defer d.Kill()
	show.Step("%s runs as process %d", program.Name, d.PID())
	if err := show.play(ctx, d); err != nil {
		return fmt.Errorf("%w\n%s", err, d.Tail())
	}
	if program.Peer { // it has no page
		return errors.Join(show.Verdict(), d.Stop())
	}
	berth, err := show.asked(program)
	if err != nil {
		return err
	}
	page, err := show.OpenPage(berth)
	if err != nil {
		return err
	}
	defer page.Close()
	if err := errors.Join(show.checkPage(ctx, page), show.Verdict()); err != nil {
		return err
	}
	if show.Terminal {
		show.Step("The control plane, Berth and the page stay until you press Ctrl-C")
		select {
		case <-interrupted.Done():
		case <-d.Exited():
		}
	}
	return d.Stop()
}
