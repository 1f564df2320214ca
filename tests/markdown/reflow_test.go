// SPDX-License-Identifier: Apache-2.0

package markdown

import (
	"strings"
	"testing"
)

func TestParagraphsAreBrokenAgainWhereALineIsTooWide(t *testing.T) {
	wide := strings.Repeat("word ", 30)
	for _, c := range []struct{ name, text, want string }{
		{"narrow lines stay", "a\nb\n", "a\nb\n"},
		{"a paragraph", wide + "\nend\n", strings.TrimSpace(strings.Repeat("word ", 24)) + "\n" + strings.Repeat("word ", 6) + "end\n"},
		{"a list's item is indented, the next one stays", "- " + wide + "end\n- b\n",
			"- " + strings.TrimSpace(strings.Repeat("word ", 23)) + "\n  " + strings.Repeat("word ", 7) + "end\n- b\n"},
		{"a table", "| " + wide + " |\n", "| " + wide + " |\n"},
		{"a block", "```sh\n" + wide + "\n```\n", "```sh\n" + wide + "\n```\n"},
		{"what a program wrote", "<!-- cluster -->\n" + wide + "\n<!-- end -->\n", "<!-- cluster -->\n" + wide + "\n<!-- end -->\n"},
		{"a code span is kept whole", strings.Repeat("x", 110) + " `berth config --config F` y\n",
			strings.Repeat("x", 110) + "\n`berth config --config F` y\n"},
		{"no line begins as a list does", strings.Repeat("x", 115) + " abc - ten\n", strings.Repeat("x", 115) + "\nabc - ten\n"},
	} {
		if got := Reflow(c.text); got != c.want {
			t.Errorf("%s: it is\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
