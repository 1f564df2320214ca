// SPDX-License-Identifier: Apache-2.0

package story

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Fix is a way to let a pod schedule, as `berth explain --fix -o json` tells it.
type Fix struct {
	Changes []Change
	Nodes   []string // all that would take the pod
}

// Change is a change of the pod, or of a node. Its members depend on what it is.
type Change struct {
	Change     string
	Node       string
	Key, Value string
	Taint      Taint
}

// Patch is a JSON merge patch of an object.
type Patch struct {
	Kind, Name string
	Body       []byte
}

// Patches are what the fix comes to for the pod and the nodes as they are. Only changes that the API server allows to an object
// that is there can be patches: a pending pod's tolerations may become more, but not its requests less.
func (f Fix) Patches(pod *Pod, nodes map[string]*Node) (patches []Patch, err error) {
	for _, change := range f.Changes {
		patch := Patch{Kind: "Node", Name: change.Node}
		var body map[string]any
		switch node := nodes[change.Node]; {
		case change.Change == "Tolerate" && change.Taint.Key != "":
			patch.Kind, patch.Name = "Pod", pod.Metadata.Name
			toleration := Toleration{Key: change.Taint.Key, Operator: "Equal", Value: change.Taint.Value, Effect: change.Taint.Effect}
			body = spec("tolerations", append(slices.Clone(pod.Spec.Tolerations), toleration))
		case node == nil:
			return nil, fmt.Errorf("the demo cannot make the change %+v", change)
		case change.Change == "SetLabel":
			body = map[string]any{"metadata": map[string]any{"labels": map[string]string{change.Key: change.Value}}}
		case change.Change == "RemoveTaint":
			body = spec("taints", slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(taint Taint) bool { return taint == change.Taint }))
		default:
			return nil, fmt.Errorf("the demo cannot make the change %+v", change)
		}
		if patch.Body, err = json.Marshal(body); err != nil {
			return nil, err
		}
		patches = append(patches, patch)
	}
	if len(patches) == 0 {
		return nil, errors.New("a fix without any change")
	}
	return patches, nil
}

func spec(field string, value any) map[string]any {
	return map[string]any{"spec": map[string]any{field: value}}
}

// Apply makes a merge patch on a plain object: maps are joined, and lists replaced.
func (p Patch) Apply(pod *Pod, nodes map[string]*Node) error {
	if p.Kind == "Pod" {
		return json.Unmarshal(p.Body, pod)
	}
	return json.Unmarshal(p.Body, nodes[p.Name])
}
