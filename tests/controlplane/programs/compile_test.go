// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth.dev/tests/checkout"
)

func TestACompilationCountsThePackagesThatBegin(t *testing.T) {
	c := &compilation{programs: 1, weights: map[string]float64{"a/b": 30, "c": 70}, total: 100}
	for _, step := range []struct {
		printed string
		done    float64
	}{
		{"a/", 0}, {"b\n", 30}, {"# c\nc.go:1: wrong\n", 30}, {"c\n", 100},
	} {
		if n, err := c.Write([]byte(step.printed)); n != len(step.printed) || err != nil {
			t.Fatalf("Write(%q) = %d, %v", step.printed, n, err)
		}
		if done, of := c.far(); done != step.done || of.Total != 100 {
			t.Errorf("after %q %v of %v are done, want %v of 100", step.printed, done, of.Total, step.done)
		}
	}
	if want := "a/b\n# c\nc.go:1: wrong\nc\n"; c.written.String() != want {
		t.Errorf("it kept %q, want %q", c.written.String(), want)
	}
}

func TestACompilationWeighsWhatIsStale(t *testing.T) {
	module, err := checkout.Module()
	if err != nil {
		t.Fatal(err)
	}
	c := &compilation{programs: 1}
	if _, before := c.far(); before.Total != bytesUncounted {
		t.Errorf("%v is to be done before it is known", before.Total)
	}
	c.weigh(exec.Command("printf", `a\t%s\tcompile.go\tcompile_test.go\n\nb\t%s\n`, filepath.Join(module, "controlplane/programs"), module))
	if c.weights["a"] < 2*bytesPerPackage/3+bytesPerPackage || c.weights["b"] != bytesPerPackage || len(c.weights) != 2 {
		t.Errorf("the weights are %v", c.weights)
	}
	if _, after := c.far(); after.Total != c.weights["a"]+c.weights["b"]+bytesPerProgram {
		t.Errorf("%v is to be done of %v and a program", after.Total, c.weights)
	}
	failed := &compilation{programs: 1}
	failed.weigh(exec.Command("false"))
	if _, of := failed.far(); of.Total != bytesUncounted {
		t.Errorf("%v is to be done where it is not known", of.Total)
	}
}

func TestAProgramIsCompiled(t *testing.T) {
	module, err := checkout.Module()
	if err != nil {
		t.Fatal(err)
	}
	into := filepath.Join(t.TempDir(), "bin")
	if err := Compile(t.Context(), io.Discard, "the demo", module, into, []string{"berth.dev/tests/demo"}, "-s -w"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(filepath.Join(into, "demo"), "-h").CombinedOutput(); !strings.Contains(string(out), "-quick") {
		t.Errorf("it says %v, %s", err, out)
	}
	err = Compile(t.Context(), io.Discard, "nothing", module, into, []string{"berth.dev/tests/nothing"}, "")
	if err == nil || !strings.Contains(err.Error(), "berth.dev/tests/nothing") {
		t.Errorf("what is not there: %v", err)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Compile(interrupted, io.Discard, "the demo", module, into, []string{"berth.dev/tests/demo"}, "-s -w"); err == nil {
		t.Error("it went on after it was interrupted")
	}
}
