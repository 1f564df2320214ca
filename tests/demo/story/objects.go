// SPDX-License-Identifier: Apache-2.0

// Package story is what the demo tells, wherever it is told: who takes part, what is asked, and what is right. It imports
// nothing that takes long to compile, so objects are plain: a Node and a Pod are that part of the API's JSON which the story
// needs.
package story

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Metadata of a Node or a Pod.
type Metadata struct {
	Name              string            `json:"name,omitempty"`
	Namespace         string            `json:"namespace,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	CreationTimestamp string            `json:"creationTimestamp,omitempty"`
	OwnerReferences   []OwnerReference  `json:"ownerReferences,omitempty"`
}

// OwnerReference names who would make a pod again that is evicted.
type OwnerReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
}

// Resources are quantities by name.
type Resources map[string]string

// Node is a node.
type Node struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   Metadata   `json:"metadata"`
	Spec       NodeSpec   `json:"spec"`
	Status     NodeStatus `json:"status"`
}

// NodeSpec is what a node is meant for.
type NodeSpec struct {
	Taints []Taint `json:"taints,omitempty"`
}

// Taint repels pods.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// NodeStatus is what a node has.
type NodeStatus struct {
	Allocatable Resources       `json:"allocatable"`
	Capacity    Resources       `json:"capacity"`
	Conditions  []NodeCondition `json:"conditions,omitempty"`
}

// NodeCondition says whether a node is Ready.
type NodeCondition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// Pod is a pod.
type Pod struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   Metadata  `json:"metadata"`
	Spec       PodSpec   `json:"spec"`
	Status     PodStatus `json:"status"`
}

// PodSpec is what a pod asks for.
type PodSpec struct {
	SchedulerName     string            `json:"schedulerName,omitempty"`
	NodeName          string            `json:"nodeName,omitempty"`
	NodeSelector      map[string]string `json:"nodeSelector,omitempty"`
	Affinity          *Affinity         `json:"affinity,omitempty"`
	Tolerations       []Toleration      `json:"tolerations,omitempty"`
	PriorityClassName string            `json:"priorityClassName,omitempty"`
	Priority          *int32            `json:"priority,omitempty"`
	SchedulingGates   []Gate            `json:"schedulingGates,omitempty"`
	Containers        []Container       `json:"containers"`
}

// Affinity is that to nodes; there is no other in the story.
type Affinity struct {
	NodeAffinity NodeAffinity `json:"nodeAffinity"`
}

// NodeAffinity says which nodes a pod demands, and which it prefers.
type NodeAffinity struct {
	Required  *NodeSelector   `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	Preferred []PreferredTerm `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// NodeSelector matches where one of its terms does.
type NodeSelector struct {
	Terms []NodeSelectorTerm `json:"nodeSelectorTerms"`
}

// PreferredTerm is a term with a weight.
type PreferredTerm struct {
	Weight     int              `json:"weight"`
	Preference NodeSelectorTerm `json:"preference"`
}

// NodeSelectorTerm matches where all its requirements do.
type NodeSelectorTerm struct {
	MatchExpressions []Requirement `json:"matchExpressions,omitempty"`
	MatchFields      []Requirement `json:"matchFields,omitempty"`
}

// Requirement is one of a label or a field.
type Requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

// Toleration lets a pod onto nodes with a taint.
type Toleration struct {
	Key               string `json:"key,omitempty"`
	Operator          string `json:"operator,omitempty"`
	Value             string `json:"value,omitempty"`
	Effect            string `json:"effect,omitempty"`
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}

// Gate holds a pod back.
type Gate struct {
	Name string `json:"name"`
}

// Container is the one that each pod of the story has.
type Container struct {
	Name      string       `json:"name"`
	Image     string       `json:"image"`
	Ports     []Port       `json:"ports,omitempty"`
	Resources Requirements `json:"resources"`
}

// Port is one that a container takes of its node.
type Port struct {
	ContainerPort int `json:"containerPort"`
	HostPort      int `json:"hostPort"`
}

// Requirements are what a container requests, and the most it gets.
type Requirements struct {
	Requests Resources `json:"requests,omitempty"`
	Limits   Resources `json:"limits,omitempty"`
}

// PodStatus says whether a pod runs.
type PodStatus struct {
	Phase string `json:"phase,omitempty"`
}

// suffixes of quantities, those of two letters first.
var suffixes = []struct {
	text   string
	factor float64
}{
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40},
	{"m", 1e-3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12},
}

// Milli is a quantity in thousandths, in which all of the story are whole.
func Milli(quantity string) (int64, error) {
	number, factor := quantity, 1.0
	for _, suffix := range suffixes {
		if text, ok := strings.CutSuffix(quantity, suffix.text); ok {
			number, factor = text, suffix.factor
			break
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no quantity: %w", quantity, err)
	}
	return int64(math.Round(value * factor * 1000)), nil
}
