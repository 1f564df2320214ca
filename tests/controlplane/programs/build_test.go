// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASubsetMayBeCached(t *testing.T) {
	t.Setenv("BERTH_CACHE", t.TempDir())
	t.Setenv(KubernetesVariable, "")
	_, binaries, err := locate()
	if err != nil {
		t.Fatal(err)
	}
	put := func(file string) {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want bool, names ...string) {
		t.Helper()
		if got, err := Cached(names...); got != want || err != nil {
			t.Errorf("Cached(%v) = %v, %v, want %v", names, got, err, want)
		}
	}
	check(false, Etcd)
	put(binaries.Path(Etcd))
	put(binaries.Path(Kwok))
	check(true, Etcd)
	check(false, Etcd, Kwok) // kwok is of no use without its stages
	put(binaries.KwokStages())
	check(true, Etcd, Kwok)
	check(false)
	// What is there is not built, and so no `go` is asked.
	t.Setenv("PATH", "")
	if got, err := Build(t.Context(), io.Discard, Kwok, Etcd); got != binaries || err != nil {
		t.Errorf("Build = %v, %v", got, err)
	}
	if _, err := Build(t.Context(), io.Discard, Kubectl); err == nil {
		t.Error("kubectl was built without go")
	}
	if _, err := Build(t.Context(), io.Discard, "cubectl"); err == nil || !strings.Contains(err.Error(), "kubectl") {
		t.Errorf("cubectl: %v", err)
	}
}

func TestAnOlderReleaseReplacesOnlyItsServers(t *testing.T) {
	t.Setenv("BERTH_CACHE", t.TempDir())
	t.Setenv(KubernetesVariable, "1.36")
	_, binaries, err := locate()
	if err != nil {
		t.Fatal(err)
	}
	for program := range mains {
		_, older := olderMains[program]
		if got := strings.HasPrefix(binaries.Path(program), binaries.older+"/"); got != older {
			t.Errorf("%s is at %s", program, binaries.Path(program))
		}
	}
}
