// SPDX-License-Identifier: Apache-2.0

// Package patterns holds the regular expressions of Berth's CEL against Go's package regexp: whether a
// pattern is one, the error's words, and what it finds. It writes Berth's tables of Unicode, too.
package patterns

import (
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// bases are the categories that every code point has one of; their order numbers them.
func bases() []string {
	var names []string
	for name := range unicode.Categories {
		if len(name) == 2 && name != "LC" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// contains says whether a table has every code point of another.
func contains(all, part *unicode.RangeTable) bool {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.Is(part, r) && !unicode.Is(all, r) {
			return false
		}
	}
	return true
}

// bits are the base categories that a category is made of.
func bits(category *unicode.RangeTable, bases []string) (value uint32) {
	for i, base := range bases {
		if contains(category, unicode.Categories[base]) {
			value |= 1 << i
		}
	}
	return value
}

// canonical is a name as regexp compares it.
func canonical(name string) string {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
	return strings.ToUpper(name[:1]) + name[1:]
}

func accepted(name string) bool {
	_, err := syntax.Parse(`\p{`+name+`}`, syntax.Perl)
	return err == nil
}

// runs are code points that have the same value.
func runs(value func(rune) uint32) string {
	var text []string
	first, current := rune(0), value(0)
	for r := rune(1); r <= unicode.MaxRune+1; r++ {
		next := uint32(0)
		if r <= unicode.MaxRune {
			next = value(r)
		}
		if r > unicode.MaxRune || next != current {
			text = append(text, fmt.Sprintf("{%d,%d},", r-first, current))
			first, current = r, next
		}
	}
	return lines(text)
}

// lines are the parts, as many on a line as have room.
func lines(parts []string) string {
	var text strings.Builder
	width := 0
	for _, part := range parts {
		if width > 0 && width+len(part) > 100 {
			text.WriteByte('\n')
			width = 0
		}
		text.WriteString(part)
		width += len(part)
	}
	return text.String()
}

func names(values map[string]uint32) string {
	var text []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text = append(text, fmt.Sprintf("{%q,%#x},", name, values[name]))
	}
	return lines(text)
}

func categoryNames(bases []string) string {
	values := map[string]uint32{}
	for name, table := range unicode.Categories {
		if accepted(canonical(name)) {
			values[canonical(name)] = bits(table, bases)
		}
	}
	for name, of := range unicode.CategoryAliases {
		if accepted(canonical(name)) {
			values[canonical(name)] = bits(unicode.Categories[of], bases)
		}
	}
	values["Any"] = bits(&unicode.RangeTable{
		R16: []unicode.Range16{{Lo: 0, Hi: 0xffff, Stride: 1}},
		R32: []unicode.Range32{{Lo: 0x10000, Hi: unicode.MaxRune, Stride: 1}},
	}, bases)
	values["Assigned"] = values["Any"] &^ values["Cn"]
	return names(values)
}

func scripts() (runsText, namesText string) {
	of := slices.Sorted(maps.Keys(unicode.Scripts))
	numbers := make([]uint32, unicode.MaxRune+1)
	values := map[string]uint32{}
	for i, name := range of {
		for r := range numbers {
			if unicode.Is(unicode.Scripts[name], rune(r)) {
				numbers[r] = uint32(i + 1)
			}
		}
		if accepted(canonical(name)) {
			values[canonical(name)] = uint32(i + 1)
		}
	}
	return runs(func(r rune) uint32 { return numbers[r] }), names(values)
}

type fold struct {
	first, last, step, distance rune
}

func folds() string {
	var found []fold
	for r := rune(0); r <= unicode.MaxRune; r++ {
		distance := unicode.SimpleFold(r) - r
		if distance == 0 {
			continue
		}
		if n := extended(found, r, distance); n >= 0 {
			found[n].step, found[n].last = r-found[n].last, r
		} else {
			found = append(found, fold{r, r, 1, distance})
		}
	}
	var text []string
	for _, f := range found {
		text = append(text, fmt.Sprintf("{%d,%d,%d,%d},", f.first, f.last, f.step, f.distance))
	}
	return lines(text)
}

// extended is which of the last two runs the code point goes on with; -1: none.
func extended(found []fold, r, distance rune) int {
	for n := len(found) - 1; n >= max(0, len(found)-2); n-- {
		gap := r - found[n].last
		if found[n].distance == distance && gap <= 2 && (found[n].first == found[n].last || gap == found[n].step) {
			return n
		}
	}
	return -1
}

// Source is src/cel/unicode_tables.cc.
func Source() string {
	bases := bases()
	number := make([]uint32, unicode.MaxRune+1)
	for i, base := range bases {
		for r := range number {
			if unicode.Is(unicode.Categories[base], rune(r)) {
				number[r] = uint32(i)
			}
		}
	}
	scriptRuns, scriptNames := scripts()
	var text strings.Builder
	fmt.Fprintf(&text, `// SPDX-License-Identifier: Apache-2.0
// Unicode %s, written by tests/oracle/patterns from Go's tables:
//   go -C tests test -run TestUnicodeTables ./oracle/patterns/ -update-tables
#include "src/cel/unicode_tables.h"

// clang-format off
namespace berth::cel {
namespace {

`, unicode.Version)
	table := func(kind, name, rows string) {
		fmt.Fprintf(&text, "constexpr %s %s[] = {\n%s\n};\n\n", kind, name, rows)
	}
	table("UnicodeRun", "kCategoryRuns", runs(func(r rune) uint32 { return number[r] }))
	table("UnicodeRun", "kScriptRuns", scriptRuns)
	table("UnicodeName", "kCategoryNames", categoryNames(bases))
	table("UnicodeName", "kScriptNames", scriptNames)
	table("UnicodeFold", "kFolds", folds())
	text.WriteString(`}  // namespace

std::span<const UnicodeRun> UnicodeCategoryRuns() { return kCategoryRuns; }
std::span<const UnicodeRun> UnicodeScriptRuns() { return kScriptRuns; }
std::span<const UnicodeName> UnicodeCategoryNames() { return kCategoryNames; }
std::span<const UnicodeName> UnicodeScriptNames() { return kScriptNames; }
std::span<const UnicodeFold> UnicodeFolds() { return kFolds; }

}  // namespace berth::cel
`)
	return text.String()
}
