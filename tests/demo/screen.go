// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"berth.dev/tests/progress"
)

// lineWidth is how wide the report is.
const lineWidth = 100

// screen writes the report: with colours and a progress bar on a terminal, as plain text elsewhere.
type screen struct {
	out      *os.File
	terminal bool
	begin    time.Time
}

func newScreen(out *os.File) *screen {
	terminal := progress.IsTerminal(out) && os.Getenv("NO_COLOR") == ""
	return &screen{out: out, terminal: terminal, begin: time.Now()}
}

func (s *screen) line(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// step tells what has been done, and when.
func (s *screen) step(format string, args ...any) {
	at := fmt.Sprintf("%5.1fs", time.Since(s.begin).Seconds())
	s.line("%s  "+format, append([]any{s.dim(at)}, args...)...)
}

func (s *screen) heading(text string) { s.line("\n%s", s.bold(text)) }

func (s *screen) paint(code, text string) string {
	if !s.terminal {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s *screen) bold(text string) string  { return s.paint("1", text) }
func (s *screen) dim(text string) string   { return s.paint("2", text) }
func (s *screen) red(text string) string   { return s.paint("31", text) }
func (s *screen) green(text string) string { return s.paint("32", text) }

// poolColour tells nodes of different pools apart.
func (s *screen) poolColour(pool, text string) string {
	codes := map[string]string{"general": "36", "batch": "33", "gpu": "35"}
	return s.paint(codes[pool], text)
}

// table writes rows in columns; the first row is the heading. The last column is wrapped.
func (s *screen) table(rows [][]string) {
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
			line = s.dim(line)
		}
		s.line("%s", line)
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

// follow shows a progress bar until the returned function is called.
func (s *screen) follow(title string, total int, done func() int) (stop func()) {
	if !s.terminal {
		return func() {}
	}
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			n := min(done(), total)
			fmt.Fprintf(s.out, "\r\x1b[K        %s %s %d/%d", title, s.bar(n, total, 30), n, total)
			select {
			case <-ended:
				fmt.Fprint(s.out, "\r\x1b[K")
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

func rounded(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	default:
		return d.Round(100 * time.Microsecond).String()
	}
}
