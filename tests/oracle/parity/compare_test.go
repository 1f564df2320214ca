// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"strings"
	"testing"

	"berth.dev/tests/oracle/upstream"
)

func document() *upstream.Verdict {
	return &upstream.Verdict{
		Pod: "default/p", Profile: "default-scheduler", Result: upstream.Scheduled, Best: []string{"b"},
		Nodes: map[string]upstream.Node{
			"a": {Plugin: "NodeName", Code: "Unschedulable", Reasons: []string{"no"}},
			"b": {Feasible: true, Total: 7, Scores: map[string]upstream.Score{"ImageLocality": {Raw: 7, Weighted: 7}}},
		},
	}
}

func TestEqualDocumentsDoNotDiffer(t *testing.T) {
	same := string(document().Line())
	for name, text := range map[string]string{
		"the same text":    same,
		"another spelling": strings.ReplaceAll(same, `"raw"`, `"r\u0061w"`),
	} {
		if d := compareVerdicts([]*upstream.Verdict{document()}, []byte(text+"\n")); d != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestTheKindOfADifferenceIsWhatTheOthersFollowFrom(t *testing.T) {
	cases := []struct {
		name   string
		change func(v *upstream.Verdict)
		kind   string
	}{
		{"a raw score", func(v *upstream.Verdict) {
			v.Nodes["b"] = upstream.Node{Feasible: true, Total: 9, Scores: map[string]upstream.Score{"ImageLocality": {Raw: 9, Weighted: 9}}}
		}, "explain nodes.*.scores.ImageLocality.raw"},
		{"a weighted score", func(v *upstream.Verdict) {
			v.Nodes["b"] = upstream.Node{Feasible: true, Total: 9, Scores: map[string]upstream.Score{"ImageLocality": {Raw: 7, Weighted: 9}}}
		}, "explain nodes.*.scores.ImageLocality.weighted"},
		{"a rejection", func(v *upstream.Verdict) {
			v.Nodes["b"] = upstream.Node{Plugin: "NodeName", Code: "Unschedulable", Reasons: []string{"no"}}
			v.Best = nil
		}, "explain nodes.*.feasible"},
		{"the result", func(v *upstream.Verdict) { v.Result = upstream.Gated }, "explain result"},
		{"the message", func(v *upstream.Verdict) { v.Message = "x" }, "explain message"},
		{"a node more", func(v *upstream.Verdict) { v.Nodes["c"] = upstream.Node{} }, "explain nodes.*"},
	}
	for _, c := range cases {
		got := document()
		c.change(got)
		d := compareVerdicts([]*upstream.Verdict{document()}, got.Line())
		if d == nil || d.Kind != c.kind || d.Pod != "default/p" {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

// A dry run of preemption begins with any node.
func TestErrorsOfADryRunDoNotDifferByTheirOrder(t *testing.T) {
	saying := func(message string) *upstream.Verdict {
		v := document()
		v.Preemption = &upstream.Preemption{Message: message}
		return v
	}
	const first, second = `running "A" filter plugin: x, or y`, `running "A" filter plugin: b`
	want := saying("preemption: [" + first + ", " + second + "]")
	for message, same := range map[string]bool{
		"preemption: [" + second + ", " + first + "]":                 true,
		"preemption: [" + first + ", running \"B\" filter plugin: b]": false,
		"preemption: " + first:                                        false,
	} {
		if d := compareVerdicts([]*upstream.Verdict{want}, saying(message).Line()); (d == nil) != same {
			t.Errorf("%s: %+v", message, d)
		}
	}
}

// Which of several errors is told depends on the node that is asked first.
func TestARemarkIsAnyOfTheErrorsOfTheNodes(t *testing.T) {
	remarking := func(remark string) *upstream.Verdict {
		v := document()
		v.Remark = remark
		return v
	}
	for _, c := range []struct {
		want, said string
		same       bool
	}{
		{"a", "a", true},
		{"a", "b", true},
		{"a", "", false},
		{"", "a", false},
		{"a", "c", false},
		{"c", "a", false},
	} {
		want := remarking(c.want)
		want.Errors = []string{"a", "b"}
		if d := compareVerdicts([]*upstream.Verdict{want}, remarking(c.said).Line()); (d == nil) != c.same {
			t.Errorf("%q, not %q: %+v", c.said, c.want, d)
		}
	}
}

func TestMissingAndUnknownDocumentsDiffer(t *testing.T) {
	line := string(document().Line())
	for want, text := range map[string]string{
		"missing document": "",
		"extra document":   line + "\n" + line + "\n",
		"bad document":     `{"pod":"default/p","colour":"red"}` + "\n",
	} {
		if d := compareVerdicts([]*upstream.Verdict{document()}, []byte(text)); d == nil || d.Kind != want {
			t.Errorf("want %q, got %+v", want, d)
		}
	}
}
