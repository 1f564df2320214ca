// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"berth.dev/tests/internal/progress"
	"berth.dev/tests/oracle/generate"
	"berth.dev/tests/oracle/parity"
	"berth.dev/tests/oracle/upstream"
)

// finding is a case that differs.
type finding struct {
	kase       generate.Case
	difference *parity.Difference
}

// errDiffers says that Berth and kube-scheduler decided differently somewhere.
var errDiffers = errors.New("there are differences")

// run compares all cases and fails where one differs.
func run(ctx context.Context, o options) error {
	fmt.Printf("%d cases from seed %d\n", o.seeds, o.seed)
	scratch, err := os.MkdirTemp("", "berth-parity-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	if err := errors.Join(upstream.UsePodGroups(o.podGroups), upstream.UseDeferredResizes(o.deferredResizes)); err != nil {
		return err
	}
	findings, err := compareAll(ctx, o, scratch)
	if err != nil {
		return err
	}
	if len(findings) == 0 {
		fmt.Println("no difference")
		return nil
	}
	return errors.Join(errDiffers, report(ctx, o, scratch, findings))
}

// compareAll has the findings in the order of their seeds.
func compareAll(ctx context.Context, o options, scratch string) ([]finding, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]*finding, o.seeds)
	var next, done, differ atomic.Int64
	bar := progress.New(os.Stderr)
	stop := bar.Follow("comparing", o.seeds, func() (int, string) {
		return int(done.Load()), fmt.Sprintf("%d differ", differ.Load())
	})
	var workers sync.WaitGroup
	for worker := range o.jobs {
		dir := filepath.Join(scratch, fmt.Sprint(worker))
		workers.Go(func() {
			if err := os.Mkdir(dir, 0o755); err != nil {
				cancel(err)
				return
			}
			checker := &parity.Checker{Berth: o.berth, Dir: dir, Claims: o.volumes, ReplayVolumes: o.replayVolumes}
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= o.seeds {
					return
				}
				kase := generate.New(o.seed+uint64(i), generate.Options{Nodes: o.nodes, Without: o.without, Volumes: o.volumes, Devices: o.devices,
					PodGroups: o.podGroups, DeferredResizes: o.deferredResizes})
				difference, err := checker.Check(ctx, kase)
				if err != nil {
					cancel(fmt.Errorf("seed %d: %w", kase.Seed, err))
					return
				}
				if difference != nil {
					results[i] = &finding{kase, difference}
					differ.Add(1)
				}
				done.Add(1)
			}
		})
	}
	workers.Wait()
	stop()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var findings []finding
	for _, result := range results {
		if result != nil {
			findings = append(findings, *result)
		}
	}
	return findings, nil
}

// report lists the kinds of differences, makes the first case of some of them small and writes these down.
func report(ctx context.Context, o options, scratch string, findings []finding) error {
	ofKind := map[string][]uint64{}
	var kinds []finding
	for _, f := range findings {
		seeds := ofKind[f.difference.Kind]
		if len(seeds) == 0 {
			kinds = append(kinds, f)
		}
		ofKind[f.difference.Kind] = append(seeds, f.kase.Seed)
	}
	fmt.Printf("%d of %d cases differ, in %d ways\n", len(findings), o.seeds, len(kinds))
	checker := &parity.Checker{Berth: o.berth, Dir: scratch, Claims: o.volumes, ReplayVolumes: o.replayVolumes}
	for i, f := range kinds {
		fmt.Printf("\nseed %d, and %d others: %v\n", f.kase.Seed, len(ofKind[f.difference.Kind])-1, ofKind[f.difference.Kind][1:])
		if i >= o.shrink || ctx.Err() != nil {
			f.difference.Print(os.Stdout)
			continue
		}
		bar := progress.New(os.Stderr)
		bar.Say("making seed %d small", f.kase.Seed)
		small, difference := checker.Shrink(ctx, f.kase, f.difference)
		bar.Clear()
		difference.Print(os.Stdout)
		dir := filepath.Join(o.out, fmt.Sprint(f.kase.Seed))
		if err := parity.Save(dir, small, difference); err != nil {
			return err
		}
		fmt.Printf("  made small in %s: %d objects\n", dir, len(small.Objects))
	}
	return nil
}
