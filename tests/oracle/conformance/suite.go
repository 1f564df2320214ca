// SPDX-License-Identifier: Apache-2.0

// Package conformance asks Berth and cel-go, in the environment that kube-scheduler gives expressions
// about devices, what the Common Expression Language's conformance suite asks (module cel.dev/expr).
package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"cel.dev/expr/conformance/test"
	"google.golang.org/protobuf/encoding/prototext"

	// The messages that values of the suite hold.
	_ "cel.dev/expr/conformance/proto2"
	_ "cel.dev/expr/conformance/proto3"
)

// Test is one of the suite's.
type Test struct {
	*test.SimpleTest
	File, Section string
}

// Name is the test's path in the suite.
func (t Test) Name() string { return t.File + "/" + t.Section + "/" + t.SimpleTest.GetName() }

// Suite reads all tests of the module's version that go.mod pins.
func Suite() ([]Test, error) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "cel.dev/expr").Output()
	if err != nil {
		return nil, fmt.Errorf("find cel.dev/expr: %w", err)
	}
	paths, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "tests", "simple", "testdata", "*.textproto"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no suite in %s: %w", folder, err)
	}
	slices.Sort(paths)
	var tests []Test
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var file test.SimpleTestFile
		if err := prototext.Unmarshal(text, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".textproto")
		for _, section := range file.GetSection() {
			for _, one := range section.GetTest() {
				tests = append(tests, Test{SimpleTest: one, File: name, Section: section.GetName()})
			}
		}
	}
	return tests, nil
}
