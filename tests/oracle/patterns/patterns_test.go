// SPDX-License-Identifier: Apache-2.0

package patterns

import (
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// tooLarge says that Berth refuses what is too large for RE2, where Go has no fault to find or another.
func tooLarge(q Question, ours Answer) bool {
	return strings.Contains(Text(q.Pattern), "1000}") && strings.Contains(Text(ours.Error), "expression too large")
}

// hold asks both, and wants the same answers, but for `large` of those that are too large for RE2.
func hold(t *testing.T, questions []Question, large int) []Answer {
	t.Helper()
	ours, err := Berth(questions)
	if err != nil {
		t.Fatal(err)
	}
	differ := 0
	for i, q := range questions {
		theirs := Go(q)
		if theirs.Error == ours[i].Error && reflect.DeepEqual(theirs.Found, ours[i].Found) {
			continue
		}
		if large > 0 && tooLarge(q, ours[i]) {
			large--
			continue
		}
		if differ++; differ <= 20 {
			t.Errorf("%q:\n  Go:    %s\n  Berth: %s", Text(q.Pattern), said(q, theirs), said(q, ours[i]))
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d differ", differ, len(questions))
	}
	return ours
}

func said(q Question, a Answer) string {
	if a.Error != "" {
		return Text(a.Error)
	}
	var parts []string
	for i, found := range a.Found {
		var texts []string
		for _, part := range found.Parts {
			texts = append(texts, strconv.Quote(Text(part)))
		}
		parts = append(parts, strconv.Quote(Text(q.Texts[i]))+": "+strings.Join(texts, " "))
	}
	return strings.Join(parts, "; ")
}

func TestPatternsFindWhatGoFinds(t *testing.T) {
	seed, count := uint64(1), 15_000
	if text := os.Getenv("BERTH_SEED"); text != "" {
		given, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = given
	}
	g := Generator{rand.New(rand.NewPCG(seed, 0))}
	var questions []Question
	for range count {
		questions = append(questions, Ask(g.Pattern(), g.InText(), g.InText(), g.InText()))
	}
	t.Logf("seed %d", seed)
	refused := 0
	for _, answer := range hold(t, questions, count/1000) {
		if answer.Error != "" {
			refused++
		}
	}
	t.Logf("%d patterns, %d of them refused", count, refused)
	if refused < count/10 || refused > count*9/10 {
		t.Errorf("%d of %d random patterns are none", refused, count)
	}
}

// What RE2 refuses, names otherwise or takes for another thing.
func TestPatternsOfGoAlone(t *testing.T) {
	var questions []Question
	for _, pattern := range []string{
		`(?<name>a)(?P<other>b)`, `(?<n>a)|(?<n>b)`, `(?P<n>a)(?P<n>b)`, `(?<n>a){2}`, `^(?<vendor>[a-z]+)-(?<model>\w+)$`,
		`\p{Letter}+`, `\p{greek}`, `\p{ASCII}`, `\p{Assigned}`, `\p{Cn}`, `\p{LC}`, `(?i)\P{LC}`, `(?i)\P{L}`, `(?i)\P{cased letter}`, `\p{lowercase letter}`, `\p{Old_Italic}`,
		`\C`, `(?:(?:x{1000}){0}){1000}`, `(?:x{2}){500}`, `(?:x{2}){501}`, `((x{10}){10}){10}`, `((x{10}){10}){11}`,
		`\pL{1000}`, `[\pL\pN]{1,1000}`, `\p{Lu}{1000}`, `x{1000}`, `x{0,1000}`, `(?:x{0,2}){500}`, `.{1000}`, `[^a]{1000}`, `\pL{63}`, `[\pL\pN]{1,63}`, `(?i)[\pL]{200}`,
		`a*\Q\E*`, `\Q\E*`, `(?i)*`, `(?:)*`, `()+`, `(|a)*`, `(|a)+`, `(a|)+?`, `(?:a??)*`, `(?:a*?)+`, `^*`, `$?b`, `\b+a`,
		strings.Repeat("(", 990) + strings.Repeat(")", 990), strings.Repeat("(?:", 5000) + "a" + strings.Repeat(")", 5000),
		strings.Repeat("(", 1100) + strings.Repeat(")", 1100), strings.Repeat("(?:", 1100) + "a" + strings.Repeat(")*", 1100),
		strings.Repeat("a{0,1000}", 100) + "b", strings.Repeat("a?", 300) + "-", strings.Repeat("(?:a?){0,30}|b|", 100) + "x+",
		strings.Repeat("ac?b?|", 300) + "x+", strings.Repeat("(ab?|", 300) + "x+" + strings.Repeat(")?", 300),
		"(?:" + strings.Repeat("ab?|[x-z]?|", 200) + "){2}-",
		strings.Repeat("(xx?){1000}", 1000), strings.Repeat(`\pL`, 27000),
	} {
		questions = append(questions, Ask(pattern, "", "ab", "aab-b", "nvidia-a100", "Σéx", "\u0345", strings.Repeat("x", 1005), "x\xffx", "\u0378", "\U00010300"))
	}
	hold(t, questions, 0)
}

// What neither Go nor Berth can do without: RE2's programs are of bytes, Go's of code points.
func TestPatternsThatAreTooLargeForBerthAlone(t *testing.T) {
	for _, pattern := range []string{`\pL{1000}\pL{1000}`, strings.Repeat(`\PL`, 2000)} {
		q := Ask(pattern, "a")
		ours, err := Berth([]Question{q})
		if err != nil {
			t.Fatal(err)
		}
		if theirs := Go(q); theirs.Error != "" || !strings.Contains(Text(ours[0].Error), "expression too large") {
			t.Errorf("%.40s: Go says %q, Berth %q", pattern, Text(theirs.Error), Text(ours[0].Error))
		}
		if ours[0].Steps > 1_000_000 {
			t.Errorf("%.40s: refused after %d steps", pattern, ours[0].Steps)
		}
	}
}

func TestPropertiesAreGos(t *testing.T) {
	names := slices.Concat(slices.Collect(maps.Keys(unicode.Categories)), slices.Collect(maps.Keys(unicode.Scripts)),
		slices.Collect(maps.Keys(unicode.CategoryAliases)), []string{"Any", "ASCII", "Assigned", "Nope"})
	slices.Sort(names)
	// A text with the ends of all runs of any property, and what is next to them.
	var text strings.Builder
	for r := rune(1); r < unicode.MaxRune; r++ {
		edge := unicode.SimpleFold(r) != r && unicode.SimpleFold(r) < r+64
		for _, table := range unicode.Categories {
			if edge {
				break
			}
			edge = unicode.Is(table, r) != unicode.Is(table, r-1)
		}
		if edge {
			text.WriteRune(r)
		}
	}
	var questions []Question
	for _, pattern := range Properties(names) {
		questions = append(questions, Ask(pattern, text.String()))
	}
	hold(t, questions, 0)
}
