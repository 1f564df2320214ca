// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// berth is what Berth's tree has of each sort.
type berth struct {
	// The kinds it reads: {"scheduling", "v1beta1", "PodGroup"}.
	kinds [][3]string
	// The fields it reads, by the type's name.
	fields map[string]map[string]bool
	// As a gate's facts are written.
	gates map[string]string
	// What a gate is from a version on, the oldest first.
	gateStates map[string][]gateState
	// The gates that its plugins and the daemon act upon: all that a source names beside the table.
	usedGates map[string]bool
	// As the head of a metric's facts is written.
	metrics map[string]string
	// Metrics that docs/metrics.md names; a star stands for any end.
	leftOut []string
	// Words in quotes in src/config and src/app.
	config, flags map[string]bool
	// All string literals of plugins and src, in one text.
	strings string
}

var (
	joinedLiterals = regexp.MustCompile(`"\s*\n\s*"`)
	ownKind        = regexp.MustCompile(`BERTH_API_KIND\(\w+, "(?:([\w.-]+)/)?(\w+)", "(\w+)"\)`)
	ownType        = regexp.MustCompile(`(?s)kFieldsOf<([\w:]+)> =(.*?);\n`)
	ownObject      = regexp.MustCompile(`ObjectTable(WithStatus)?<`)
	ownField       = regexp.MustCompile(`Field<\s*\d+,\s*&[\w:]+>\(\s*"(\w+)"`)
	ownGate        = regexp.MustCompile(`\{"(\w+)",\s*\{([^}]*)\}(?:,\s*"([^"]*)")?\}`)
	ownGateState   = regexp.MustCompile(`(?:From\((\d+), )?k(Alpha|Beta|GA|Deprecated)(On|Off)?(Locked)?\b`)
	ownMetric      = regexp.MustCompile(`(Counter|Gauge|Histogram)\(\s*"(\w+)",\s*k(\w+),\s*\{([^}]*)\}`)
	pageMetric     = regexp.MustCompile("`(\\w+_\\w*\\*?)`")
	quoted         = regexp.MustCompile(`"((?:[^"\\\n]|\\.)*)"`)
)

// customGroups are those of custom resources: other projects define them.
var customGroups = []string{"scheduling.x-k8s.io", "topology.node.k8s.io"}

// gateState is what a gate is from a minor version on, in words.
type gateState struct {
	since int
	text  string
}

// gateAt is a gate as Berth has it when it emulates the minor version.
func (b *berth) gateAt(name string, minor int) string {
	found := ""
	for _, state := range b.gateStates[name] {
		if state.since <= minor {
			found = state.text
		}
	}
	return found
}

// readGates reads the table of gates.
func (b *berth) readGates(tree string) error {
	table, err := cppText(tree, "src/config/feature_gate_table.cc")
	if err != nil {
		return err
	}
	for _, m := range ownGate.FindAllStringSubmatch(table, -1) {
		needs := strings.Fields(m[3])
		states := []gateState{{0, gateText("PreAlpha", false, false, needs)}}
		for _, state := range ownGateState.FindAllStringSubmatch(m[2], -1) {
			since := 0
			if state[1] != "" {
				if since, err = strconv.Atoi(state[1]); err != nil {
					return err
				}
			}
			on := state[3] == "On" || (state[3] == "" && (state[2] == "Beta" || state[2] == "GA"))
			states = append(states, gateState{since, gateText(state[2], on, state[4] != "", needs)})
		}
		b.gateStates[m[1]] = states
		b.gates[m[1]] = states[len(states)-1].text
	}
	return nil
}

// readBerth reads Berth's tables. A sort of which it finds nothing is an error: then the tables have another form.
func readBerth(tree string) (*berth, error) {
	own := &berth{fields: map[string]map[string]bool{}, gates: map[string]string{}, usedGates: map[string]bool{},
		metrics: map[string]string{}, gateStates: map[string][]gateState{}}
	kinds, err := cppText(tree, "src/api/kinds.h")
	if err != nil {
		return nil, err
	}
	for _, m := range ownKind.FindAllStringSubmatch(kinds, -1) {
		if slices.Contains(customGroups, m[1]) {
			continue
		}
		group, _, _ := strings.Cut(m[1], ".")
		if group == "" {
			group = "core"
		}
		own.kinds = append(own.kinds, [3]string{group, m[2], m[3]})
	}
	api, err := cppText(tree, "src/api")
	if err != nil {
		return nil, err
	}
	for _, m := range ownType.FindAllStringSubmatch(api, -1) {
		names := map[string]bool{}
		for _, field := range ownField.FindAllStringSubmatch(m[2], -1) {
			names[field[1]] = true
		}
		if object := ownObject.FindStringSubmatch(m[2]); object != nil {
			names["metadata"], names["spec"] = true, true
			if object[1] != "" {
				names["status"] = true
			}
		}
		own.fields[m[1]] = names
	}
	if err := own.readGates(tree); err != nil {
		return nil, err
	}
	asked, err := cppText(tree, "src/config/feature_gates.cc")
	if err != nil {
		return nil, err
	}
	own.usedGates = quotedWords(asked)
	rows, err := cppText(tree, "src/metrics")
	if err != nil {
		return nil, err
	}
	for _, m := range ownMetric.FindAllStringSubmatch(rows, -1) {
		var labels []string
		for _, label := range quoted.FindAllStringSubmatch(m[4], -1) {
			labels = append(labels, label[1])
		}
		own.metrics[m[2]] = metricHead(m[1], m[3], labels)
	}
	page, err := os.ReadFile(filepath.Join(tree, "docs/metrics.md"))
	if err != nil {
		return nil, err
	}
	for _, m := range pageMetric.FindAllStringSubmatch(string(page), -1) {
		own.leftOut = append(own.leftOut, m[1])
	}
	config, err := cppText(tree, "src/config", "plugins", "include/berth/in_tree", "src/client")
	if err != nil {
		return nil, err
	}
	own.config = quotedWords(config)
	app, err := cppText(tree, "src/app")
	if err != nil {
		return nil, err
	}
	own.flags = quotedWords(app)
	own.strings, err = cppText(tree, "plugins", "src")
	if err != nil {
		return nil, err
	}
	for what, count := range map[string]int{"kinds": len(own.kinds), "types": len(own.fields), "gates": len(own.gates),
		"gates in use": len(own.usedGates), "metrics": len(own.metrics)} {
		if count == 0 {
			return nil, fmt.Errorf("no %s found in %s: have the tables another form?", what, tree)
		}
	}
	return own, nil
}

// cppText is the text of C++ files and of all in folders, with string literals that stand side by side joined.
func cppText(tree string, names ...string) (string, error) {
	var all strings.Builder
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(tree, name), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || (filepath.Ext(file) != ".h" && filepath.Ext(file) != ".cc") {
				return err
			}
			content, err := os.ReadFile(file)
			all.Write(content)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return joinedLiterals.ReplaceAllString(all.String(), ""), nil
}

// quotedWords are all string literals of a text.
func quotedWords(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found
}
