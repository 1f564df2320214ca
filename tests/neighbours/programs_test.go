// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth.dev/tests/checkout"
)

// TestVersionsAreThoseOfTheirModules holds each version to its go.mod, and the page to both.
func TestVersionsAreThoseOfTheirModules(t *testing.T) {
	module, err := checkout.Module()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(filepath.Dir(module), "docs", "works_with.md"))
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(module, "neighbours", "modules", "*"))
	if err != nil || len(folders) != len(All) {
		t.Errorf("%d neighbours have modules %v, %v", len(All), folders, err)
	}
	for _, n := range All {
		folder, err := n.folder()
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err != nil {
			t.Error(err)
			continue
		}
		if want := "\t" + n.Module + " " + n.Version + " "; !strings.Contains(string(text), want) {
			t.Errorf("go.mod of %s lacks %q", n.Name, want)
		}
		if !strings.Contains(string(text), "tool "+n.Main+"\n") {
			t.Errorf("go.mod of %s has no tool line for %s", n.Name, n.Main)
		}
		if !strings.Contains(string(page), "`"+n.Module+"`") || !strings.Contains(string(page), " "+n.Version+" ") {
			t.Errorf("docs/works_with.md does not say that %s was run at %s", n.Module, n.Version)
		}
	}
}
