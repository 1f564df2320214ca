// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestTheStandInFitsThePinnedRelease(t *testing.T) {
	module, err := goList(t.Context(), "-m", "-f", "{{.Dir}}", kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	for name, calls := range map[string][]string{
		"pkg/scheduler/scheduler.go":                      {"noteOptions(sched, options)", "standIn(ctx, sched)"},
		"pkg/scheduler/backend/queue/scheduling_queue.go": {"unschedulableOf(waiting())", "queuedPodOf(waiting(), namespace, name)"},
	} {
		text, err := patch(module, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls {
			if strings.Count(string(text), call) != 1 {
				t.Errorf("%s is not called once", call)
			}
		}
		other := t.TempDir()
		if err := os.MkdirAll(filepath.Join(other, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other, name), text[:100], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := patch(other, name); err == nil {
			t.Errorf("a %s without the places was patched", name)
		}
	}
	for _, s := range suites {
		if _, err := os.Stat(filepath.Join(module, s.path())); err != nil {
			t.Error(err)
		}
	}
}

func TestSuitesAreFoundByTheirFolders(t *testing.T) {
	for folder, want := range map[string]string{
		".":               "test/integration/scheduler",
		"preemption/misc": "test/integration/scheduler/preemption/misc",
		"dra/ga/":         "test/integration/dra/ga",
	} {
		s, err := suiteIn(folder)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.path(); got != want {
			t.Errorf("%s is in %s, not in %s", folder, got, want)
		}
	}
	if _, err := suiteIn("queueing"); err == nil {
		t.Error("a folder that is left out was found")
	}
}

func TestWhatTestsPrintIsCounted(t *testing.T) {
	const output = `=== RUN   TestA
STAND-IN: berth, in x
    a_test.go:1: text with --- FAIL: in it
--- FAIL: TestA (1.00s)
    --- PASS: TestA/one (0.10s)
    --- FAIL: TestA/two (0.10s)
STAND-IN: none
--- PASS: TestB (1.00s)
--- FAIL: TestC (1.00s)
    --- PASS: TestC/one (1.00s)
PASS
`
	got, err := readResult("x", strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	want := result{folder: "x", passed: []string{"TestA/one", "TestB", "TestC/one"}, failed: []string{"TestA/two", "TestC"},
		stoodIn: 1, left: 1, ended: true}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.good() {
		t.Error("good, with failures")
	}
	if (result{passed: []string{"TestB"}, left: 1, ended: true}).good() {
		t.Error("good, though Berth never ran")
	}
	if (result{passed: []string{"TestB"}, stoodIn: 1}).good() {
		t.Error("good, though cut short")
	}
}
