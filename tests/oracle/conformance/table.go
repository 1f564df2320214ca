// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reason says why both sides refuse a test; "" for tests that they do not refuse.
func reason(r Result) string {
	text := r.Ours.Text()
	switch {
	case r.Verdict != Refused:
		return ""
	case strings.Contains(text, "messages cannot be made"):
		return "messages"
	case r.Test.GetDisableCheck():
		return "not to be checked"
	case strings.Contains(text, "undeclared reference") || strings.Contains(text, "simple name") ||
		strings.Contains(text, "not an identifier"):
		return "unknown names"
	case strings.Contains(text, "expected type"):
		return "mixed types"
	case strings.Contains(text, "program instantiation failed") || strings.Contains(text, "invalid") ||
		strings.Contains(text, "formatting"):
		return "constants"
	default:
		return "others"
	}
}

// row is what came of some tests.
type row struct {
	tests   int
	counts  [verdicts]int
	reasons map[string]int
}

func (w *row) add(r Result) {
	if w.reasons == nil {
		w.reasons = map[string]int{}
	}
	w.tests++
	w.counts[r.Verdict]++
	if why := reason(r); why != "" {
		w.reasons[why]++
	}
}

func (w *row) text(name string) string {
	reasons := slices.SortedFunc(maps.Keys(w.reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(w.reasons[b], w.reasons[a]), cmp.Compare(a, b))
	})
	var why []string
	for _, reason := range reasons {
		why = append(why, fmt.Sprintf("%d %s", w.reasons[reason], reason))
	}
	c := w.counts
	return fmt.Sprintf("| %s | %d | %d | %d | %s | %d | %d | %d |\n", name, w.tests, c[Passes], c[Refused],
		strings.Join(why, ", "), c[Alike], c[OnPurpose], c[NotAsked])
}

// Table is the page's: what came of each file's tests.
func Table(results []Result) string {
	rows := map[string]*row{}
	var all row
	for _, r := range results {
		if rows[r.Test.File] == nil {
			rows[r.Test.File] = &row{}
		}
		rows[r.Test.File].add(r)
		all.add(r)
	}
	text := "| File | Tests | Pass | Refused | Why | Alike | On purpose | Not asked |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n"
	for _, file := range slices.Sorted(maps.Keys(rows)) {
		text += rows[file].text("`" + file + "`")
	}
	return text + all.text("all")
}
