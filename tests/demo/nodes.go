// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/daemon/workload"
)

const gpu = "example.com/gpu"

var zones = []string{"zone-a", "zone-b", "zone-c"}

// demoNodes are 100 nodes in three zones: of each ten, one has GPUs and repels other pods, one is
// kept for batch work, two have SSDs and one stands at the edge.
func demoNodes() []*corev1.Node {
	var nodes []*corev1.Node
	for i := range 100 {
		zone := zones[i%len(zones)]
		options := []workload.NodeOption{
			inZone(zone), workload.Allocatable("cpu", "8", "memory", "32Gi", "pods", "110"),
		}
		pool := "general"
		switch i / 3 % 10 {
		case 0:
			pool = "gpu"
			options = append(options, workload.NoSchedule("gpu"),
				workload.Allocatable("cpu", "16", "memory", "128Gi", gpu, "4"))
		case 1:
			pool = "batch"
			options = append(options, workload.NoSchedule("batch"))
		case 2, 3:
			options = append(options, workload.NodeLabel("disk", "ssd"))
		case 4:
			options = append(options, workload.NodeLabel("edge", "yes"))
		}
		options = append(options, workload.NodeLabel("pool", pool))
		nodes = append(nodes, workload.Node(fmt.Sprintf("%s-%02d", zone, i/len(zones)+1), options...))
	}
	return nodes
}

// lateNode is a node on which every pod fits that fitted nowhere before.
func lateNode() *corev1.Node {
	return workload.Node("zone-a-late", inZone("zone-a"),
		workload.NodeLabel("pool", "gpu"), workload.NodeLabel("disk", "tape"), workload.NodeLabel("edge", "yes"),
		workload.Allocatable("cpu", "96", "memory", "512Gi", gpu, "16"))
}

func inZone(zone string) workload.NodeOption {
	return func(node *corev1.Node) {
		node.Labels[demoLabel] = "yes"
		node.Labels[corev1.LabelTopologyZone] = zone
		// In a cluster that is there kwok leaves nodes without this mark alone, and so should others.
		node.Annotations = map[string]string{"kwok.x-k8s.io/node": "fake"}
	}
}
