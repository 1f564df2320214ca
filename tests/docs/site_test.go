// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// buildSite runs a checkout's ./dev docs.
func buildSite(t *testing.T, checkout string) (output string, err error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(checkout, "dev"), "docs").CombinedOutput()
	return string(out), err
}

// loaded is what a browser gets by itself when it shows a page, unlike the target of a link.
var loaded = regexp.MustCompile(`<(?:script|img|iframe|source|link)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"`)

func TestTheSiteIsBuiltAndComesFromNoOtherHost(t *testing.T) {
	if out, err := buildSite(t, root); err != nil {
		t.Fatalf("./dev docs: %v\n%s", err, out)
	}
	site := filepath.Join(root, ".build/site")
	checked := 0
	err := filepath.WalkDir(site, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".html":
			checked++
			if foreign := loaded.Find(text); foreign != nil {
				t.Errorf("%s loads %s", path, foreign)
			}
		case ".css":
			if foreign := regexp.MustCompile(`(?:@import|url\()\s*["']?(?:https?:)?//[^)\s]*`).Find(text); foreign != nil {
				t.Errorf("%s loads %s", path, foreign)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := len(pages(t)) / 2; checked < want {
		t.Errorf("the site has %d pages, want at least %d", checked, want)
	}
	// Where alerts lead to.
	runbook := read(t, ".build/site/runbook.html")
	anchors := regexp.MustCompile(`runbook_url: "[^"#]*/runbook\.html#(\w+)"`).FindAllStringSubmatch(
		read(t, "deploy/components/monitoring/prometheus_rule.yaml"), -1)
	if len(anchors) == 0 {
		t.Error("no alert leads to the runbook")
	}
	for _, anchor := range anchors {
		if !strings.Contains(runbook, `id="`+anchor[1]+`"`) {
			t.Errorf("the site's runbook has no %s", anchor[1])
		}
	}
	if !strings.Contains(read(t, ".build/site/releasing.html"), `id="provenance"`) {
		t.Error("the site has no page of the build that provenance names")
	}
	// Sphinx' search reads this file, also where the pages are no server's.
	index := read(t, ".build/site/searchindex.js")
	for _, page := range []string{"troubleshooting", "tree/deploy/README", "tree/plugins/node_affinity/README"} {
		if !strings.Contains(index, `"`+page+`"`) {
			t.Errorf("the search knows no page %s", page)
		}
	}
}

// TestTheSiteIsNotBuiltFromABrokenPage builds it in a copy of what it is made from, with mistakes.
func TestTheSiteIsNotBuiltFromABrokenPage(t *testing.T) {
	checkout := t.TempDir()
	for _, file := range files(t, "dev", "docs", "include", "plugins/examples", "*.md") {
		from, err := os.Stat(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(checkout, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(read(t, file)), from.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", checkout, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(checkout, "docs/stray.md"), []byte(
		"# A page that no table of contents lists\n\n[a](nowhere.md) [b](metrics.md#no-such-heading)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := buildSite(t, checkout)
	if err == nil {
		t.Error("the site is built all the same")
	}
	for _, want := range []string{"nowhere.md", "no-such-heading", "stray.md: WARNING: document isn't included in any toctree"} {
		if !strings.Contains(out, want) {
			t.Errorf("no word of %q in\n%s", want, out)
		}
	}
}
