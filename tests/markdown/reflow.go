// SPDX-License-Identifier: Apache-2.0

package markdown

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Columns is how wide a line of a page's text may be. Tables, headings and blocks are as wide as they are.
const Columns = 120

var (
	// A line that belongs to no paragraph: empty, a table, a heading, a quotation, or HTML.
	noText = regexp.MustCompile(`^\s*$|^\s*[|#><]`)
	item   = regexp.MustCompile(`^( *)((?:[-*+]|\d+\.) +)?`)
	// What is not taken apart: a code span, a link, and what stands at them.
	word = regexp.MustCompile("(?:`[^`]*`|\\[[^\\]]*\\]\\([^)]*\\)|[^\\s`\\[]|[`\\[])+")
	// What would begin a list, a heading, a table or a quotation at the start of a line.
	opens = regexp.MustCompile(`^(?:[-*+=]+|\d+[.)]|#+|[>|<].*)$`)
	// What a program writes into a page, as ./dev bench report does, stands between these.
	madeFrom, madeTo = regexp.MustCompile(`^<!-- \w+ -->$`), "<!-- end -->"
)

// Reflow breaks the paragraphs and list items again of which a line is too wide, and leaves all else
// as it is.
func Reflow(text string) string {
	lines := strings.Split(text, "\n")
	var out []string
	inBlock, inMade := false, false
	for i := 0; i < len(lines); {
		line := lines[i]
		isFence := fence.MatchString(line)
		inBlock = inBlock != isFence
		inMade = (inMade || madeFrom.MatchString(line)) && line != madeTo
		if isFence || inBlock || inMade || noText.MatchString(line) {
			out = append(out, line)
			i++
			continue
		}
		end := i + 1
		for end < len(lines) && !noText.MatchString(lines[end]) && !fence.MatchString(lines[end]) &&
			item.FindStringSubmatch(lines[end])[2] == "" {
			end++
		}
		out = append(out, broken(lines[i:end])...)
		i = end
	}
	return strings.Join(out, "\n")
}

// broken are the paragraph's lines, broken again if one of them is too wide.
func broken(paragraph []string) []string {
	tooWide := false
	for _, line := range paragraph {
		tooWide = tooWide || utf8.RuneCountInString(line) > Columns
	}
	if !tooWide {
		return paragraph
	}
	first := item.FindString(paragraph[0])
	text := strings.TrimPrefix(strings.Join(paragraph, "\n"), first)
	line, indent := first, strings.Repeat(" ", len(first))
	var out []string
	words := word.FindAllString(text, -1)
	for i := 0; i < len(words); i++ {
		next := strings.Join(strings.Fields(words[i]), " ")
		for i+1 < len(words) && opens.MatchString(words[i+1]) {
			i++
			next += " " + words[i]
		}
		switch {
		case line == first || line == indent && len(out) > 0:
			line += next
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(next) <= Columns:
			line += " " + next
		default:
			out = append(out, line)
			line = indent + next
		}
	}
	return append(out, line)
}
