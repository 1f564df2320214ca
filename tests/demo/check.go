// SPDX-License-Identifier: Apache-2.0

package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// checkCrowd compares where the pods are with where they belong.
func (s *show) checkCrowd() {
	for _, g := range s.groups {
		pods := s.podsOf(g)
		if len(pods) != g.replicas {
			s.fault("%s has %d pods, want %d", g.name, len(pods), g.replicas)
		}
		taken := map[string]bool{}
		for _, pod := range pods {
			name := pod.Spec.NodeName
			if node := s.nodes[name]; node == nil || !g.belongs(node) {
				s.fault("%s does not belong on node %q", pod.Name, name)
			}
			if g.apart && taken[name] {
				s.fault("two pods of %s are on node %s", g.name, name)
			}
			taken[name] = true
		}
	}
	for name, used := range s.usage() {
		for resource, quantity := range used {
			if free := s.nodes[name].Status.Allocatable[resource]; quantity.Cmp(free) > 0 {
				s.fault("node %s has %s of %s on it and holds %s", name, quantity.String(), resource, free.String())
			}
		}
	}
}

// usage is what the pods on each of the demo's nodes request together.
func (s *show) usage() map[string]corev1.ResourceList {
	used := map[string]corev1.ResourceList{}
	for name := range s.nodes {
		used[name] = corev1.ResourceList{}
	}
	for _, pod := range s.pods() {
		list, ok := used[pod.Spec.NodeName]
		if !ok {
			continue
		}
		for _, container := range pod.Spec.Containers {
			for resource, quantity := range container.Resources.Requests {
				add(list, resource, quantity)
			}
		}
		add(list, corev1.ResourcePods, resource.MustParse("1"))
	}
	return used
}

func add(list corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) {
	sum := list[name]
	sum.Add(quantity)
	list[name] = sum
}
