// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// deviceMilli is a whole device.
const deviceMilli = 1000

type traceNode struct {
	name, model         string
	cpuMilli, memoryMiB int64
	devices             int64
}

// demand is what a pod of the trace asks for: so many devices, of each so many thousandths.
type demand struct {
	cpuMilli, memoryMiB int64
	devices, milli      int64
	// models are those that it can have, joined by "|"; "": any.
	models string
}

func (d demand) deviceMilli() int64 { return d.devices * d.milli }

type tracePod struct {
	name string
	demand
}

// trace is a cluster and lists of pods, by name.
type trace struct {
	nodes []traceNode
	lists map[string][]tracePod
	// published results at 130 %, by list, policy and seed; nil where the folder has none.
	published map[publishedKey][4]float64
}

type publishedKey struct {
	list, policy string
	seed         int64
}

const (
	nodeFiles     = "*node_list*.csv"
	podFiles      = "*pod_list_*.csv"
	publishedFile = "reference.csv"
)

// readTrace reads one file of nodes, the files of pods, and published results where there are any.
func readTrace(dir string) (trace, error) {
	t := trace{lists: map[string][]tracePod{}}
	nodes, err := filepath.Glob(filepath.Join(dir, nodeFiles))
	if err != nil {
		return t, err
	}
	if len(nodes) != 1 {
		return t, fmt.Errorf("%s: want one file %s, there are %d", dir, nodeFiles, len(nodes))
	}
	if t.nodes, err = readNodes(nodes[0]); err != nil {
		return t, err
	}
	files, err := filepath.Glob(filepath.Join(dir, podFiles))
	if err != nil {
		return t, err
	}
	for _, file := range files {
		_, list, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".csv"), "pod_list_")
		if t.lists[list], err = readPods(file); err != nil {
			return t, err
		}
	}
	if len(t.lists) == 0 {
		return t, fmt.Errorf("%s: no file %s", dir, podFiles)
	}
	t.published, err = readPublished(filepath.Join(dir, publishedFile))
	return t, err
}

// records calls add with each record of a CSV file with a header.
func records(file string, add func(fields func(name string) (string, bool)) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s: it is empty", file)
	}
	for i, row := range rows[1:] {
		err := add(func(name string) (string, bool) {
			at := slices.Index(rows[0], name)
			if at < 0 {
				return "", false
			}
			return row[at], true
		})
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, i+2, err)
		}
	}
	return nil
}

// reader takes numbers out of a record, and keeps the first problem.
type reader struct {
	fields  func(name string) (string, bool)
	problem error
}

func (r *reader) text(name string) string {
	text, ok := r.fields(name)
	if !ok {
		r.problem = cmp.Or(r.problem, fmt.Errorf("no column %s", name))
	}
	return text
}

func (r *reader) number(name string) int64 {
	text := r.text(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if r.problem == nil && (err != nil || n < 0) {
		r.problem = fmt.Errorf("%s: %q is no whole number", name, text)
	}
	return n
}

func readNodes(file string) (nodes []traceNode, err error) {
	err = records(file, func(fields func(string) (string, bool)) error {
		r := reader{fields: fields}
		nodes = append(nodes, traceNode{
			name: r.text("sn"), model: r.text("model"), cpuMilli: r.number("cpu_milli"),
			memoryMiB: r.number("memory_mib"), devices: r.number("gpu"),
		})
		return r.problem
	})
	slices.SortFunc(nodes, func(a, b traceNode) int { return strings.Compare(a.name, b.name) })
	return nodes, err
}

func readPods(file string) (pods []tracePod, err error) {
	err = records(file, func(fields func(string) (string, bool)) error {
		r := reader{fields: fields}
		p := tracePod{name: r.text("name"), demand: demand{cpuMilli: r.number("cpu_milli"), memoryMiB: r.number("memory_mib"),
			devices: r.number("num_gpu")}}
		if p.devices > 0 {
			p.milli = r.number("gpu_milli")
			if p.milli == 0 || p.milli > deviceMilli || p.milli < deviceMilli && p.devices > 1 {
				return fmt.Errorf("%d devices with %d thousandths each", p.devices, p.milli)
			}
			// Some lists have no such column.
			spec, _ := fields("gpu_spec")
			p.models = spec
		}
		pods = append(pods, p)
		return r.problem
	})
	slices.SortFunc(pods, func(a, b tracePod) int { return strings.Compare(a.name, b.name) })
	return pods, err
}

func readPublished(file string) (map[publishedKey][4]float64, error) {
	published := map[publishedKey][4]float64{}
	err := records(file, func(fields func(string) (string, bool)) error {
		r := reader{fields: fields}
		key := publishedKey{r.text("list"), r.text("policy"), r.number("seed")}
		var at [4]float64
		for i, column := range []string{"allocated_percent_at_100", "at_110", "at_120", "at_130"} {
			value, err := strconv.ParseFloat(r.text(column), 64)
			if err != nil {
				return err
			}
			at[i] = value
		}
		published[key] = at
		return r.problem
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return published, err
}

func (t trace) capacityMilli() (milli int64) {
	for _, n := range t.nodes {
		milli += n.devices * deviceMilli
	}
	return milli
}

// arrivals is the order in which pods come by the published protocol: all of the list, shuffled,
// then more of it, drawn with replacement, until they ask for `ratio` times the devices that there
// are; and the nodes under names that put them into a drawn order, in which the published program
// decided ties.
//
// The published program's generator is Go's, seeded with the run's seed; one number goes unused.
func arrivals(pods []tracePod, nodes []traceNode, seed int64, ratio float64) (come []tracePod, named []traceNode) {
	var capacity, asked int64
	for _, n := range nodes {
		capacity += n.devices * deviceMilli
	}
	random := rand.New(rand.NewSource(seed))
	random.Int()
	come = slices.Clone(pods)
	random.Shuffle(len(come), func(i, j int) { come[i], come[j] = come[j], come[i] })
	for _, p := range come {
		asked += p.deviceMilli()
	}
	target := ratio * float64(capacity)
	for float64(asked) > target && len(come) > 0 {
		at := random.Intn(len(come))
		asked -= come[at].deviceMilli()
		come = slices.Delete(come, at, at+1)
	}
	for i := 0; float64(asked) < target; i++ {
		p := pods[random.Intn(len(pods))]
		// As published: one device counts here, however many the pod asks for.
		if float64(asked+p.milli) > target {
			break
		}
		asked += p.deviceMilli()
		p.name = fmt.Sprintf("%s-tuned-%d", p.name, i)
		come = append(come, p)
	}
	named = slices.Clone(nodes)
	for i, place := range random.Perm(len(nodes)) {
		named[i].name = fmt.Sprintf("%04d-%s", place, nodes[i].name)
	}
	return come, named
}

// ownName takes away what arrivals put before the node's name.
func ownName(named string) string {
	_, own, _ := strings.Cut(named, "-")
	return own
}

// kind is a demand and how many pods of a list have it; memory does not count, as published.
type kind struct {
	demand
	pods int
}

// typical are the most frequent kinds, as many as make up `covered` of all pods.
func typical(pods []tracePod, covered float64) (kinds []kind) {
	counts := map[demand]int{}
	for _, p := range pods {
		d := p.demand
		d.memoryMiB = 0
		counts[d]++
	}
	for d, n := range counts {
		kinds = append(kinds, kind{d, n})
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(b.pods, a.pods), cmp.Compare(b.cpuMilli, a.cpuMilli), cmp.Compare(b.milli, a.milli),
			cmp.Compare(b.devices, a.devices), strings.Compare(b.models, a.models))
	})
	sum := 0
	for i, k := range kinds {
		if float64(sum) >= covered*float64(len(pods)) {
			return kinds[:i]
		}
		sum += k.pods
	}
	return kinds
}
