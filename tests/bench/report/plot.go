// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
)

// bar is one of a group of horizontal bars.
type bar struct {
	label string
	value float64
	color string
}

type group struct {
	title string
	bars  []bar
}

const (
	berthColor = "#1b6ca8"
	plainColor = "#8fb8d8"
	peerColor  = "#c9a227"

	width, left, right   = 900, 330, 90
	barHeight, barGap    = 13, 2
	groupGap, panelTitle = 7, 34
)

// plot draws the CPU time a pod side by side with kube-scheduler's, and the engine's rate beside what
// upstream's benchmark asks of kube-scheduler.
func (f *figures) plot() []byte {
	var body bytes.Buffer
	y := 8.0
	y = drawPanel(&body, y, "CPU of the scheduler a pod, until its last event is stored (µs; less is better)", f.cpuGroups(), false)
	y = drawPanel(&body, y, "Engine alone: pods a second of one core (logarithmic; more is better)", f.rateGroups(), true)
	y = drawLegend(&body, y)
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" font-family="sans-serif" font-size="11">`+"\n", width, y)
	out.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	out.Write(body.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func (f *figures) cpuGroups() []group {
	var groups []group
	for _, row := range slices.Concat(f.cluster.Rows, f.claims.Rows) {
		if row.CPUEvents == 0 {
			continue
		}
		title := row.Workload + ", " + row.Variant
		if len(groups) == 0 || groups[len(groups)-1].title != title {
			groups = append(groups, group{title: title})
		}
		color := berthColor
		if row.Scheduler == "kube-scheduler" {
			color = peerColor
		}
		last := &groups[len(groups)-1]
		last.bars = append(last.bars, bar{thousands(row.CPUEvents) + " µs", row.CPUEvents, color})
	}
	return groups
}

func (f *figures) rateGroups() []group {
	var groups []group
	for _, row := range f.engine {
		g := group{title: row.Workload, bars: []bar{{thousands(row.PodsPerSecond) + " /s", row.PodsPerSecond, berthColor}}}
		if row.Plain != nil {
			g.bars = append(g.bars, bar{thousands(row.Plain.PodsPerSecond) + " /s", row.Plain.PodsPerSecond, plainColor})
		}
		if row.Threshold > 0 {
			g.bars = append(g.bars, bar{thousands(row.Threshold) + " /s", row.Threshold, peerColor})
		}
		groups = append(groups, g)
	}
	return groups
}

func drawPanel(out *bytes.Buffer, y float64, title string, groups []group, logarithmic bool) float64 {
	if len(groups) == 0 {
		return y
	}
	fmt.Fprintf(out, `<text x="12" y="%.0f" font-size="14" font-weight="bold">%s</text>`+"\n", y+18, html.EscapeString(title))
	y += panelTitle
	greatest, least := 0.0, math.Inf(1)
	for _, g := range groups {
		for _, b := range g.bars {
			greatest, least = max(greatest, b.value), min(least, b.value)
		}
	}
	length := func(value float64) float64 {
		const room = width - left - right
		if !logarithmic {
			return room * value / greatest
		}
		from := math.Floor(math.Log10(max(least, 1)))
		return room * max(math.Log10(max(value, 1))-from, 0.01) / max(math.Log10(greatest)-from, 0.01)
	}
	for _, g := range groups {
		height := float64(len(g.bars)) * (barHeight + barGap)
		fmt.Fprintf(out, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left-8, y+height/2+3, html.EscapeString(g.title))
		for _, b := range g.bars {
			fmt.Fprintf(out, `<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", left, y, length(b.value), barHeight, b.color)
			fmt.Fprintf(out, `<text x="%.1f" y="%.1f" font-size="10">%s</text>`+"\n", left+length(b.value)+4, y+barHeight-3, html.EscapeString(b.label))
			y += barHeight + barGap
		}
		y += groupGap
	}
	return y + 8
}

func drawLegend(out *bytes.Buffer, y float64) float64 {
	x := 12
	for _, entry := range []struct{ color, text string }{
		{berthColor, "Berth"}, {plainColor, "Berth, plain evaluation"}, {peerColor, "kube-scheduler: measured above, what its own benchmark asks below"},
	} {
		fmt.Fprintf(out, `<rect x="%d" y="%.0f" width="12" height="12" fill="%s"/><text x="%d" y="%.0f">%s</text>`+"\n",
			x, y, entry.color, x+17, y+10, entry.text)
		x += 40 + 6*len(entry.text)
	}
	return y + 24
}
