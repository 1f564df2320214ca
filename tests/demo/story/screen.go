// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"berth.dev/tests/internal/progress"
)

// lineWidth is how wide the report is.
const lineWidth = 100

// Screen writes the report: with colours and a progress bar on a terminal, as plain text elsewhere.
type Screen struct {
	Out      *os.File
	Terminal bool
	colour   bool
	begin    time.Time
}

// NewScreen writes to a file, which may be a terminal.
func NewScreen(out *os.File) *Screen {
	terminal := progress.IsTerminal(out)
	return &Screen{Out: out, Terminal: terminal, colour: terminal && os.Getenv("NO_COLOR") == "", begin: time.Now()}
}

// Line writes a line.
func (s *Screen) Line(format string, args ...any) { fmt.Fprintf(s.Out, format+"\n", args...) }

// Step tells what has been done, and when.
func (s *Screen) Step(format string, args ...any) {
	at := fmt.Sprintf("%5.1fs", time.Since(s.begin).Seconds())
	s.Line("%s  "+format, append([]any{s.Dim(at)}, args...)...)
}

// Heading begins a scene.
func (s *Screen) Heading(text string) { s.Line("\n%s", s.Bold(text)) }

func (s *Screen) paint(code, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold, Dim, Red and Green are the text in that style, on a terminal.
func (s *Screen) Bold(text string) string  { return s.paint("1", text) }
func (s *Screen) Dim(text string) string   { return s.paint("2", text) }
func (s *Screen) Red(text string) string   { return s.paint("31", text) }
func (s *Screen) Green(text string) string { return s.paint("32", text) }

// PoolColour tells nodes of different pools apart.
func (s *Screen) PoolColour(pool, text string) string {
	codes := map[string]string{"general": "36", "batch": "33", "gpu": "35"}
	return s.paint(codes[pool], text)
}

// Table writes rows in columns; the first row is the heading. The last column is wrapped.
func (s *Screen) Table(rows [][]string) {
	last := len(rows[0]) - 1
	widths := make([]int, last)
	indent := 2
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i])+2)
		}
		indent += widths[i]
	}
	for number, row := range rows {
		line := "  "
		for i, width := range widths {
			line += row[i] + strings.Repeat(" ", width-utf8.RuneCountInString(row[i]))
		}
		line += strings.Join(wrapped(row[last], lineWidth-indent), "\n"+strings.Repeat(" ", indent))
		if number == 0 {
			line = s.Dim(line)
		}
		s.Line("%s", line)
	}
}

// wrapped is the text in lines of at most that width, as far as its words allow.
func wrapped(text string, width int) (lines []string) {
	for _, word := range strings.Fields(text) {
		if n := len(lines); n > 0 && utf8.RuneCountInString(lines[n-1]+" "+word) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// Follow shows a progress bar until the returned function is called.
func (s *Screen) Follow(title string, total int, done func() int) (stop func()) {
	if !s.Terminal {
		return func() {}
	}
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			n := min(done(), total)
			fmt.Fprintf(s.Out, "\r\x1b[K        %s %s %d/%d", title, s.Bar(n, total, 30), n, total)
			select {
			case <-ended:
				fmt.Fprint(s.Out, "\r\x1b[K")
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(ended)
		<-gone
	}
}

// Rounded is a duration with three digits or so.
func Rounded(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	default:
		return d.Round(100 * time.Microsecond).String()
	}
}
