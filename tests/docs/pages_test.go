// SPDX-License-Identifier: Apache-2.0

// Package docs holds the pages to what they say: their commands run, what they name exists, and the
// samples are what they are said to be. Package markdown says which marks a block may have.
package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// root is the project's folder.
const root = "../.."

// files are those of the project that are there, by their paths from its root.
func files(t *testing.T, patterns ...string) (found []string) {
	t.Helper()
	arguments := append([]string{"-C", root, "ls-files", "--cached", "--others", "--exclude-standard"}, patterns...)
	out, err := exec.CommandContext(t.Context(), "git", arguments...).Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for _, file := range strings.Fields(string(out)) {
		if _, err := os.Stat(filepath.Join(root, file)); err == nil {
			found = append(found, file)
		}
	}
	return found
}

// pages are all pages of the project with their text, by their paths from its root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, page := range files(t, "*.md") {
		texts[page] = read(t, page)
	}
	if texts["README.md"] == "" {
		t.Fatal("there is no README.md")
	}
	return texts
}
