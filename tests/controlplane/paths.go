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

// CacheRoot is where built programs are kept: $BERTH_CACHE, or ~/.cache/berth.
func CacheRoot() (string, error) {
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

// olderModule is the folder of the module that pins an older release.
func olderModule(moduleDir, version string) string {
	return filepath.Join(moduleDir, "controlplane", "releases", minorOf(version))
}

func isModule(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && bytes.HasPrefix(text, []byte("module "+modulePath+"\n"))
}

// rightsManifests are those of the manifests that ship with Berth which say what it may do and with
// which priority; user berth gets exactly that.
func rightsManifests() ([]string, error) {
	dir, err := moduleDir()
	if err != nil {
		return nil, err
	}
	base := filepath.Join(filepath.Dir(dir), "deploy", "base")
	return []string{
		filepath.Join(base, "namespace.yaml"),
		filepath.Join(base, "rbac.yaml"),
		filepath.Join(base, "flow_schemas.yaml"),
	}, nil
}
