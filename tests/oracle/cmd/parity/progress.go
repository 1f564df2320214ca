// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// progress is one line at the bottom of a terminal; elsewhere it says nothing.
type progress struct {
	out      *os.File
	terminal bool
	mu       sync.Mutex
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (p *progress) say(format string, args ...any) {
	if !p.terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "\r\x1b[K"+format, args...)
}

func (p *progress) clear() { p.say("") }

// follow shows how far it has got, and a note, ten times a second, until the returned function is called.
func (p *progress) follow(title string, total int, done func() (int, string)) (stop func()) {
	const width = 30
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			n, note := done()
			filled := width * n / total
			p.say("%s [%s%s] %d/%d %s", title, strings.Repeat("█", filled), strings.Repeat("░", width-filled), n, total, note)
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
		p.clear()
	}
}
