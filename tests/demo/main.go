// SPDX-License-Identifier: Apache-2.0

// Command demo lets Berth place some six hundred pods on a hundred nodes and shows what happened.
//
//	go run ./demo                      # on a control plane of its own, with kwok for kubelets
//	go run ./demo --kubeconfig FILE    # in a cluster that is there; nodes and pods are removed again
//	go run ./demo --preview            # in the simulator, without any cluster
//
// It ends with the address of a page on the cluster. On a terminal all of it stays until Ctrl-C. It exits with 1 when a pod is not where it belongs.
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

	"berth.dev/tests/controlplane"
	"berth.dev/tests/daemon"
	"berth.dev/tests/progress"
)

// limit is how long the demo may take once the cluster is up.
const limit = 3 * time.Minute

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of a cluster to use; without it one is started")
	binary := flag.String("berth", "", "Berth's binary; default $"+daemon.BinaryVariable+", then what the presets build;\na kube-scheduler works too")
	onlyPreview := flag.Bool("preview", false, "tell the story in the simulator only, which needs no control plane")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *binary, *onlyPreview); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

// fillTheWait tells the story in the simulator first where the programs of a control plane are still to be built.
func fillTheWait(ctx context.Context, s *screen, program daemon.Program, kubeconfig string) error {
	cached, err := controlplane.Cached()
	if err != nil || cached || kubeconfig != "" || program.Peer {
		return err
	}
	if err := runPreview(ctx, s, program); err != nil {
		return err
	}
	s.heading("The same on a real control plane: its programs are built now, which takes a quarter of an hour, once")
	_, err = controlplane.Build(ctx, s.out)
	return err
}

func run(ctx context.Context, kubeconfig, binary string, onlyPreview bool) (err error) {
	program, err := daemon.Berth(binary)
	if err != nil {
		return err
	}
	if filepath.Base(program.Path) == "kube-scheduler" {
		program = daemon.Peer(program.Path)
	}
	s := newScreen(os.Stdout)
	if onlyPreview {
		return runPreview(ctx, s, program)
	}
	if err := fillTheWait(ctx, s, program, kubeconfig); err != nil {
		return err
	}
	cluster, err := openCluster(ctx, s, kubeconfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.close()) }()
	interrupted := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the demo took more than %s", limit))
	defer cancel()
	show := &show{screen: s, cluster: cluster}
	if err := show.prepare(ctx); err != nil {
		return err
	}
	defer show.tracker.Stop()
	d, err := daemon.Start(program, daemon.Options{
		Config:     config,
		Kubeconfig: cluster.daemonKubeconfig,
		Dir:        cluster.dir,
	})
	if err != nil {
		return err
	}
	defer d.Kill()
	s.step("%s runs as process %d", program.Name, d.PID())
	if err := show.play(ctx, d); err != nil {
		return fmt.Errorf("%w\n%s", err, d.Tail())
	}
	if err := show.askQuestions(ctx, program); err != nil {
		return fmt.Errorf("%w\n%s", err, d.Tail())
	}
	page, err := show.openPage(ctx, program)
	if err != nil {
		return err
	}
	if page != nil {
		defer page.close()
	}
	if err := show.verdict(); err != nil {
		return err
	}
	if page != nil && progress.IsTerminal(os.Stdout) {
		s.step("The control plane, Berth and the page stay until you press Ctrl-C")
		select {
		case <-interrupted.Done():
		case <-d.Exited():
		}
	}
	return d.Stop()
}
