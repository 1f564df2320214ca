// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Story is one performance: on a cluster, or on a picture of one.
type Story struct {
	*Screen
	Nodes  map[string]*Node
	Groups []Group
	// Pods are those that there are now.
	Pods func() []*Pod

	faults []string
}

// New decides who takes part.
func New(screen *Screen) *Story {
	s := &Story{Screen: screen, Nodes: map[string]*Node{}}
	for _, node := range nodes() {
		s.Nodes[node.Metadata.Name] = node
	}
	s.Groups = crowd(s.SortedNodes())
	edge := 0
	for _, node := range s.Nodes {
		if node.has("edge", "yes") {
			edge++
		}
	}
	s.Step("%d nodes in %d zones: some with SSDs or GPUs, some tainted, %d at the edge", len(s.Nodes), len(zones), edge)
	return s
}

// SortedNodes are the nodes by name.
func (s *Story) SortedNodes() []*Node {
	sorted := make([]*Node, 0, len(s.Nodes))
	for _, name := range slices.Sorted(maps.Keys(s.Nodes)) {
		sorted = append(sorted, s.Nodes[name])
	}
	return sorted
}

// CrowdSize is how many pods all groups have together.
func (s *Story) CrowdSize() (size int) {
	for _, g := range s.Groups {
		size += g.Replicas
	}
	return size
}

// PodsOf are the group's pods.
func (s *Story) PodsOf(g Group) []*Pod {
	return slices.DeleteFunc(s.Pods(), func(pod *Pod) bool { return pod.Metadata.Labels["app"] != g.Name })
}

// Fault notes what is not as expected.
func (s *Story) Fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// Verdict is an error when anything was not as expected.
func (s *Story) Verdict() error {
	if len(s.faults) == 0 {
		s.Step("%s", s.Green("All pods are where they belong"))
		return nil
	}
	for _, fault := range s.faults {
		s.Line("  %s %s", s.Red("✗"), fault)
	}
	return fmt.Errorf("%d things are not as expected", len(s.faults))
}

// CheckCrowd compares where the pods are with where they belong.
func (s *Story) CheckCrowd() {
	for _, g := range s.Groups {
		pods := s.PodsOf(g)
		if len(pods) != g.Replicas {
			s.Fault("%s has %d pods, want %d", g.Name, len(pods), g.Replicas)
		}
		taken := map[string]bool{}
		for _, pod := range pods {
			name := pod.Spec.NodeName
			if node := s.Nodes[name]; node == nil || !g.belongs(node) {
				s.Fault("%s does not belong on node %q", pod.Metadata.Name, name)
			}
			if g.apart && taken[name] {
				s.Fault("two pods of %s are on node %s", g.Name, name)
			}
			taken[name] = true
		}
	}
	for name, used := range s.usage() {
		for resource, quantity := range used {
			if free := s.milli(s.Nodes[name].Status.Allocatable[resource]); quantity > free {
				s.Fault("node %s has %dm of %s on it and holds %dm", name, quantity, resource, free)
			}
		}
	}
}

// usage is what the pods on each of the demo's nodes request together, in thousandths.
func (s *Story) usage() map[string]map[string]int64 {
	used := map[string]map[string]int64{}
	for name := range s.Nodes {
		used[name] = map[string]int64{}
	}
	for _, pod := range s.Pods() {
		sum, ok := used[pod.Spec.NodeName]
		if !ok {
			continue
		}
		for _, container := range pod.Spec.Containers {
			for resource, quantity := range container.Resources.Requests {
				sum[resource] += s.milli(quantity)
			}
		}
		sum["pods"] += 1000
	}
	return used
}

// milli is a quantity in thousandths; one that cannot be read is a fault.
func (s *Story) milli(quantity string) int64 {
	amount, err := Milli(quantity)
	if quantity != "" && err != nil {
		s.Fault("%v", err)
	}
	return amount
}

// ReportSpread shows each zone, and in it each node by the share of its CPU that is taken.
func (s *Story) ReportSpread() {
	s.Heading("Spread over zones and nodes; each column is a node, as high as its CPU is taken")
	used := s.usage()
	pods, most := map[string]int{}, 0
	for name, sum := range used {
		zone := s.Nodes[name].Metadata.Labels[zoneKey]
		pods[zone] += int(sum["pods"] / 1000)
		most = max(most, pods[zone])
	}
	for _, zone := range zones {
		var columns strings.Builder
		for _, node := range s.SortedNodes() {
			if node.has(zoneKey, zone) {
				share := float64(used[node.Metadata.Name]["cpu"]) / float64(s.milli(node.Status.Allocatable["cpu"]))
				columns.WriteString(s.Column(share, node.Metadata.Labels["pool"]))
			}
		}
		s.Line("  %s %s %3d pods  %s", zone, s.Bar(pods[zone], most, 18), pods[zone], columns.String())
	}
	if s.colour {
		s.Line("  nodes: %s, %s, %s", s.PoolColour("general", "general"), s.PoolColour("batch", "batch"), s.PoolColour("gpu", "gpu"))
	}
}

// ReportMisfits shows the message of each pod that fits nowhere, and of others.
func (s *Story) ReportMisfits(message func(pod string) string, others ...string) {
	s.Heading("Pods that fit nowhere, and why")
	table := [][]string{{"POD", "MESSAGE"}}
	for _, m := range Misfits() {
		text := message(m.Name())
		table = append(table, []string{m.Name(), text})
		if !strings.Contains(text, m.Reason) {
			s.Fault("the message of %s does not say %q: %q", m.Name(), m.Reason, text)
		}
	}
	for _, name := range others {
		table = append(table, []string{name, message(name)})
	}
	s.Table(table)
}
