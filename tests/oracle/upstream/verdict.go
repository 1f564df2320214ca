// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Result is what became of a pod that was judged.
type Result string

// The results of a judgement.
const (
	Scheduled     Result = "scheduled"
	Unschedulable Result = "unschedulable"
	// Gated pods are held back by PreEnqueue.
	Gated Result = "gated"
	// Ignored pods name no profile, or are being deleted.
	Ignored Result = "ignored"
	Error   Result = "error"
)

// Verdict is the verdict document of one pod: the same as `berth explain --preemption --claims -o json` prints, a
// line each, but for claims of nodes that are not feasible.
// The members are in the order of their names.
type Verdict struct {
	// Best has every node with the highest total, sorted.
	Best    []string        `json:"best,omitempty"`
	Message string          `json:"message,omitempty"`
	Nodes   map[string]Node `json:"nodes"`
	Pod     string          `json:"pod"`
	// PreFilter is Berth's alone.
	PreFilter json.RawMessage `json:"preFilter,omitempty"`
	// Preemption is there for unschedulable pods of profiles that preempt.
	Preemption *Preemption `json:"preemption,omitempty"`
	Profile    string      `json:"profile,omitempty"`
	// Remark is what failed over nodes or scores that a scheduling cycle would not ask for.
	Remark string `json:"remark,omitempty"`
	// ResizeOn is the node where the pod runs and is to be resized.
	ResizeOn string `json:"resizeOn,omitempty"`
	Result   Result `json:"result"`

	// Errors are the messages that a failed cycle could have: nodes are looked at in parallel.
	Errors []string `json:"-"`

	// choices are what Reserve takes for the pod, by node.
	choices map[string]choice
	// failure is there for unschedulable pods for which no eviction makes room.
	failure failure
}

// Node is what a verdict says about one node.
type Node struct {
	// Claims are what the pod's claims come to on a feasible node, in the order of its volumes.
	Claims   []Claim `json:"claims,omitempty"`
	Code     string  `json:"code,omitempty"`
	Feasible bool    `json:"feasible"`
	// Plugin is the one that rejected the node first; nodes outside PreFilter's set have none.
	Plugin  string           `json:"plugin,omitempty"`
	Reasons []string         `json:"reasons,omitempty"`
	Scores  map[string]Score `json:"scores,omitempty"`
	Total   int64            `json:"total,omitempty"`
}

// Claim is a claim of the pod with the volume that it has or would take, or who would make one; or with its devices.
type Claim struct {
	Claim string `json:"claim"`
	// Devices are "request: driver/pool/device share name=consumed", in the order of the allocation; nil for claims of
	// volumes. Those of extended resources are sorted, and have no more than "driver/pool/device".
	Devices []string `json:"devices,omitzero"`
	// Problem is only in Berth's documents, on nodes that are not feasible.
	Problem     string `json:"problem,omitempty"`
	Provisioner string `json:"provisioner,omitempty"`
	Volume      string `json:"volume,omitempty"`
}

// Score is one plugin's score of one node.
type Score struct {
	// Raw is the score before, Weighted the one after normalisation and weight.
	Raw      int64 `json:"raw"`
	Weighted int64 `json:"weighted"`
}

// Line is the document on one line, without a newline.
func (v *Verdict) Line() []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // Nothing in a Verdict can fail to encode.
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// ParseVerdict reads one document. Members that the format does not have are errors.
func ParseVerdict(line []byte) (*Verdict, error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	v := &Verdict{}
	if err := decoder.Decode(v); err != nil {
		return nil, err
	}
	return v, nil
}

// WithSortedErrors puts the errors of a dry run of preemption, at the end of a message, in the order of their texts: they
// come as its nodes do, and it begins with any node.
func WithSortedErrors(message string) string {
	const begin, separator = "preemption: [", ", running \""
	head, list, found := strings.Cut(message, begin)
	list, closed := strings.CutSuffix(list, "]")
	if !found || !closed {
		return message
	}
	// Each begins with the same words, which no other comma stands before.
	rest, uniform := strings.CutPrefix(list, separator[len(", "):])
	if !uniform {
		return message
	}
	errors := strings.Split(rest, separator)
	slices.Sort(errors)
	return head + begin + separator[len(", "):] + strings.Join(errors, separator) + "]"
}
