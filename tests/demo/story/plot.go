// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"strings"
	"time"
)

// eighths are the blocks that fill a cell from below by eighths; steps fill it from the left.
var (
	eighths = []rune(" ▁▂▃▄▅▆▇█")
	steps   = []rune(" ▏▎▍▌▋▊▉█")
)

// Bar is n of total as a bar of that many cells.
func (s *Screen) Bar(n, total, width int) string {
	filled := 0
	if total > 0 {
		filled = n * width * 8 / total
	}
	text := strings.Repeat("█", filled/8)
	if filled%8 > 0 {
		text += string(steps[filled%8])
	}
	return s.paint("36", text) + strings.Repeat(" ", width-(filled+7)/8)
}

// Column is a share of one as one cell, in the colour of its pool.
func (s *Screen) Column(share float64, pool string) string {
	level := int(share*8 + 0.5)
	if share > 0 {
		level = max(level, 1)
	}
	return s.PoolColour(pool, string(eighths[min(level, 8)]))
}

// Plot draws how many of the ascending times have come by each moment.
func (s *Screen) Plot(times []time.Duration) {
	const width, height = 64, 8
	total, end := len(times), times[len(times)-1]
	levels := make([]int, width) // in eighths of a cell
	for i, next := 0, 0; i < width; i++ {
		until := end * time.Duration(i+1) / width
		for next < total && times[next] <= until {
			next++
		}
		levels[i] = next * height * 8 / total
	}
	for row := height - 1; row >= 0; row-- {
		var cells strings.Builder
		for _, level := range levels {
			cells.WriteRune(eighths[min(max(level-row*8, 0), 8)])
		}
		label := ""
		if row == height-1 || row == height/2-1 || row == 0 {
			label = fmt.Sprint(total * (row + 1) / height)
		}
		s.Line("  %5s ┤%s", label, s.paint("36", strings.TrimRight(cells.String(), " ")))
	}
	left, middle, right := "0s", Rounded(end/2), Rounded(end)
	gap := (width - len(left) - len(middle) - len(right)) / 2
	s.Line("        └%s", strings.Repeat("─", width))
	s.Line("         %s%s%s%s%s", left, strings.Repeat(" ", gap), middle, strings.Repeat(" ", gap), right)
}
