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
}

// Check reports the first difference, or nil. An error says that the case is none: upstream refuses it.
func (c *Checker) Check(ctx context.Context, kase generate.Case) (*Difference, error) {
	difference, err := c.checkVerdicts(ctx, kase)
	if difference != nil || err != nil {
		return difference, err
	}
	return c.checkDecisions(ctx, kase)
}

// checkVerdicts compares the documents of `berth explain`.
func (c *Checker) checkVerdicts(ctx context.Context, kase generate.Case) (*Difference, error) {
	files, err := c.write(kase)
	if err != nil {
		return nil, err
	}
	state, err := files.open()
	if err != nil {
		return nil, err
	}
	defer state.Close()
	out, failure := c.run(ctx, "explain", "--cluster", files.clusterPath, "--config", files.configPath, "-o", "json")
	if failure != nil {
		return failure, ctx.Err()
	}
	return compareVerdicts(state.JudgeAll(), out), nil
}

// checkDecisions replays what `berth simulate` decided.
func (c *Checker) checkDecisions(ctx context.Context, kase generate.Case) (*Difference, error) {
	files, err := c.write(kase)
	if err != nil {
		return nil, err
	}
	state, err := files.open()
	if err != nil {
		return nil, err
	}
	defer state.Close()
	out, failure := c.run(ctx, "simulate", "--cluster", files.clusterPath, "--config", files.configPath,
		"--seed", strconv.FormatUint(kase.Seed, 10), "-o", "json")
	if failure != nil {
		return failure, ctx.Err()
	}
	decisions, err := upstream.ParseDecisions(out)
	if err != nil {
		return &Difference{Kind: "simulate: bad output", Details: []string{err.Error()}}, nil
	}
	if err := state.Replay(decisions); err != nil {
		difference := &Difference{Kind: "simulate: " + withoutNames(err.Error()), Details: []string{err.Error()}}
		var refused *upstream.Refusal
		if errors.As(err, &refused) {
			difference.Kind, difference.Pod = "simulate: "+refused.Kind, refused.Pod
			difference.Upstream, difference.Expect = refused.Verdict, expectDecision(refused)
		}
		return difference, nil
	}
	return nil, nil
}

// run starts berth; whatever it does but succeed is a difference.
func (c *Checker) run(ctx context.Context, args ...string) ([]byte, *Difference) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	command := exec.CommandContext(ctx, c.Berth, args...)
	var out, complaints bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaints
	if err := command.Run(); err != nil {
		said := strings.TrimSpace(complaints.String())
		if ctx.Err() != nil {
			said = "took more than " + commandLimit.String()
		}
		return nil, &Difference{
			Kind:    fmt.Sprintf("berth %s: %v: %s", args[0], err, withoutNames(lastLine(said))),
			Details: []string{fmt.Sprintf("berth %s: %v", strings.Join(args, " "), err), said},
		}
	}
	return out.Bytes(), nil
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// files are a case on disk, and their text.
type files struct {
	clusterPath, configPath string
	cluster, config         []byte
}

// write uses YAML for a quarter of the seeds, JSON for the others: it is read much faster.
func (c *Checker) write(kase generate.Case) (files, error) {
	f := files{configPath: filepath.Join(c.Dir, "config.yaml"), config: kase.ConfigYAML()}
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
