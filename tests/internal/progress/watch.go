// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
)

// Estimate is what is known of work before it begins: how much it is, in any unit, and how much of it is done in a second.
type Estimate struct {
	Total     float64
	PerSecond float64
}

// trust is how long the speed must have been seen to count as much as the one that was expected.
const trust = 30 * time.Second

// Left is how long the rest takes, from what was expected and what has been seen.
func (e Estimate) Left(done float64, elapsed time.Duration) time.Duration {
	speed := (done + e.PerSecond*trust.Seconds()) / (elapsed + trust).Seconds()
	return time.Duration(max(e.Total-done, 0) / speed * float64(time.Second))
}

// Elsewhere than on a terminal a step has a line at its begin and each interval.
const (
	firstLine    = 2 * time.Second
	lineInterval = 30 * time.Second
)

// Watch tells how far a step has got, and how long the rest will take, until the returned function is called: on a
// terminal in one line that moves, below the title; elsewhere by a line each 30 s. How much is done, and of how much, may
// change at any time.
func Watch(out io.Writer, title string, far func() (done float64, of Estimate)) (stop func()) {
	file, ok := out.(*os.File)
	terminal := ok && IsTerminal(file)
	begin := time.Now()
	tell := func() {
		done, of := far()
		elapsed := time.Since(begin)
		share, left := done/of.Total, of.Left(done, elapsed)
		if terminal {
			const width = 30
			filled := int(width * min(share, 1))
			fmt.Fprintf(out, "\r\x1b[K  [%s%s] %s", strings.Repeat("█", filled), strings.Repeat("░", width-filled), describe(share, left))
		} else {
			fmt.Fprintf(out, "%s: %s\n", title, describe(share, left))
		}
	}
	interval := lineInterval
	if terminal {
		interval = time.Second
	}
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		select {
		case <-ended: // in so short a time that there is nothing to tell
			return
		case <-time.After(firstLine):
		}
		if terminal {
			fmt.Fprintln(out, title) // it may be longer than there is room for on a line that moves
		}
		for {
			tell()
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
		}
	}()
	return func() {
		close(ended)
		<-gone
		if terminal {
			fmt.Fprint(out, "\r\x1b[K")
		}
	}
}

// describe is a share of one, and how long the rest takes.
func describe(share float64, left time.Duration) string {
	text := fmt.Sprintf("%2.0f %%", math.Floor(100*share))
	if left < time.Minute {
		return text + ", less than a minute left"
	}
	return text + fmt.Sprintf(", about %.0f min left", math.Ceil(left.Minutes()-0.25))
}
