// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

const megabyte = 1_000_000

type object = map[string]any

// size is of what kind clusters are.
type size struct {
	Nodes      int `json:"nodes"`
	PerNode    int `json:"podsPerNode"`
	Priorities int `json:"priorities"`
	Usage      int `json:"usagePercent"`
}

// amounts are of cpu, in milli-cores, and of memory, in MB.
type amounts [2]int

func (a amounts) plus(b amounts, times int) amounts {
	return amounts{a[0] + times*b[0], a[1] + times*b[1]}
}
func (a amounts) fit(in amounts) bool { return a[0] <= in[0] && a[1] <= in[1] }

type pod struct {
	name, set string
	asks      amounts
	// From 0, the most important.
	level int
	// "": it waits.
	node string
}

// cluster has equal nodes.
type cluster struct {
	size
	node amounts
	// In the order in which they come.
	pods []pod
}

// draw makes ReplicaSets of 1 to 4 pods until there are enough pods, and nodes that these fill to
// the usage.
func draw(s size, seed int) *cluster {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	c := &cluster{size: s}
	for set := 0; len(c.pods) < s.Nodes*s.PerNode; set++ {
		one := pod{
			set: fmt.Sprintf("set-%d", set), level: random.IntN(s.Priorities),
			asks: amounts{100 + random.IntN(901), 100 + random.IntN(901)},
		}
		for i := range min(1+random.IntN(4), s.Nodes*s.PerNode-len(c.pods)) {
			one.name = fmt.Sprintf("%s-%d", one.set, i)
			c.pods = append(c.pods, one)
		}
	}
	var all amounts
	for _, p := range c.pods {
		all = all.plus(p.asks, 1)
	}
	for i := range c.node {
		c.node[i] = (100*all[i] + s.Usage*s.Nodes - 1) / (s.Usage * s.Nodes)
	}
	random.Shuffle(len(c.pods), func(i, j int) { c.pods[i], c.pods[j] = c.pods[j], c.pods[i] })
	return c
}

func (c *cluster) capacity() amounts { return amounts{}.plus(c.node, c.Nodes) }

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

func quantities(a amounts) object {
	return object{"cpu": fmt.Sprintf("%dm", a[0]), "memory": fmt.Sprintf("%dM", a[1])}
}

func nodeObject(i int, allocatable object) object {
	return object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": object{"name": nodeName(i), "labels": object{"kubernetes.io/hostname": nodeName(i)}},
		"status":   object{"allocatable": allocatable},
	}
}

// podObject is a pod that a controller of that kind makes again; on the node, if it is not "".
func podObject(name, kind, controller, node string, requests object) object {
	spec := object{"containers": []object{{"name": "main", "image": "pause", "resources": object{"requests": requests}}}}
	status := object{"phase": "Pending"}
	if node != "" {
		spec["nodeName"] = node
		status["phase"] = "Running"
	}
	return object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": object{
			"name": name, "namespace": "default", "uid": name,
			"ownerReferences": []object{{"apiVersion": "v1", "kind": kind, "name": controller, "uid": controller, "controller": true}},
		},
		"spec": spec, "status": status,
	}
}

func (c *cluster) objects(priorities bool) (list []object) {
	for i := range c.Nodes {
		allocatable := quantities(c.node)
		allocatable["pods"] = "110"
		list = append(list, nodeObject(i, allocatable))
	}
	for _, p := range c.pods {
		made := podObject(p.name, "ReplicaSet", p.set, p.node, quantities(p.asks))
		if priorities {
			made["spec"].(object)["priority"] = 100 * (c.Priorities - p.level)
		}
		list = append(list, made)
	}
	return list
}

func writeList(file string, list []object) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return json.NewEncoder(f).Encode(object{"apiVersion": "v1", "kind": "List", "items": list})
}

// takePlaces reads what `berth simulate` printed: where each pod went.
func (c *cluster) takePlaces(printed []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(printed))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var line struct {
			Pod  string
			Node *string
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return err
		}
		if line.Pod == "" || line.Node == nil {
			continue
		}
		p := c.find(line.Pod)
		if p == nil {
			return fmt.Errorf("there is no pod %q", line.Pod)
		}
		p.node = *line.Node
	}
	return lines.Err()
}

func (c *cluster) find(key string) *pod {
	name := strings.TrimPrefix(key, "default/")
	at := slices.IndexFunc(c.pods, func(p pod) bool { return p.name == name })
	if at < 0 {
		return nil
	}
	return &c.pods[at]
}

// placed is how many pods of each level have nodes.
func (c *cluster) placed() []int {
	placed := make([]int, c.Priorities)
	for _, p := range c.pods {
		if p.node != "" {
			placed[p.level]++
		}
	}
	return placed
}

func (c *cluster) waiting() (waiting int) {
	for _, p := range c.pods {
		if p.node == "" {
			waiting++
		}
	}
	return waiting
}

// play carries the moves out one after the other, by the cluster's own numbers, and returns how often
// pods left a node. One to "" leaves its node for good. A move that is not possible is an error.
func (c *cluster) play(moves []move) (evictions int, err error) {
	free := map[string]amounts{}
	for i := range c.Nodes {
		free[nodeName(i)] = c.node
	}
	for _, p := range c.pods {
		if p.node == "" {
			continue
		}
		free[p.node] = free[p.node].plus(p.asks, -1)
		if !(amounts{}).fit(free[p.node]) {
			return 0, fmt.Errorf("%s is too full to start with", p.node)
		}
	}
	for _, m := range moves {
		p := c.find(m.Pod)
		if p == nil || p.node != m.From || m.To == m.From {
			return 0, fmt.Errorf("%+v: there is no such pod", m)
		}
		if m.To != "" {
			room, ok := free[m.To]
			if !ok || !p.asks.fit(room) {
				return 0, fmt.Errorf("%+v: there is no room", m)
			}
			free[m.To] = room.plus(p.asks, -1)
		}
		if m.From != "" {
			evictions++
			free[m.From] = free[m.From].plus(p.asks, 1)
		}
		p.node = m.To
	}
	return evictions, nil
}

// isBetter is whether a has more pods than b at the first level where they differ.
func isBetter(a, b []int) bool { return slices.Compare(a, b) > 0 }

// provesMost is whether no placement of all the pods, whichever are on nodes now, has more of the
// most important ones, and so on: by what all nodes together have of each resource.
func provesMost(c *cluster, placed []int) bool {
	var least amounts
	for level, count := range placed {
		var asked [2][]int
		for _, p := range c.pods {
			if p.level == level {
				for i := range asked {
					asked[i] = append(asked[i], p.asks[i])
				}
			}
		}
		most := len(asked[0])
		for i := range asked {
			slices.Sort(asked[i])
			sum := least[i]
			for fits, amount := range asked[i] {
				if sum += amount; sum > c.capacity()[i] {
					most = min(most, fits)
					break
				}
			}
		}
		if count < most {
			return false
		}
		for i := range asked {
			for _, amount := range asked[i][:most] {
				least[i] += amount
			}
		}
	}
	return true
}
