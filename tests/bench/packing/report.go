// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// points are how much the arrivals ask for when it is looked how much is allocated, as parts of all
// devices.
var points = [4]float64{1, 1.1, 1.2, 1.3}

// recompute plays the decisions back against the trace's own numbers, and returns how many percent
// of all devices are allocated at each of the points. A pod that has more than there is, another
// model, or other devices than it asked for, is an error; so is one that was left out though it fits.
func recompute(nodes []traceNode, come []tracePod, decided []decision) (allocated [4]float64, err error) {
	type state struct {
		traceNode
		left []int64
	}
	states := make([]state, len(nodes))
	at := map[string]int{}
	var capacity, arrived, used int64
	for i, n := range nodes {
		states[i] = state{traceNode: n, left: slices.Repeat([]int64{deviceMilli}, int(n.devices))}
		at[n.name] = i
		capacity += n.devices * deviceMilli
	}
	fits := func(n *state, d demand) bool {
		models := modelsOf(d)
		enough := int64(0)
		for _, left := range n.left {
			if left >= d.milli {
				enough++
			}
		}
		return n.cpuMilli >= d.cpuMilli && n.memoryMiB >= d.memoryMiB && enough >= d.devices &&
			(len(models) == 0 || slices.Contains(models, n.model))
	}
	next := 0
	for i, p := range come {
		d := decided[i]
		arrived += p.deviceMilli()
		if d.Node == nil {
			for j := range states {
				if fits(&states[j], p.demand) {
					return allocated, fmt.Errorf("%s was left out, but fits on %s", p.name, states[j].name)
				}
			}
		} else {
			j, ok := at[*d.Node]
			if !ok || !fits(&states[j], p.demand) || int64(len(d.Devices)) != p.devices {
				return allocated, fmt.Errorf("%s does not fit on %s with devices %v", p.name, *d.Node, d.Devices)
			}
			n := &states[j]
			n.cpuMilli -= p.cpuMilli
			n.memoryMiB -= p.memoryMiB
			for _, device := range d.Devices {
				if device >= int64(len(n.left)) || n.left[device] < p.milli {
					return allocated, fmt.Errorf("%s: device %d of %s has too little left", p.name, device, *d.Node)
				}
				n.left[device] -= p.milli
			}
			used += p.deviceMilli()
		}
		for ; next < len(points)-1 && float64(arrived) >= points[next]*float64(capacity); next++ {
			allocated[next] = percent(used, capacity)
		}
	}
	for ; next < len(points); next++ {
		allocated[next] = percent(used, capacity)
	}
	return allocated, nil
}

func percent(part, all int64) float64 { return 100 * float64(part) / float64(all) }

// result is one run.
type result struct {
	List      string     `json:"list"`
	Policy    string     `json:"policy"`
	Seed      int64      `json:"seed"`
	Allocated [4]float64 `json:"allocatedPercent"`
	// Bound is what nothing can exceed at 130 %.
	Bound float64 `json:"boundPercent"`
}

// estimate is a mean and half of its 95 % interval; with one run there is none.
type estimate struct {
	Mean float64 `json:"mean"`
	Half float64 `json:"half"`
}

// row is a policy on a list. Against are the differences to published policies at 130 %, seed by
// seed.
type row struct {
	List    string              `json:"list"`
	Policy  string              `json:"policy"`
	Runs    int                 `json:"runs"`
	At      [4]estimate         `json:"allocatedPercent"`
	Bound   float64             `json:"boundPercent"`
	Against map[string]estimate `json:"pairedDifference,omitempty"`
}

type report struct {
	Rows []row    `json:"rows"`
	Runs []result `json:"runs"`
}

// estimateOf uses Student's distribution.
func estimateOf(values []float64) estimate {
	// Of 1, 2, ... degrees of freedom.
	t := []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262}
	n := float64(len(values))
	var e estimate
	for _, v := range values {
		e.Mean += v / n
	}
	if len(values) < 2 {
		return e
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - e.Mean) * (v - e.Mean)
	}
	factor := 1.96
	if len(values)-2 < len(t) {
		factor = t[len(values)-2]
	}
	e.Half = factor * math.Sqrt(squares/(n-1)/n)
	return e
}

func summarise(results []result, published map[publishedKey][4]float64) report {
	r := report{Runs: results}
	names := map[string]bool{}
	for key := range published {
		names[key.policy] = true
	}
	for len(results) > 0 {
		list, policy := results[0].List, results[0].Policy
		same := 1
		for same < len(results) && results[same].List == list && results[same].Policy == policy {
			same++
		}
		made := row{List: list, Policy: policy, Runs: same}
		for i := range points {
			var values []float64
			for _, one := range results[:same] {
				values = append(values, one.Allocated[i])
			}
			made.At[i] = estimateOf(values)
		}
		for _, one := range results[:same] {
			made.Bound += one.Bound / float64(same)
		}
		for name := range names {
			var differences []float64
			for _, one := range results[:same] {
				if theirs, ok := published[publishedKey{list, name, one.Seed}]; ok {
					differences = append(differences, one.Allocated[len(points)-1]-theirs[len(points)-1])
				}
			}
			if len(differences) < same {
				continue
			}
			if made.Against == nil {
				made.Against = map[string]estimate{}
			}
			made.Against[name] = estimateOf(differences)
		}
		r.Rows = append(r.Rows, made)
		results = results[same:]
	}
	return r
}

func write(out io.Writer, output string, r report) error {
	if output == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	var names []string
	for _, row := range r.Rows {
		for name := range row.Against {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "list\tpolicy\truns\tat 100 %\tat 110 %\tat 120 %\tat 130 %\tat most\t")
	for _, name := range names {
		fmt.Fprintf(table, "- %s\t", name)
	}
	fmt.Fprintln(table)
	for _, row := range r.Rows {
		fmt.Fprintf(table, "%s\t%s\t%d\t", row.List, row.Policy, row.Runs)
		for _, at := range row.At {
			fmt.Fprintf(table, "%.2f ± %.2f\t", at.Mean, at.Half)
		}
		fmt.Fprintf(table, "%.2f\t", row.Bound)
		for _, name := range names {
			against, ok := row.Against[name]
			if !ok {
				fmt.Fprint(table, "-\t")
				continue
			}
			fmt.Fprintf(table, "%+.2f ± %.2f\t", against.Mean, against.Half)
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(out, `
Percent of all devices that are allocated once the arrivals ask for so much: mean, and half of its 95 % interval.
At most: what fits at 130 % by any placement, were devices all that there is (a bound by linear programming).
- X: at 130 %, the difference to published results of X, seed by seed.
`)
	return err
}
