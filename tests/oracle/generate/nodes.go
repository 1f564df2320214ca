// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func nodeName(i int) string { return fmt.Sprintf("n%02d", i) }

func (g *generator) node(i int) *corev1.Node {
	m, r := g.mood, g.random
	node := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Labels: g.nodeLabels(i)},
	}
	if r.chance(m.taints) {
		node.Spec.Taints = g.taints()
	}
	if r.chance(m.unschedulable) {
		node.Spec.Unschedulable = true
		if r.chance(0.7) {
			node.Spec.Taints = append(node.Spec.Taints,
				corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	if m.resizePolicies > 0 && r.chance(m.resizePolicies) {
		node.Spec.PodPreemptionPolicy = &corev1.NodePodPreemptionPolicy{}
		if r.chance(0.8) {
			node.Spec.PodPreemptionPolicy.DisableResizePreemption = []string{"example.com/operator"}
		}
	}
	if !r.chance(m.bareNodes) {
		node.Status.Allocatable = g.allocatable()
		node.Status.Capacity = node.Status.Allocatable
	}
	if r.chance(m.declared) {
		node.Status.DeclaredFeatures = subset(r, features, 0.6)
	}
	if r.chance(m.images) {
		node.Status.Images = g.nodeImages()
	}
	return node
}

func (g *generator) nodeLabels(i int) map[string]string {
	r, missing := g.random, g.mood.missingLabels
	labels := map[string]string{}
	if r.chance(missing / 4) {
		return nil
	}
	set := func(key, value string) {
		if !r.chance(missing) {
			labels[key] = value
		}
	}
	set(corev1.LabelHostname, nodeName(i))
	zone := pick(r, zones[:g.zones])
	if g.betaZones && r.chance(0.5) {
		set(betaZoneLabel, zone)
		set(betaRegionLabel, "europe")
	}
	set(corev1.LabelTopologyZone, zone)
	set(corev1.LabelTopologyRegion, "europe")
	if g.mood.storage {
		for _, key := range csiZoneLabels {
			set(key, zone)
		}
	}
	for _, key := range []string{diskLabel, coresLabel, rackLabel} {
		if r.chance(0.7) {
			set(key, pick(r, nodeLabels[key]))
		}
	}
	return labels
}

// taints are unique by key and effect, as an API server demands.
func (g *generator) taints() []corev1.Taint {
	var taints []corev1.Taint
	effects := taintEffects
	if g.chance(0.4) {
		effects = []corev1.TaintEffect{corev1.TaintEffectPreferNoSchedule}
	}
	for _, key := range some(g.random, taintKeys, 1, 3) {
		for _, effect := range some(g.random, effects, 1, 2) {
			taints = append(taints, corev1.Taint{Key: key, Value: pick(g.random, taintValues), Effect: effect})
		}
	}
	return taints
}

func (g *generator) allocatable() corev1.ResourceList {
	r := g.random
	list := corev1.ResourceList{
		corev1.ResourceCPU:              r.quantity([]string{"4", "8", "7910m", "16", "64e0"}),
		corev1.ResourceMemory:           r.quantity([]string{"8Gi", "16Gi", "30.5Gi", "64e9", "32946292Ki"}),
		corev1.ResourcePods:             r.quantity([]string{"110", "110", "250", "20"}),
		corev1.ResourceEphemeralStorage: r.quantity([]string{"100Gi", "10G", "47093746742"}),
	}
	if r.chance(g.mood.small) {
		list[corev1.ResourceCPU] = r.quantity([]string{"3", "1500m", "2", "900m"})
		list[corev1.ResourceMemory] = r.quantity([]string{"3Gi", "2Gi", "1.5Gi", "6e9"})
		list[corev1.ResourcePods] = r.quantity([]string{"4", "10", "110", "0"})
	}
	if r.chance(0.1) {
		delete(list, corev1.ResourceEphemeralStorage)
	}
	if r.chance(g.mood.extended) {
		for _, name := range some(r, extendedResources, 2, 3) {
			list[name] = r.quantity([]string{"0", "2", "4", "8", "1e3"})
		}
	}
	if r.chance(g.mood.hugePages) {
		list[hugePages2Mi] = r.quantity([]string{"0", "64Mi", "1Gi"})
		if r.chance(0.5) {
			list[hugePages1Gi] = r.quantity([]string{"1Gi", "4Gi"})
		}
	}
	return list
}

// nodeImages have several names each, and mostly the same size everywhere.
func (g *generator) nodeImages() []corev1.ContainerImage {
	r := g.random
	var list []corev1.ContainerImage
	for i, name := range images {
		if r.chance(0.4) {
			continue
		}
		names := []string{normalized(name)}
		if r.chance(0.5) {
			names = append(names, fmt.Sprintf("registry.example/alias-%d:latest", i))
		}
		size := g.imageSizes[i]
		if r.chance(0.05) {
			size /= 2
		}
		list = append(list, corev1.ContainerImage{Names: names, SizeBytes: size})
	}
	if r.chance(0.1) {
		list = append(list, corev1.ContainerImage{SizeBytes: 1000})
	}
	return list
}

// normalized is the name as a kubelet reports it.
func normalized(image string) string {
	for i := len(image) - 1; i >= 0 && image[i] != '/'; i-- {
		if image[i] == ':' {
			return image
		}
	}
	return image + ":latest"
}

// imageSizes go from below the least size that counts to above the greatest.
func (r random) imageSizes() []int64 {
	sizes := make([]int64, len(images))
	for i := range sizes {
		size := r.quantity([]string{"5Mi", "40Mi", "300M", "500Mi", "1.2Gi", "3Gi"})
		sizes[i] = size.Value()
	}
	return sizes
}
