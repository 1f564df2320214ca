// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// facts are what one version has: what each name stands for. Two versions differ where these do.
type facts map[string]string

// row is one difference. Change is "new", "gone" or "changed"; Berth says what Berth's tree has of it, "" where that
// is not looked up.
type row struct {
	Change string `json:"change"`
	Name   string `json:"name"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Berth  string `json:"berth,omitempty"`
}

// table is all differences of one sort, and where they go in Berth's tree.
type table struct {
	Title string `json:"title"`
	Where string `json:"where"`
	Rows  []row  `json:"rows"`
}

// survey is one sort of facts: how a version's are gathered, and what Berth has of each.
type survey struct {
	title, where string
	take         func(v version, own *berth) (facts, error)
	// nil where Berth's tree is not looked up.
	note func(own *berth, r row) string
}

var surveys = []survey{
	{"Fields of the API", "include/berth/api, src/api/tables_*.h", apiFields, noteField},
	{"Versions of the API", "src/api/kinds.h, src/informers/kinds.cc", apiVersions, noteVersion},
	{"Feature gates", "src/config/feature_gate_table.cc", featureGates, noteGate},
	{"Feature gates that the scheduler asks for", "src/config/feature_gates.cc", askedGates, noteAskedGate},
	{"KubeSchedulerConfiguration", "src/config/types.h, src/config/tables.h", configFields, noteConfigField},
	{"Defaults and validation of the configuration", "src/config/v1_schema.cc, src/config/validate.cc", configFunctions, nil},
	{"Default plugins", "src/config/load.h, plugins/in_tree_registry.cc", defaultPlugins, nil},
	{"Flags", "src/app/flags/flags.cc, docs/commands.md", flags, noteFlag},
	{"Metrics", "src/metrics/rows_*.cc, docs/metrics.md", metrics, noteMetric},
	{"Reasons and messages of plugins", "plugins, docs/reasons.md", reasons, noteReason},
	{"Events that plugins register", "plugins, include/berth", events, nil},
	{"Queueing hints", "plugins", hints, nil},
	{"Validation of the API's objects", "src/simulator/object_checks.cc", validation, nil},
}

// compare surveys both versions, "1.36.3" and "1.37.1", and holds them and the tree against each other.
func compare(ctx context.Context, tree, from, to string) ([]table, error) {
	own, err := readBerth(tree)
	if err != nil {
		return nil, err
	}
	older, err := download(ctx, from)
	if err != nil {
		return nil, err
	}
	newer, err := download(ctx, to)
	if err != nil {
		return nil, err
	}
	var tables []table
	for _, s := range surveys {
		before, err := s.gather(older, own)
		if err != nil {
			return nil, err
		}
		after, err := s.gather(newer, own)
		if err != nil {
			return nil, err
		}
		rows := differences(before, after)
		if s.note != nil {
			for i := range rows {
				rows[i].Berth = s.note(own, rows[i])
			}
		}
		tables = append(tables, table{s.title, s.where, rows})
	}
	list, err := readingList(older, newer)
	if err != nil {
		return nil, err
	}
	return append(tables, table{"Changed files, to be read", "plugins, src/engine, src/queue, src/scheduler", list}), nil
}

// gather takes the facts of a version. None at all is an error: then the sources went elsewhere, and a survey that finds
// nothing would say that nothing changed.
func (s survey) gather(v version, own *berth) (facts, error) {
	found, err := s.take(v, own)
	if err == nil && len(found) == 0 {
		err = errors.New("nothing found: did the sources move?")
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", s.title, v.name, err)
	}
	return found, nil
}

// differences are sorted by name.
func differences(before, after facts) []row {
	rows := []row{}
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, was := before[name]
		now, is := after[name]
		switch {
		case !was:
			rows = append(rows, row{Change: "new", Name: name, To: now})
		case !is:
			rows = append(rows, row{Change: "gone", Name: name, From: old})
		case old != now:
			rows = append(rows, row{Change: "changed", Name: name, From: old, To: now})
		}
	}
	return rows
}
