// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"berth.dev/tests/oracle/generate"
	"berth.dev/tests/oracle/upstream"
)

// lists are those of a scenario by kind, in the order in which objects are to be made: pods last.
var lists = []struct{ kind, list string }{
	{"Namespace", "namespaces"},
	{"Service", "services"},
	{"ReplicationController", "replicationControllers"},
	{"ReplicaSet", "replicaSets"},
	{"StatefulSet", "statefulSets"},
	{"PodDisruptionBudget", "podDisruptionBudgets"},
	{"StorageClass", "storageClasses"},
	{"CSIDriver", "csiDrivers"},
	{"CSINode", "csiNodes"},
	{"CSIStorageCapacity", "csiStorageCapacities"},
	{"VolumeAttributesClass", "volumeAttributesClasses"},
	{"VolumeAttachment", "volumeAttachments"},
	{"PersistentVolume", "persistentVolumes"},
	{"PersistentVolumeClaim", "persistentVolumeClaims"},
	{"Node", "nodes"},
	{"Pod", "pods"},
}

// scenarioOf is a story in the format of tests/scenarios that expects what upstream says.
func scenarioOf(kase generate.Case, difference *Difference) ([]byte, error) {
	steps := []any{}
	for _, l := range lists {
		var objects []any
		for _, object := range kase.Objects {
			if object["kind"] == l.kind {
				objects = append(objects, scenarioObject(object))
			}
		}
		if len(objects) > 0 {
			steps = append(steps, map[string]any{l.list: objects})
		}
	}
	parts := []map[string]any{
		{"name": fmt.Sprintf("parity seed %d: %s", kase.Seed, difference.Kind)},
		{"plugin": pluginOf(difference)},
		{"seed": kase.Seed},
		{"config": withoutType(kase.Config)},
		{"steps": append(steps, map[string]any{"expect": difference.Expect})},
	}
	var text []byte
	for _, part := range parts {
		encoded, err := yaml.Marshal(part)
		if err != nil {
			return nil, err
		}
		text = append(text, encoded...)
	}
	return text, nil
}

// scenarioObject leaves out what the list says. A node that says nothing of its resources has none here, but a
// good deal in a scenario.
func scenarioObject(object map[string]any) map[string]any {
	isNode := object["kind"] == "Node"
	object = withoutType(object)
	if !isNode {
		return object
	}
	status, _ := object["status"].(map[string]any)
	if _, has := status["allocatable"]; !has {
		status = maps.Clone(status)
		if status == nil {
			status = map[string]any{}
		}
		status["allocatable"] = map[string]any{"pods": "0"}
		object["status"] = status
	}
	return object
}

func withoutType(object map[string]any) map[string]any {
	object = maps.Clone(object)
	delete(object, "apiVersion")
	delete(object, "kind")
	return object
}

// expectVerdict expects the whole document.
func expectVerdict(v *upstream.Verdict) map[string]any {
	var members map[string]any
	if err := json.Unmarshal(v.Line(), &members); err != nil {
		return nil
	}
	delete(members, "pod")
	return map[string]any{"explain": map[string]any{v.Pod: members}}
}

// expectDecision expects the pod to be where upstream would have put it, or to wait with upstream's message.
func expectDecision(r *upstream.Refusal) map[string]any {
	switch {
	case len(r.Nodes) > 0:
		return map[string]any{"pods": map[string]any{r.Pod: map[string]any{"nodeIn": r.Nodes}}}
	case r.Verdict != nil && r.Verdict.Preemption != nil:
		return nil
	case r.Verdict != nil:
		return map[string]any{"pods": map[string]any{r.Pod: map[string]any{"node": nil, "message": r.Verdict.Message}}}
	}
	return nil
}

// pluginOf is the scenario's folder: the plugin that the difference is about, as far as can be told.
func pluginOf(difference *Difference) string {
	words := strings.Split(difference.Kind, ".")
	if i := slices.Index(words, "scores"); i >= 0 && i+1 < len(words) {
		return words[i+1]
	}
	if difference.Upstream != nil {
		for _, name := range slices.Sorted(maps.Keys(difference.Upstream.Nodes)) {
			if plugin := difference.Upstream.Nodes[name].Plugin; plugin != "" {
				return plugin
			}
		}
	}
	return "scheduler"
}
