// SPDX-License-Identifier: Apache-2.0

// Package docs holds the pages to what they say: their commands run, what they name exists, and the
// samples are what they are said to be.
//
// Every fenced block of every page says its language. A block of commands (sh) is run, unless the
// line before it is a comment with the reason why not:
//
//	<!-- not run: needs docker -->
//
// The last command of a block that runs until it is stopped is stopped once it has written a text:
//
//	<!-- runs until: Serving securely -->
//
// A block that later commands of the page read is put into a file:
//
//	<!-- file: config.yaml -->
//
// What the commands before it print, but for times, is held to what they do print:
//
//	<!-- output: of the commands above -->
package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the project's folder.
const root = "../.."

// block is a fenced block of a page.
type block struct {
	page     string // from the root
	line     int    // of its fence
	language string
	marks    map[string]string // from the comment before it, such as "not run": "needs docker"
	text     string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

var (
	fence = regexp.MustCompile("^ *```(.*)$")
	mark  = regexp.MustCompile(`^ *<!-- (not run|runs until|file|output): (.+) -->$`)
)

// blocks are the fenced blocks of a page, in order.
func blocks(page, text string) (found []block, err error) {
	var open *block
	var before string
	for i, line := range strings.Split(text, "\n") {
		fences := fence.FindStringSubmatch(line)
		switch {
		case open == nil && fences != nil:
			open = &block{page: page, line: i + 1, language: fences[1], marks: map[string]string{}}
			if m := mark.FindStringSubmatch(before); m != nil {
				open.marks[m[1]] = m[2]
			}
		case open != nil && fences != nil:
			found = append(found, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
		before = line
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block has no end", open)
	}
	return found, nil
}

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
