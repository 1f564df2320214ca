// SPDX-License-Identifier: Apache-2.0

// Package progress shows on a terminal how far long work has got.
package progress

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Line is one line at the bottom of a terminal; elsewhere it says nothing.
type Line struct {
	out      *os.File
	terminal bool
	mu       sync.Mutex
}

// New writes to out, if that is a terminal.
func New(out *os.File) *Line {
	return &Line{out: out, terminal: IsTerminal(out)}
}

// IsTerminal tells whether a person may be looking.
func IsTerminal(out *os.File) bool {
	info, err := out.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Say replaces what the line says.
func (l *Line) Say(format string, args ...any) {
	if !l.terminal {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "\r\x1b[K"+format, args...)
}

// Clear leaves the line empty.
func (l *Line) Clear() { l.Say("") }

// Follow shows how far it has got, and a note, ten times a second, until the returned function is
// called.
func (l *Line) Follow(title string, total int, done func() (int, string)) (stop func()) {
	const width = 30
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			n, note := done()
			n = min(max(n, 0), total)
			filled := width * n / total
			l.Say("%s [%s%s] %d/%d %s", title, strings.Repeat("█", filled), strings.Repeat("░", width-filled), n, total, note)
			select {
			case <-ended:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(ended)
		<-gone
		l.Clear()
	}
}
