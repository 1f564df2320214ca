// SPDX-License-Identifier: Apache-2.0

// Package parity compares what Berth says about a case with what kube-scheduler's own code says, and makes a
// case that differs small.
package parity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"berth.dev/tests/oracle/generate"
	"berth.dev/tests/oracle/upstream"
)

// commandLimit is how long one run of berth may take.
const commandLimit = time.Minute

// Checker compares cases, one at a time, in a folder of its own.
type Checker struct {
	// Berth is the program.
	Berth string
	// Dir is where the files of the case at hand are written.
	Dir string
	// Claims compares what each claim comes to on the nodes that a pod fits.
	Claims bool
	// ReplayVolumes replays decisions about clusters with volumes, too.
	ReplayVolumes bool
}

// Check reports the first difference, or nil. An error says that the case is none: upstream refuses it.
func (c *Checker) Check(ctx context.Context, kase generate.Case) (*Difference, error) {
	if kase.PodGroups != upstream.NoPodGroups {
		return c.check(ctx, kase, c.comparePodGroups)
	}
	difference, err := c.check(ctx, kase, c.compareVerdicts)
	// What a deferred resize does to the others is the kubelet's affair, whom neither side plays.
	if difference != nil || err != nil || kase.DeferredResizes {
		return difference, err
	}
	if kase.HasVolumes() && !c.ReplayVolumes {
		return nil, nil
	}
	kase = kase.Settled()
	if difference, err = c.check(ctx, kase, c.compareFirstPreemption); difference != nil || err != nil {
		return difference, err
	}
	return c.check(ctx, kase.WithoutPreemption(), c.compareDecisions)
}

// comparison is one of the things that are compared. It may change the state.
type comparison func(ctx context.Context, f files, state *upstream.State) *Difference

func (c *Checker) check(ctx context.Context, kase generate.Case, compare comparison) (found *Difference, err error) {
	defer func() {
		// It does so about objects that no API server admits, which shrinking makes.
		if fault := recover(); fault != nil {
			found, err = nil, fmt.Errorf("upstream panics: %v", fault)
		}
	}()
	f, err := c.write(kase)
	if err != nil {
		return nil, err
	}
	state, err := f.open()
	if err != nil {
		return nil, err
	}
	defer state.Close()
	difference := compare(ctx, f, state)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return difference, nil
}

// compareVerdicts holds the documents of `berth explain --preemption` against upstream's.
func (c *Checker) compareVerdicts(ctx context.Context, f files, state *upstream.State) *Difference {
	flags := []string{"--preemption", "-o", "json"}
	if c.Claims {
		flags = append(flags, "--claims")
	}
	out, failure := c.run(ctx, "explain", f, flags...)
	if failure != nil {
		return failure
	}
	return compareVerdicts(state.JudgeAll(), out)
}

// compareDecisions replays what `berth simulate` decided. No profile may preempt.
func (c *Checker) compareDecisions(ctx context.Context, f files, state *upstream.State) *Difference {
	return c.replay(ctx, f, ofSimulation, state.Replay)
}

// compareFirstPreemption replays what `berth simulate` decided up to the first decision that evicts pods.
func (c *Checker) compareFirstPreemption(ctx context.Context, f files, state *upstream.State) *Difference {
	return c.replay(ctx, f, ofPreemption, state.ReplayToPreemption)
}

// comparePodGroups replays what `berth simulate` decided about pod groups and other pods, up to the first decision that
// evicts pods.
func (c *Checker) comparePodGroups(ctx context.Context, f files, state *upstream.State) *Difference {
	return c.replay(ctx, f, ofPodGroups, state.ReplayPodGroups)
}

// Kinds of differences begin with what was compared.
const (
	ofSimulation = "simulate: "
	ofPreemption = "simulate, to the first preemption: "
	ofPodGroups  = "simulate, with pod groups: "
)

func (c *Checker) replay(ctx context.Context, f files, kind string, replay func([]upstream.Decision) error) *Difference {
	out, failure := c.run(ctx, "simulate", f, "--seed", f.seed, "-o", "json")
	if failure != nil {
		failure.Kind = kind + failure.Kind
		return failure
	}
	decisions, err := upstream.ParseDecisions(out)
	if err != nil {
		return &Difference{Kind: kind + "bad output", Details: []string{err.Error()}}
	}
	err = replay(decisions)
	if err == nil {
		return nil
	}
	difference := &Difference{Kind: kind + withoutNames(err.Error()), Details: []string{err.Error()}}
	var refused *upstream.Refusal
	if errors.As(err, &refused) {
		difference.Kind, difference.Pod = kind+refused.Kind, refused.Pod
		difference.Upstream, difference.Expect = refused.Verdict, expectDecision(refused)
	}
	return difference
}

// run starts berth; whatever it does but succeed is a difference.
func (c *Checker) run(ctx context.Context, verb string, f files, flags ...string) ([]byte, *Difference) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	args := append([]string{verb, "--cluster", f.clusterPath, "--config", f.configPath}, flags...)
	if f.podGroups != upstream.NoPodGroups {
		args = append(args, "--feature-gates", f.podGroups.Gates())
	}
	if f.deferredResizes {
		args = append(args, "--feature-gates", upstream.DeferredResizesGate(true))
	}
	command := exec.CommandContext(ctx, c.Berth, args...)
	var out, complaints bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaints
	if err := command.Run(); err != nil {
		said := strings.TrimSpace(complaints.String())
		if ctx.Err() != nil {
			said = "took more than " + commandLimit.String()
		}
		return nil, &Difference{
			Kind:    fmt.Sprintf("berth %s: %v: %s", verb, err, withoutNames(lastLine(said))),
			Details: []string{fmt.Sprintf("berth %s: %v", strings.Join(args, " "), err), said},
		}
	}
	return out.Bytes(), nil
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// files are a case on disk, and their text.
type files struct {
	clusterPath, configPath string
	seed                    string
	cluster, config         []byte
	podGroups               upstream.PodGroups
	deferredResizes         bool
}

// write uses YAML for a quarter of the seeds, JSON for the others: it is read much faster.
func (c *Checker) write(kase generate.Case) (files, error) {
	f := files{
		configPath: filepath.Join(c.Dir, "config.yaml"), config: kase.ConfigYAML(), seed: strconv.FormatUint(kase.Seed, 10),
		podGroups: kase.PodGroups, deferredResizes: kase.DeferredResizes,
	}
	if kase.Seed%4 == 0 {
		f.clusterPath, f.cluster = filepath.Join(c.Dir, "cluster.yaml"), kase.ClusterYAML()
	} else {
		f.clusterPath, f.cluster = filepath.Join(c.Dir, "cluster.json"), kase.ClusterJSON()
	}
	if err := os.WriteFile(f.clusterPath, f.cluster, 0o644); err != nil {
		return f, err
	}
	return f, os.WriteFile(f.configPath, f.config, 0o644)
}

func (f *files) open() (*upstream.State, error) {
	cluster, err := upstream.ReadCluster(f.cluster)
	if err != nil {
		return nil, err
	}
	config, err := upstream.ReadConfig(f.config)
	if err != nil {
		return nil, err
	}
	return upstream.NewState(cluster, config)
}
