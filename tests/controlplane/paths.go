// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

const modulePath = "berth.dev/tests"

// cacheRoot is where built programs are kept: $BERTH_CACHE, or ~/.cache/berth.
func cacheRoot() (string, error) {
	if dir := os.Getenv("BERTH_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the cache (set BERTH_CACHE): %w", err)
	}
	return filepath.Join(home, ".cache", "berth"), nil
}

// moduleDir finds the folder of this Go module: upwards from the working directory, where tests and
// `go run` are, else from where this file was compiled.
func moduleDir() (string, error) {
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

// rbacManifest is the manifest that ships with Berth; user berth gets exactly its rights.
func rbacManifest() (string, error) {
	dir, err := moduleDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(dir), "deploy", "rbac.yaml"), nil
}
