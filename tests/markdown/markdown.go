// SPDX-License-Identifier: Apache-2.0

// Package markdown finds the fenced blocks of the project's pages, and what a comment says of each.
//
// Every fenced block of every page says its language. A block of commands (sh) is run by tests/docs,
// in a folder that looks like a checkout, with berth and kubectl on the path and a cluster to ask. The
// line before a block may be a comment with one of these marks. Not run:
//
//	<!-- not run: needs docker -->
//
// Run by tests/newcomer alone, in a clone, since it builds or takes minutes:
//
//	<!-- in a clone: it builds a control plane -->
//
// Of the blocks that tests/newcomer follows, one that a clone alone is not enough for, which therefore
// only tests/docs runs:
//
//	<!-- needs: kubectl and a cluster -->
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
package markdown

import (
	"fmt"
	"regexp"
	"strings"
)

// The marks of a block.
const (
	NotRun    = "not run"
	InAClone  = "in a clone"
	Needs     = "needs"
	RunsUntil = "runs until"
	File      = "file"
	Output    = "output"
)

// Block is a fenced block of a page.
type Block struct {
	Page     string // from the root
	Line     int    // of its fence
	Section  string // the heading of second level that it is under; empty at the page's top
	Language string
	Marks    map[string]string // from the comment before it, such as "not run": "needs docker"
	Text     string
}

func (b Block) String() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

var (
	fence   = regexp.MustCompile("^ *```(.*)$")
	heading = regexp.MustCompile(`^## (.+)$`)
	mark    = regexp.MustCompile(`^ *<!-- (` +
		strings.Join([]string{NotRun, InAClone, Needs, RunsUntil, File, Output}, "|") + `): (.+) -->$`)
)

// Blocks are the fenced blocks of a page, in order.
func Blocks(page, text string) (found []Block, err error) {
	var open *Block
	var before, section string
	for i, line := range strings.Split(text, "\n") {
		fences := fence.FindStringSubmatch(line)
		switch {
		case open == nil && fences != nil:
			open = &Block{Page: page, Line: i + 1, Section: section, Language: fences[1], Marks: map[string]string{}}
			if m := mark.FindStringSubmatch(before); m != nil {
				open.Marks[m[1]] = m[2]
			}
		case open != nil && fences != nil:
			found = append(found, *open)
			open = nil
		case open != nil:
			open.Text += line + "\n"
		default:
			if m := heading.FindStringSubmatch(line); m != nil {
				section = m[1]
			}
		}
		before = line
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block has no end", open)
	}
	return found, nil
}

var (
	duration = regexp.MustCompile(`\d+(\.\d+)? (us|ms|s)\b`)
	trailing = regexp.MustCompile(`(?m)[ \t]+$`)
)

// WithoutTimes is what a command prints each time it runs, on a faster machine, too: units are left out.
func WithoutTimes(text string) string {
	return strings.TrimSpace(trailing.ReplaceAllString(duration.ReplaceAllString(text, "..."), ""))
}
