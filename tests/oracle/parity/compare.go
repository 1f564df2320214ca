// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"berth.dev/tests/oracle/upstream"
)

// Difference is one thing that Berth and upstream see differently.
type Difference struct {
	// Kind says what sort of thing differs, without names: shrinking a case must not change it.
	Kind string
	// Pod is the one whose verdict or decision differs, if it is about a pod.
	Pod string
	// Details are lines for people: where the documents differ, and what each says there.
	Details []string
	// Upstream has upstream's document, nil where the difference is not about one.
	Upstream *upstream.Verdict
	// Expect is what a scenario would expect, if that can be said.
	Expect map[string]any
}

// compareVerdicts looks for the first pod whose documents differ.
func compareVerdicts(want []*upstream.Verdict, explained []byte) *Difference {
	var lines [][]byte
	if text := bytes.TrimSuffix(explained, []byte("\n")); len(text) > 0 {
		lines = bytes.Split(text, []byte("\n"))
	}
	for i, line := range lines {
		lines[i] = bytes.Replace(line, []byte(`"apiVersion":"berth.dev/v1",`), nil, 1)
	}
	for i, verdict := range want {
		if i >= len(lines) {
			return &Difference{Kind: "missing document", Pod: verdict.Pod, Details: []string{"berth has no document"}}
		}
		// Nodes are looked at in parallel: any of their errors may be the one that is told.
		if message, failed := errorOf(lines[i]); failed && slices.Contains(verdict.Errors, message) {
			verdict.Message = message
		}
		if remark := member(lines[i], "remark"); slices.Contains(verdict.Errors, remark) && slices.Contains(verdict.Errors, verdict.Remark) {
			verdict.Remark = remark
		}
		expected := verdict.Line()
		if bytes.Equal(expected, lines[i]) {
			continue
		}
		if difference := compareDocuments(verdict, expected, lines[i]); difference != nil {
			return difference
		}
	}
	if len(lines) > len(want) {
		return &Difference{Kind: "extra document", Details: []string{fmt.Sprintf("berth: %s", lines[len(want)])}}
	}
	return nil
}

// member is that text of the document, "" if it has none.
func member(line []byte, name string) string {
	members, _ := plain(line).(map[string]any)
	text, _ := members[name].(string)
	return text
}

// errorOf is the message of a document that says that the cycle failed.
func errorOf(line []byte) (message string, failed bool) {
	return member(line, "message"), member(line, "result") == string(upstream.Error)
}

// compareDocuments finds none where the texts differ only in how JSON spells the same.
func compareDocuments(verdict *upstream.Verdict, expected, got []byte) *Difference {
	if _, err := upstream.ParseVerdict(got); err != nil {
		return &Difference{Kind: "bad document", Pod: verdict.Pod, Details: []string{err.Error(), string(got)}}
	}
	d := &differ{}
	want, said := plain(expected), withoutProblems(withoutRequests(plain(got)))
	d.compare(nil, withSortedErrors(withoutZeros(want)), withSortedErrors(withoutZeros(said)))
	if len(d.lines) == 0 {
		return nil
	}
	return &Difference{Kind: "explain " + d.kind, Pod: verdict.Pod, Details: d.lines, Upstream: verdict, Expect: expectVerdict(verdict)}
}

// withoutProblems drops who ruled nodes out before filtering, and what a document says of claims on nodes that are not
// feasible: upstream has no words for it.
func withoutProblems(document any) any {
	members, _ := document.(map[string]any)
	delete(members, "preFilter")
	nodes, _ := members["nodes"].(map[string]any)
	for _, of := range nodes {
		if node, _ := of.(map[string]any); node["feasible"] == false {
			delete(node, "claims")
		}
	}
	if members["result"] == string(upstream.Error) {
		clear(nodes)
	}
	return document
}

// withoutRequests leaves of devices for extended resources what can be known of upstream's: which they are.
func withoutRequests(document any) any {
	members, _ := document.(map[string]any)
	nodes, _ := members["nodes"].(map[string]any)
	for _, of := range nodes {
		node, _ := of.(map[string]any)
		claims, _ := node["claims"].([]any)
		for _, of := range claims {
			claim, _ := of.(map[string]any)
			devices, _ := claim["devices"].([]any)
			if claim["claim"] != upstream.ExtendedResources {
				continue
			}
			var names []string
			for _, device := range devices {
				text, _ := device.(string)
				_, text, _ = strings.Cut(text, ": ")
				text, _, _ = strings.Cut(text, " ")
				names = append(names, text)
			}
			slices.Sort(names)
			claim["devices"] = slices.Compact(names)
		}
	}
	return document
}

// withoutZeros drops DynamicResources' scores of pods for which it has none: upstream asks it about every pod.
func withoutZeros(document any) any {
	members, _ := document.(map[string]any)
	nodes, _ := members["nodes"].(map[string]any)
	for _, of := range nodes {
		node, _ := of.(map[string]any)
		scores, _ := node["scores"].(map[string]any)
		if score, _ := scores[names.DynamicResources].(map[string]any); text(score["raw"]) == "0" && text(score["weighted"]) == "0" {
			if delete(scores, names.DynamicResources); len(scores) == 0 {
				delete(node, "scores")
			}
		}
	}
	return document
}

// withSortedErrors does so with what preemption says: its dry run begins with any node.
func withSortedErrors(document any) any {
	members, _ := document.(map[string]any)
	preemption, _ := members["preemption"].(map[string]any)
	if message, said := preemption["message"].(string); said {
		preemption["message"] = upstream.WithSortedErrors(message)
	}
	return document
}

func plain(text []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil
	}
	return value
}

// differ walks two documents. The kind is that of the telling difference: a verdict or raw score comes
// before the totals, the best nodes and the message that follow from it.
type differ struct {
	lines []string
	kind  string
	rank  int
}

func (d *differ) compare(path []string, want, got any) {
	wantMap, isMap := want.(map[string]any)
	gotMap, isMapToo := got.(map[string]any)
	if isMap && isMapToo {
		names := maps.Clone(wantMap)
		maps.Copy(names, gotMap)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			d.compare(append(slices.Clip(path), name), wantMap[name], gotMap[name])
		}
		return
	}
	wantText, gotText := text(want), text(got)
	if wantText == gotText {
		return
	}
	d.lines = append(d.lines, fmt.Sprintf("%s: upstream %s, berth %s", strings.Join(path, "."), wantText, gotText))
	general := slices.Clone(path)
	switch {
	case len(general) > 1 && general[0] == "nodes":
		general[1] = "*"
	case len(general) > 2 && general[0] == "preemption" && general[1] == "candidates":
		general[2] = "*"
	}
	kind := strings.Join(general, ".")
	if rank := rankOf(general); d.kind == "" || rank > d.rank || rank == d.rank && kind < d.kind {
		d.kind, d.rank = kind, rank
	}
}

// rankOf is higher for what other differences follow from.
func rankOf(path []string) int {
	last := path[len(path)-1]
	switch {
	case path[0] == "result", last == "feasible":
		return 5
	case last == "raw", last == "reasons", last == "plugin", last == "code", last == "claims":
		return 4
	case last == "weighted":
		return 3
	case path[0] == "preemption" && last != "best":
		return 2
	case path[0] == "message":
		return 1
	}
	return 0
}

func text(value any) string {
	if value == nil {
		return "nothing"
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(encoded)
}

// withoutNames makes messages of the same sort equal: numbers and what stands in quotes are masked.
func withoutNames(message string) string {
	words := strings.Fields(message)
	for i, word := range words {
		if strings.ContainsAny(word, "0123456789/\"'`[]") {
			words[i] = "*"
		}
	}
	return strings.Join(slices.Compact(words), " ")
}

// shorten keeps a line printable.
func shorten(line string) string {
	const limit = 600
	if len(line) <= limit {
		return line
	}
	return line[:limit] + "... (" + strconv.Itoa(len(line)) + " bytes)"
}
