// SPDX-License-Identifier: Apache-2.0

// Package daemon starts the scheduler under test, Berth or its peer kube-scheduler, with one command
// line for both, and watches it: its log, its CPU time and how it ends.
//
// The package workload below it makes the nodes and pods for it and sees what becomes of them.
package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// BinaryVariable names the environment variable that holds Berth's binary.
const BinaryVariable = "BERTH_BINARY"

// Program is a scheduler that can be started.
type Program struct {
	Name string
	Path string

	// Peer says that it is kube-scheduler: it knows neither the command `run` nor --seed, and exits
	// with 1 when told to end without leader election.
	Peer bool
}

// Peer is a kube-scheduler.
func Peer(path string) Program { return Program{Name: "kube-scheduler", Path: path, Peer: true} }

// Berth is the binary of that path; "" is the one that BERTH_BINARY names, else what the preset
// release builds, else what dev does.
func Berth(path string) (Program, error) {
	if path == "" {
		path = os.Getenv(BinaryVariable)
	}
	candidates := []string{path}
	if path == "" {
		root, err := moduleDir()
		if err != nil {
			return Program{}, err
		}
		candidates = nil
		for _, preset := range []string{"release", "dev"} {
			candidates = append(candidates, filepath.Join(root, "..", ".build", preset, "bin", "berth"))
		}
	}
	for _, candidate := range candidates {
		absolute, err := filepath.Abs(candidate)
		if err != nil {
			return Program{}, fmt.Errorf("find berth: %w", err)
		}
		if info, err := os.Stat(absolute); err == nil && info.Mode().IsRegular() {
			return Program{Name: "berth", Path: absolute}, nil
		}
	}
	return Program{}, fmt.Errorf("no berth at %s: build it, or set %s",
		strings.Join(candidates, " or "), BinaryVariable)
}

// moduleDir finds the folder of this Go module, upwards from the working directory.
func moduleDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the tests: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		for _, candidate := range []string{dir, filepath.Join(dir, "tests")} {
			text, err := os.ReadFile(filepath.Join(candidate, "go.mod"))
			if err == nil && bytes.HasPrefix(text, []byte("module berth.dev/tests\n")) {
				return candidate, nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("find the tests: run inside Berth's checkout")
		}
	}
}
