// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const storageAPI = "storage.k8s.io/v1"

// storageObjects are all objects of volumes but those that come with a pod; classes, volumes and claims are kept for
// what refers to them.
func (g *generator) storageObjects() []any {
	if !g.mood.storage {
		return nil
	}
	g.storageClasses()
	g.persistentVolumes()
	g.persistentVolumeClaims()
	objects := g.volumeAttributesClasses()
	for _, class := range g.classes {
		objects = append(objects, class)
	}
	objects = append(objects, g.csiDrivers()...)
	for i := range g.mood.nodes {
		if g.chance(g.mood.csiNodes) {
			objects = append(objects, g.csiNode(i))
		}
	}
	return append(append(objects, g.capacities()...), g.attachments()...)
}

func (g *generator) storageClasses() {
	r := g.random
	for _, name := range classNames[:len(classNames)-1] {
		if r.chance(0.15) {
			continue
		}
		class := &storagev1.StorageClass{
			TypeMeta:          metav1.TypeMeta{APIVersion: storageAPI, Kind: "StorageClass"},
			ObjectMeta:        metav1.ObjectMeta{Name: name},
			Provisioner:       pick(r, provisioners),
			VolumeBindingMode: ptr(storagev1.VolumeBindingWaitForFirstConsumer),
		}
		if r.chance(0.2) {
			class.VolumeBindingMode = ptr(storagev1.VolumeBindingImmediate)
		}
		if r.chance(0.3) {
			class.AllowedTopologies = g.allowedTopologies()
		}
		g.classes = append(g.classes, class)
	}
}

// allowedTopologies has terms of different keys: an API server refuses equal ones.
func (g *generator) allowedTopologies() []corev1.TopologySelectorTerm {
	var terms []corev1.TopologySelectorTerm
	values := map[string][]string{corev1.LabelTopologyZone: zones, rackLabel: nodeLabels[rackLabel]}
	for _, key := range some(g.random, []string{corev1.LabelTopologyZone, rackLabel}, 1, 2) {
		term := corev1.TopologySelectorTerm{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
			{Key: key, Values: some(g.random, values[key], 1, 2)}}}
		if g.chance(0.2) {
			term.MatchLabelExpressions = append(term.MatchLabelExpressions,
				corev1.TopologySelectorLabelRequirement{Key: diskLabel, Values: some(g.random, []string{"ssd", "hdd"}, 1, 2)})
		}
		terms = append(terms, term)
	}
	return terms
}

func (g *generator) volumeAttributesClasses() []any {
	var objects []any
	for _, name := range attributesClasses {
		objects = append(objects, &storagev1.VolumeAttributesClass{
			TypeMeta:   metav1.TypeMeta{APIVersion: storageAPI, Kind: "VolumeAttributesClass"},
			ObjectMeta: metav1.ObjectMeta{Name: name}, DriverName: csiDrivers[0], Parameters: map[string]string{"iops": "500"},
		})
	}
	return objects
}

// csiDrivers has one driver at most that pods wait for: of several upstream names any.
func (g *generator) csiDrivers() []any {
	r := g.random
	var objects []any
	mustHave := pick(r, csiDrivers)
	for _, name := range csiDrivers {
		if r.chance(0.4) {
			continue
		}
		driver := &storagev1.CSIDriver{
			TypeMeta:   metav1.TypeMeta{APIVersion: storageAPI, Kind: "CSIDriver"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
		}
		if r.chance(0.8) {
			driver.Spec.StorageCapacity = ptr(r.chance(0.8))
		}
		if name == mustHave {
			driver.Spec.PreventPodSchedulingIfMissing = ptr(r.chance(0.7))
		}
		objects = append(objects, driver)
	}
	return objects
}

func (g *generator) csiNode(i int) *storagev1.CSINode {
	r := g.random
	node := &storagev1.CSINode{
		TypeMeta:   metav1.TypeMeta{APIVersion: storageAPI, Kind: "CSINode"},
		ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)},
	}
	if r.chance(0.6) {
		node.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: strings.Join(subset(r, inTreePlugins, 0.7), ",")}
	}
	for _, name := range subset(r, csiDrivers, 0.8) {
		driver := storagev1.CSINodeDriver{Name: name, NodeID: nodeName(i)}
		if r.chance(0.7) {
			driver.TopologyKeys = some(r, []string{corev1.LabelTopologyZone, corev1.LabelHostname, rackLabel}, 1, 2)
		}
		if r.chance(g.mood.volumeLimits) {
			driver.Allocatable = &storagev1.VolumeNodeResources{Count: ptr(pick(r, []int32{0, 1, 1, 2, 2, 3, 5}))}
		}
		node.Spec.Drivers = append(node.Spec.Drivers, driver)
	}
	return node
}

// capacities are such that one at most has room for a node: of several upstream takes any. All have a capacity: see what
// ../README.md leaves out.
func (g *generator) capacities() []any {
	r := g.random
	var objects []any
	add := func(class string, topology *metav1.LabelSelector) {
		capacity := &storagev1.CSIStorageCapacity{
			TypeMeta:         metav1.TypeMeta{APIVersion: storageAPI, Kind: "CSIStorageCapacity"},
			ObjectMeta:       metav1.ObjectMeta{Name: fmt.Sprintf("sc%d", len(objects)), Namespace: pick(r, namespaces)},
			StorageClassName: class,
			NodeTopology:     topology,
			Capacity:         ptr(r.quantity(capacitySizes)),
		}
		if r.chance(0.3) {
			capacity.MaximumVolumeSize = ptr(r.quantity(capacitySizes))
		}
		objects = append(objects, capacity)
	}
	for _, class := range classNames {
		if r.chance(0.2) {
			add(class, nil)
		}
		if r.chance(0.2) {
			add(class, &metav1.LabelSelector{})
			continue
		}
		for _, zone := range subset(r, zones, 0.8) {
			if r.chance(0.5) {
				add(class, &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelTopologyZone: zone}})
				continue
			}
			add(class, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: corev1.LabelTopologyZone, Operator: metav1.LabelSelectorOpIn, Values: []string{zone, "zx"}}}})
		}
	}
	return objects
}

func (g *generator) attachments() []any {
	r := g.random
	var objects []any
	for i := range r.between(0, g.mood.nodes) {
		attachment := &storagev1.VolumeAttachment{
			TypeMeta:   metav1.TypeMeta{APIVersion: storageAPI, Kind: "VolumeAttachment"},
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("va%d", i)},
			Spec:       storagev1.VolumeAttachmentSpec{Attacher: pick(r, csiDrivers), NodeName: nodeName(r.IntN(g.mood.nodes))},
		}
		switch {
		case r.chance(0.1):
			attachment.Spec.Source.InlineVolumeSpec = &corev1.PersistentVolumeSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				PersistentVolumeSource: corev1.PersistentVolumeSource{
					CSI: &corev1.CSIPersistentVolumeSource{Driver: attachment.Spec.Attacher, VolumeHandle: "inline"}},
			}
		case r.chance(0.1):
			attachment.Spec.Source.PersistentVolumeName = ptr("gone")
		default:
			attachment.Spec.Source.PersistentVolumeName = ptr(pick(r, g.volumes).Name)
		}
		objects = append(objects, attachment)
	}
	return objects
}

// volumeSize is a size that no other volume has: of volumes of the same size upstream takes any.
func (g *generator) volumeSize() resource.Quantity {
	size := g.quantity(claimSizes)
	size.Add(*resource.NewQuantity(int64(len(g.volumes))<<20, resource.BinarySI))
	return size
}
