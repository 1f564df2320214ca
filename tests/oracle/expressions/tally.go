// SPDX-License-Identifier: Apache-2.0

package expressions

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

type difference struct {
	question     Question
	theirs, ours Answer
}

// Tally counts answers and collects differences.
type Tally struct {
	asked       int
	kinds       map[string]int
	differences map[string][]difference
}

// What may differ: syntax errors are worded by cel-go's parser generator, which goes on after the
// first one.
const syntax = "wording of a syntax error"

// Berth refuses messages, whatever else is wrong with the expression.
const messages = "a message"

// What the evaluator calls the Go type of a list or map depends on where it came from.
var goType = regexp.MustCompile(`type: (map)?\[.*`)

// Add compares two answers to one question.
func (t *Tally) Add(q Question, theirs, ours Answer) {
	if t.kinds == nil {
		t.kinds, t.differences = map[string]int{}, map[string][]difference{}
	}
	t.asked++
	t.kinds[theirs.Kind]++
	if sort := sortOf(theirs, ours); sort != "" {
		t.differences[sort] = append(t.differences[sort], difference{q, theirs, ours})
	}
}

func sortOf(theirs, ours Answer) string {
	switch {
	case theirs.Kind == "panic":
		return ""
	case theirs.Kind != ours.Kind:
		return theirs.Kind + " became " + ours.Kind
	case theirs.Kind == "compile error":
		if theirs.Text == ours.Text {
			return ""
		}
		if strings.Contains(theirs.Text, "Syntax error") {
			return syntax
		}
		if strings.Contains(ours.Text, "messages cannot be made") {
			return messages
		}
		return "compile error"
	case theirs.Kind == "runtime error" &&
		goType.ReplaceAllString(theirs.Text, "") != goType.ReplaceAllString(ours.Text, ""):
		return "error"
	case theirs.Kind == "runtime error" && theirs.Cost != ours.Cost:
		return "cost"
	case theirs.Kind == "runtime error":
		return ""
	case theirs.Text != ours.Text:
		return "value"
	case theirs.Cost != ours.Cost:
		return "cost"
	}
	return ""
}

// Differs says whether anything does but what docs/differences.md has of compile errors.
func (t *Tally) Differs() bool {
	for sort := range t.differences {
		if sort != syntax && sort != messages {
			return true
		}
	}
	return false
}

// Print shows the counts, and the shortest differences of each sort.
func (t *Tally) Print(w io.Writer, show int) {
	fmt.Fprintf(w, "%d expressions:", t.asked)
	for _, kind := range slices.Sorted(maps.Keys(t.kinds)) {
		fmt.Fprintf(w, " %d %s;", t.kinds[kind], kind)
	}
	fmt.Fprintln(w)
	for _, sort := range slices.Sorted(maps.Keys(t.differences)) {
		found := t.differences[sort]
		fmt.Fprintf(w, "%s: %d differ\n", sort, len(found))
		slices.SortStableFunc(found, func(a, b difference) int {
			return len(a.question.Expression) - len(b.question.Expression)
		})
		for _, d := range found[:min(show, len(found))] {
			fmt.Fprintf(w, "  %s\n    upstream: %s\n    berth:    %s\n", d.question.Expression, line(d.theirs), line(d.ours))
		}
	}
}

func line(a Answer) string {
	return strings.ReplaceAll(fmt.Sprintf("%s %q cost %d", a.Kind, a.Text, a.Cost), "\n", "\\n")
}
