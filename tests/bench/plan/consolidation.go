// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	device         = "nvidia.com/gpu"
	devicesOfNode  = 8
	takenOfNode    = 3
	devicesOfGang  = 6 // each of its pods
	podsOfGang     = 10
	gangPodDivider = "-pod-"
)

// consolidation is one such cluster.
type consolidation struct {
	Nodes int `json:"nodes"`
	Gangs int `json:"gangs"`
	// Started is how many of them the plan starts.
	Started int `json:"started"`
	Moves   int `json:"moves"`
	// Fewest is how many moves any plan needs that starts all: a node has room for a gang's pod once
	// one pod has left it.
	Fewest     int     `json:"fewest"`
	CPUSeconds float64 `json:"cpuSeconds"`
	Seconds    float64 `json:"seconds"`
}

func gangsOf(nodes int) int {
	return nodes * (devicesOfNode - takenOfNode) / (devicesOfGang * podsOfGang)
}

func devices(count int) object { return object{device: strconv.Itoa(count)} }

func consolidationObjects(nodes int) (list []object) {
	for i := range nodes {
		list = append(list, nodeObject(i, object{"cpu": "64", "memory": "256Gi", "pods": "110", device: strconv.Itoa(devicesOfNode)}))
		for j := range takenOfNode {
			name := fmt.Sprintf("single-%d-%d", i, j)
			list = append(list, podObject(name, "Job", name, nodeName(i), devices(1)))
		}
	}
	for i := range gangsOf(nodes) {
		gang := fmt.Sprintf("gang-%d", i)
		list = append(list, object{
			"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
			"metadata": object{"name": gang, "namespace": "default", "uid": gang},
			"spec":     object{"schedulingPolicy": object{"gang": object{"minCount": podsOfGang}}},
		})
		for j := range podsOfGang {
			made := podObject(gang+gangPodDivider+strconv.Itoa(j), "Job", gang, "", devices(devicesOfGang))
			made["spec"].(object)["schedulingGroup"] = object{"podGroupName": gang}
			list = append(list, made)
		}
	}
	return list
}

// consolidate asks for the plan, and plays it back.
func consolidate(ctx context.Context, berth, dir string, nodes int) (consolidation, error) {
	c := consolidation{Nodes: nodes, Gangs: gangsOf(nodes)}
	c.Fewest = c.Gangs * podsOfGang
	file := filepath.Join(dir, "cluster.json")
	if err := writeList(file, consolidationObjects(nodes)); err != nil {
		return c, err
	}
	began := time.Now()
	p, used, err := planOf(ctx, berth, file, "--feature-gates", "GenericWorkload=true")
	if err != nil {
		return c, err
	}
	c.Seconds, c.CPUSeconds = time.Since(began).Seconds(), used
	c.Started, c.Moves, err = playConsolidation(nodes, p.Moves)
	return c, err
}

// playConsolidation carries the moves out by the devices alone. Errors: one is not possible, or only
// a part of a gang gets nodes.
func playConsolidation(nodes int, moves []move) (started, evictions int, err error) {
	free, at := map[string]int{}, map[string]string{}
	for i := range nodes {
		free[nodeName(i)] = devicesOfNode - takenOfNode
		for j := range takenOfNode {
			at[fmt.Sprintf("default/single-%d-%d", i, j)] = nodeName(i)
		}
	}
	members := map[string]int{}
	for _, m := range moves {
		asks := devicesOfGang
		if m.From != "" {
			asks = 1
			evictions++
			free[m.From]++
		} else {
			gang, _, _ := strings.Cut(m.Pod, gangPodDivider)
			members[gang]++
		}
		if _, ok := free[m.To]; !ok || at[m.Pod] != m.From || m.To == m.From || free[m.To] < asks {
			return 0, 0, fmt.Errorf("%+v is not possible", m)
		}
		free[m.To] -= asks
		at[m.Pod] = m.To
	}
	for gang, placed := range members {
		if placed != podsOfGang {
			return 0, 0, fmt.Errorf("%d pods of %s get nodes", placed, gang)
		}
	}
	return len(members), evictions, nil
}
