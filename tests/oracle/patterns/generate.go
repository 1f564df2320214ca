// SPDX-License-Identifier: Apache-2.0

package patterns

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generator makes random patterns, most of which are some, and texts that they may match.
type Generator struct{ *rand.Rand }

func pick[T any](g Generator, from ...T) T { return from[g.IntN(len(from))] }

var (
	letters = []string{"a", "b", "B", "k", "K", "s", "1", "_", " ", "\n", "é", "É", "ſ", "\u212a", "σ", "ς", "Σ", "ǅ", "世",
		"\u0345", "ι", "\U0001f600", "\U00010400", "\U00010428", "\u1c8a", "\ua7dc", "\ufffd", "-", "]", "\\", "\t"}
	properties = []string{"L", "Lu", "Ll", "Lt", "LC", "N", "Nd", "P", "Z", "C", "Cc", "Cn", "Co", "Cs", "M", "Mn", "S", "Greek", "greek",
		"Han", "Latin", "Any", "ASCII", "Assigned", "Letter", "letter", "Uppercase_Letter", "uppercase letter",
		"Old_Italic", "Common", "Inherited", "Cyrillic", "Kawi", "Nope", "^Lu", "^Greek", "l u", "L-C", ""}
	classes = []string{`\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `[[:alpha:]]`, `[[:^alpha:]]`, `[[:space:]]`, `[[:word:]]`,
		`[[:punct:]x]`, `[[:nope:]]`, `[:alpha:]`, `[[:alpha]`, `[[:ascii:]]`, `[[:cntrl:][:xdigit:]]`}
	escapes = []string{`\.`, `\-`, `\_`, `\n`, `\t`, `\a`, `\f`, `\v`, `\r`, `\x41`, `\x{1F600}`, `\x{110000}`, `\x{}`, `\x4`, `\xg1`, `\07`, `\101`,
		`\1`, `\8`, `\q`, `\C`, `\Z`, `\e`, `\é`, `\A`, `\z`, `\b`, `\B`, `\x{D800}`, `\x{0}`, `\777`, `\000`, `\x{41`, `\G`, `\K`, `\R`, `\X`}
	quoted     = []string{`\Qa.b\E`, `\Q\E`, `\Qa`, `\Qa\Eb\E`, `\Q\\E`, `\Qé*\E`}
	groups     = []string{"(", "(?:", "(?P<n>", "(?<n>", "(?<n1_X>", "(?i:", "(?s:", "(?m:", "(?U:", "(?i-s:", "(?-i:", "(?im-sU:", "(?ii:", "(?P<>", "(?<n", "(?<é>", "(?<n-m>", "(?'n'", "(?=", "(?!", "(?<=", "(?<!", "(?P=n)", "(?>", "(?#c)", "(?-:", "(?--i:", "(?:", "(?P<n>", "(?<n>"}
	flagGroups = []string{"(?i)", "(?s)", "(?m)", "(?U)", "(?-i)", "(?is)", "(?)", "(?i-)", "(?-U)"}
	operators  = []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{0}", "{0,}", "{1}", "{1,1}", "{0,0}", "{0,2}", "{1,3}?", "{2,}", "{2,}?", "{,2}", "{2,1}", "{1001}", "{1000}", "{12345678901}", "{01}", "{a}", "{", "{2", "**", "+*", "{2}{3}", "??+", "{2}?"}
)

// Pattern is a random one.
func (g Generator) Pattern() string {
	pattern := g.alternatives(1 + g.IntN(4))
	if g.IntN(5) == 0 {
		pattern = g.spoil(pattern)
	}
	return pattern
}

func (g Generator) alternatives(depth int) string {
	parts := make([]string, 1+max(0, g.IntN(5)-2))
	for i := range parts {
		parts[i] = g.sequence(depth)
	}
	return strings.Join(parts, "|")
}

func (g Generator) sequence(depth int) string {
	var text strings.Builder
	for range g.IntN(5) {
		text.WriteString(g.one(depth))
		if g.IntN(3) == 0 {
			text.WriteString(g.operator())
		}
	}
	return text.String()
}

// operator is a repetition, most of which are right.
func (g Generator) operator() string {
	if g.IntN(4) != 0 {
		return operators[g.IntN(10)]
	}
	return pick(g, operators...)
}

func (g Generator) one(depth int) string {
	switch g.IntN(14) {
	case 0, 1:
		if depth > 0 {
			open := groups[g.IntN(6)]
			if g.IntN(4) == 0 {
				open = pick(g, groups...)
			}
			return open + g.alternatives(depth-1) + ")"
		}
		return ""
	case 2:
		return g.brackets()
	case 3:
		return pick(g, `\p`, `\P`) + "{" + pick(g, properties...) + "}"
	case 4:
		return pick(g, `\pL`, `\PN`, `\pl`, `\pX`, `\p`, `\p{L`, `\p{`)
	case 5:
		return pick(g, classes...)
	case 6:
		return pick(g, escapes...)
	case 7:
		return pick(g, ".", "^", "$", ".", "")
	case 8:
		return pick(g, quoted...)
	case 9:
		return pick(g, flagGroups...)
	default:
		return strings.NewReplacer("\\", `\\`).Replace(pick(g, letters...))
	}
}

func (g Generator) brackets() string {
	var text strings.Builder
	text.WriteString(pick(g, "[", "[", "[^", "[]", "[^]", "[-"))
	for range g.IntN(4) {
		switch g.IntN(7) {
		case 0:
			text.WriteString(pick(g, `\p`, `\P`) + "{" + pick(g, properties...) + "}")
		case 1:
			text.WriteString(pick(g, classes[:6]...))
		case 2:
			text.WriteString(pick(g, "[:alpha:]", "[:^digit:]", "[:nope:]", "[:", "[", "[:upper:]"))
		case 3:
			text.WriteString(pick(g, "a-z", "k-s", "A-Z", "0-9", "z-a", "\u0370-\u03ff", "a-", "-a", "+--", "a-\\d", "\\x00-\\x{10FFFF}", "é-ſ"))
		case 4:
			text.WriteString(pick(g, escapes...))
		default:
			text.WriteString(strings.NewReplacer("\\", `\\`, "]", `\]`).Replace(pick(g, letters...)))
		}
	}
	return text.String() + "]"
}

// spoil changes a pattern a little.
func (g Generator) spoil(pattern string) string {
	at := g.IntN(len(pattern) + 1)
	switch g.IntN(3) {
	case 0:
		return pattern[:at]
	case 1:
		return pattern[:at] + pick(g, "(", ")", "[", "]", "{", "}", "\\", "|", "?", "*", "\xff", "\xc3", "^", ":", "-", "(?", "\x00") + pattern[at:]
	default:
		return pattern[min(at+1, len(pattern)):]
	}
}

// InText is a random text.
func (g Generator) InText() string {
	var text strings.Builder
	for range g.IntN(9) {
		text.WriteString(pick(g, letters...))
		if g.IntN(40) == 0 {
			text.WriteString(pick(g, "\xff", "\xc3", "\xed\xa0\x80", "\xf0\x9f\x98"))
		}
	}
	return text.String()
}

// Properties are patterns of the names, with letters of any case and without.
func Properties(names []string) (all []string) {
	for _, name := range names {
		for _, form := range []string{`\p{%s}`, `\P{%s}`, `(?i)\p{%s}`, `(?i)[^\P{%s}]`} {
			all = append(all, fmt.Sprintf(form, name))
		}
	}
	return all
}
