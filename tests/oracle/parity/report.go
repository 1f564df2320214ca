// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"berth.dev/tests/oracle/generate"
	"berth.dev/tests/oracle/upstream"
)

// Print writes the difference for people.
func (d *Difference) Print(out io.Writer) {
	const most = 12
	fmt.Fprintf(out, "  %s\n", d.Kind)
	if d.Pod != "" {
		fmt.Fprintf(out, "  pod %s\n", d.Pod)
	}
	for i, line := range d.Details {
		if i == most {
			fmt.Fprintf(out, "    and %d more\n", len(d.Details)-most)
			break
		}
		fmt.Fprintf(out, "    %s\n", shorten(line))
	}
}

// Save writes a case that differs into a folder: cluster.yaml, config.yaml, what differs, upstream's document,
// and the case as a scenario.
func Save(dir string, kase generate.Case, difference *Difference) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var said strings.Builder
	fmt.Fprintf(&said, "seed %d\n", kase.Seed)
	difference.Print(&said)
	contents := map[string][]byte{
		"cluster.yaml": kase.ClusterYAML(),
		"config.yaml":  kase.ConfigYAML(),
		"said.txt":     []byte(said.String()),
	}
	if difference.Upstream != nil {
		contents["upstream.json"] = append(difference.Upstream.Line(), '\n')
		scenario, err := scenarioOf(kase, difference)
		if err != nil {
			return err
		}
		contents["scenario.yaml"] = scenario
	}
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		if err := os.WriteFile(filepath.Join(dir, name), contents[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// listsOf are the names of a scenario's lists, in the order in which objects are to be made: pods last.
var listsOf = []struct{ kind, list string }{
	{"Namespace", "namespaces"},
	{"Service", "services"},
	{"ReplicationController", "replicationControllers"},
	{"ReplicaSet", "replicaSets"},
	{"StatefulSet", "statefulSets"},
	{"Node", "nodes"},
	{"Pod", "pods"},
}

// scenarioOf is a story in the format of tests/scenarios that expects upstream's document.
func scenarioOf(kase generate.Case, difference *Difference) ([]byte, error) {
	var text strings.Builder
	add := func(value any) error {
		encoded, err := yaml.Marshal(value)
		text.Write(encoded)
		return err
	}
	head := map[string]any{"name": fmt.Sprintf("parity seed %d: %s", kase.Seed, difference.Kind), "plugin": pluginOf(difference)}
	if err := add(head); err != nil {
		return nil, err
	}
	if config := withoutType(kase.Config); len(config) > 0 {
		if err := add(map[string]any{"config": config}); err != nil {
			return nil, err
		}
	}
	expected, err := expectation(difference.Upstream)
	if err != nil {
		return nil, err
	}
	steps := []any{}
	for _, l := range listsOf {
		var objects []any
		for _, object := range kase.Objects {
			if object["kind"] == l.kind {
				objects = append(objects, withoutType(object))
			}
		}
		if len(objects) > 0 {
			steps = append(steps, map[string]any{l.list: objects})
		}
	}
	steps = append(steps, map[string]any{"expect": map[string]any{
		"explain": map[string]any{difference.Pod: expected}}})
	err = add(map[string]any{"steps": steps})
	return []byte(text.String()), err
}

func withoutType(object map[string]any) map[string]any {
	object = maps.Clone(object)
	delete(object, "apiVersion")
	delete(object, "kind")
	return object
}

// expectation is the document without what the scenario says already.
func expectation(v *upstream.Verdict) (map[string]any, error) {
	var members map[string]any
	if err := json.Unmarshal(v.Line(), &members); err != nil {
		return nil, err
	}
	delete(members, "pod")
	return members, nil
}

// pluginOf is the folder of the scenario: the plugin that the difference is about, as far as its kind tells.
func pluginOf(difference *Difference) string {
	words := strings.Split(difference.Kind, ".")
	if i := slices.Index(words, "scores"); i >= 0 && i+1 < len(words) {
		return words[i+1]
	}
	for _, name := range slices.Sorted(maps.Keys(difference.Upstream.Nodes)) {
		if plugin := difference.Upstream.Nodes[name].Plugin; plugin != "" {
			return plugin
		}
	}
	return "scheduler"
}
