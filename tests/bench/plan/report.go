// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// longest is what a search may take, in seconds of CPU time.
const longest = 1.0

// result is one cluster.
type result struct {
	size
	Seed int `json:"seed"`
	Pods int `json:"pods"`
	// Waiting is how many have no node before the plan.
	Waiting int `json:"waiting"`
	// NoneProved is whether no placement has more than the scheduler's.
	NoneProved bool `json:"noneProved"`
	// Better is whether the plan has more pods of the most important priority, or as many, and so on.
	Better bool `json:"better"`
	// All is whether no pod waits then.
	All bool `json:"all"`
	// Proved is whether no placement has more than the plan's, were pods on nodes free to lose them.
	Proved bool `json:"proved"`
	// Most is whether the plan says that none has nodes for more pods.
	Most       bool    `json:"most"`
	Moves      int     `json:"moves"`
	CPUSeconds float64 `json:"cpuSeconds"`
}

// row is what holds of all clusters of so many nodes; Nodes is 0 in the row of all.
type row struct {
	Nodes     int `json:"nodes"`
	Instances int `json:"instances"`
	// Waiting is in how many some pod waits; those below are parts of these.
	Waiting    int `json:"waiting"`
	NoneProved int `json:"noneProved"`
	Better     int `json:"better"`
	All        int `json:"all"`
	// Proved is how many of the better ones are proved optimal.
	Proved int `json:"proved"`
	Most   int `json:"most"`
	// Of the pods, in percent, where the plan is better.
	MovesMedian float64 `json:"movesMedianPercent"`
	MovesMost   float64 `json:"movesMostPercent"`
	CPUMedian   float64 `json:"cpuMedianSeconds"`
	CPU99       float64 `json:"cpu99Seconds"`
	CPUMost     float64 `json:"cpuMostSeconds"`
	InTime      int     `json:"inTime"`
}

type report struct {
	Date           string          `json:"date"`
	Machine        string          `json:"machine"`
	Load           string          `json:"loadAverage"`
	Rows           []row           `json:"rows,omitempty"`
	Runs           []result        `json:"runs,omitempty"`
	Consolidations []consolidation `json:"consolidations,omitempty"`
}

// part is the value below which that part of the values is; 0: there are none.
func part(values []float64, which float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(which*float64(len(values))))]
}

func rowOf(nodes int, results []result) row {
	r := row{Nodes: nodes, Instances: len(results)}
	var cpu, moves []float64
	count := func(to *int, holds bool) {
		if holds {
			*to++
		}
	}
	for _, one := range results {
		if one.Waiting == 0 {
			continue
		}
		r.Waiting++
		count(&r.NoneProved, one.NoneProved)
		count(&r.Better, one.Better)
		count(&r.All, one.All)
		count(&r.Proved, one.Better && one.Proved)
		count(&r.Most, one.Most)
		count(&r.InTime, one.CPUSeconds <= longest)
		cpu = append(cpu, one.CPUSeconds)
		if one.Better {
			moves = append(moves, 100*float64(one.Moves)/float64(one.Pods))
		}
	}
	r.MovesMedian, r.MovesMost = part(moves, 0.5), part(moves, 1)
	r.CPUMedian, r.CPU99, r.CPUMost = part(cpu, 0.5), part(cpu, 0.99), part(cpu, 1)
	return r
}

// summarise makes a row for each number of nodes, and one of all.
func summarise(results []result) (rows []row) {
	by := map[int][]result{}
	for _, one := range results {
		by[one.Nodes] = append(by[one.Nodes], one)
	}
	var numbers []int
	for nodes := range by {
		numbers = append(numbers, nodes)
	}
	slices.Sort(numbers)
	for _, nodes := range numbers {
		rows = append(rows, rowOf(nodes, by[nodes]))
	}
	return append(rows, rowOf(0, results))
}

func writeJSON(out io.Writer, r report) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

func writeRepairs(out io.Writer, output string, r report) error {
	if output == "json" {
		return writeJSON(out, r)
	}
	fmt.Fprintf(out, "%s; %s; load %s\n\n", r.Date, r.Machine, r.Load)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "nodes\tclusters\tpods wait\tnone is better\tbetter\tproved\tall placed\tmoves\tCPU\tin 1 s\t")
	for _, row := range r.Rows {
		nodes := fmt.Sprint(row.Nodes)
		if row.Nodes == 0 {
			nodes = "all"
		}
		of := func(count int) string {
			if row.Waiting == 0 {
				return "-"
			}
			return fmt.Sprintf("%.1f %%", 100*float64(count)/float64(row.Waiting))
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%.0f %%, %.0f %%\t%.3f, %.3f, %.3f s\t%s\t\n", nodes, row.Instances, row.Waiting,
			of(row.NoneProved), of(row.Better), of(row.Proved), of(row.All), row.MovesMedian, row.MovesMost, row.CPUMedian, row.CPU99,
			row.CPUMost, of(row.InTime))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(out, `
Of the clusters in which pods wait after the default scheduler:
none is better: no placement has more pods, those of higher priority first; better: the plan has more;
proved: it is better, and no placement has more than it, even one that takes nodes away from pods of lower priority.
moves: of all pods, where the plan is better: median, most. CPU: of the run, from the file to the plan: median, 99 of 100, most.
`)
	return err
}

func writeConsolidations(out io.Writer, output string, r report) error {
	if output == "json" {
		return writeJSON(out, r)
	}
	fmt.Fprintf(out, "%s; %s; load %s\n\n", r.Date, r.Machine, r.Load)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "nodes\tgangs\tstart\tmoves\tfewest\tCPU\ttime\t")
	for _, c := range r.Consolidations {
		fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%d\t%.2f s\t%.2f s\t\n", c.Nodes, c.Gangs, c.Started, c.Moves, c.Fewest, c.CPUSeconds, c.Seconds)
	}
	return table.Flush()
}
