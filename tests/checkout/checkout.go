// SPDX-License-Identifier: Apache-2.0

// Package checkout finds what is around the tests: their module, what the presets build, and the cache.
package checkout

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

const modulePath = "berth.dev/tests"

// BinaryVariable names the environment variable that holds Berth's binary.
const BinaryVariable = "BERTH_BINARY"

// Berth is the binary of that path; "" is the one that BERTH_BINARY names, else what the preset quick builds.
func Berth(path string) (string, error) {
	if path == "" {
		path = os.Getenv(BinaryVariable)
	}
	if path == "" {
		module, err := Module()
		if err != nil {
			return "", err
		}
		path = filepath.Join(module, "..", ".build", "quick", "bin", "berth")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find berth: %w", err)
	}
	if info, err := os.Stat(absolute); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("no berth at %s: build it, or set %s", path, BinaryVariable)
	}
	return absolute, nil
}

// Cache is where built programs are kept: $BERTH_CACHE, or ~/.cache/berth.
func Cache() (string, error) {
	if dir := os.Getenv("BERTH_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the cache (set BERTH_CACHE): %w", err)
	}
	return filepath.Join(home, ".cache", "berth"), nil
}

// Module is the folder of this Go module: upwards from the working directory, where tests and
// `go run` are, else from where this file was compiled.
func Module() (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", modulePath, err)
	}
	starts := []string{cwd}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		starts = append(starts, filepath.Dir(file))
	}
	for _, start := range starts {
		for dir := start; ; dir = filepath.Dir(dir) {
			for _, candidate := range []string{dir, filepath.Join(dir, "tests")} {
				if isModule(candidate) {
					return candidate, nil
				}
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", fmt.Errorf("module %s is not at or above %s", modulePath, cwd)
}

func isModule(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && bytes.HasPrefix(text, []byte("module "+modulePath+"\n"))
}
