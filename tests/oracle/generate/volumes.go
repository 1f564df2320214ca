// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (g *generator) persistentVolumes() {
	for range g.between(5, 40) {
		g.volumes = append(g.volumes, g.persistentVolume())
	}
}

func (g *generator) persistentVolume() *corev1.PersistentVolume {
	r := g.random
	i := len(g.volumes)
	pv := &corev1.PersistentVolume{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("v%02d", i), Labels: g.labels(volumeLabelKeys, volumeLabels, 0.5)},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: g.volumeSize()},
			AccessModes:                   accessModes,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			VolumeMode:                    g.volumeMode(),
			PersistentVolumeSource:        g.volumeSource(i),
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
	}
	if r.chance(0.4) {
		pv.Spec.AccessModes = g.accessModes()
	}
	class := pick(r, classNames)
	if r.chance(0.05) {
		pv.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: class}
	} else {
		pv.Spec.StorageClassName = class
	}
	if r.chance(0.1) && pv.Spec.CSI != nil {
		pv.Spec.VolumeAttributesClassName = ptr(pick(r, attributesClasses))
	}
	if pv.Spec.Local != nil || r.chance(g.mood.volumeAffinity) {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: g.volumeTerms()}}
	}
	if r.chance(g.mood.zonedVolumes) {
		maps.Copy(pv.Labels, g.zoneLabels(pv.Spec.GCEPersistentDisk == nil))
	}
	if r.chance(0.1) {
		pv.Status.Phase = pick(r, []corev1.PersistentVolumePhase{corev1.VolumePending, corev1.VolumeReleased, corev1.VolumeFailed})
	}
	if r.chance(0.04) {
		pv.DeletionTimestamp = &someTime
	}
	return pv
}

func (g *generator) accessModes() []corev1.PersistentVolumeAccessMode {
	if g.chance(g.mood.oncePod) {
		return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}
	return some(g.random, accessModes, 1, 2)
}

func (g *generator) volumeMode() *corev1.PersistentVolumeMode {
	switch {
	case g.chance(0.05):
		return ptr(corev1.PersistentVolumeBlock)
	case g.chance(0.5):
		return ptr(corev1.PersistentVolumeFilesystem)
	}
	return nil
}

// volumeSource is mostly of CSI drivers, some of which have two volumes of the same handle.
func (g *generator) volumeSource(i int) corev1.PersistentVolumeSource {
	r := g.random
	switch r.IntN(14) {
	case 0:
		return corev1.PersistentVolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: pick(r, disks)}}
	case 1:
		return corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: pick(r, ebsVolumes)}}
	case 2:
		return corev1.PersistentVolumeSource{AzureDisk: ptr(azureDisk(pick(r, disks)))}
	case 3:
		return corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: pick(r, disks)}}
	case 4:
		return corev1.PersistentVolumeSource{VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "[store] " + pick(r, disks)}}
	case 5:
		return corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nfs.example", Path: "/" + pick(r, disks)}}
	case 6:
		return corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt/disk"}}
	}
	handle := fmt.Sprintf("handle-%d", i)
	if r.chance(0.1) {
		handle = "handle-0"
	}
	return corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: pick(r, csiDrivers), VolumeHandle: handle}}
}

func azureDisk(name string) corev1.AzureDiskVolumeSource {
	return corev1.AzureDiskVolumeSource{DiskName: name, Kind: ptr(corev1.AzureManagedDisk),
		DataDiskURI: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/" + name}
}

// volumeTerms say which nodes reach a volume. What they say of a node's name counts for nothing.
func (g *generator) volumeTerms() []corev1.NodeSelectorTerm {
	var terms []corev1.NodeSelectorTerm
	in := func(key string, values []string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	for range pick(g.random, []int{1, 1, 2}) {
		var term corev1.NodeSelectorTerm
		switch g.IntN(5) {
		case 0:
			term.MatchExpressions = append(term.MatchExpressions, in(corev1.LabelHostname, g.someNodes()))
		case 1:
			term.MatchExpressions = append(term.MatchExpressions, g.nodeRequirement())
		case 2:
			term.MatchExpressions = append(term.MatchExpressions, in(betaZoneLabel, some(g.random, zones, 1, 2)))
			term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{nodeName(0)}}}
			if len(terms) > 0 {
				term.MatchExpressions = nil
			}
		default:
			term.MatchExpressions = append(term.MatchExpressions, in(corev1.LabelTopologyZone, some(g.random, zones, 1, 2)))
		}
		if g.chance(0.1) {
			term.MatchExpressions = append(term.MatchExpressions, g.nodeRequirement())
		}
		terms = append(terms, term)
	}
	return terms
}

func (g *generator) someNodes() []string {
	var names []string
	for range g.between(1, 4) {
		names = append(names, nodeName(g.IntN(g.mood.nodes)))
	}
	return names
}

// zoneLabels are those by which a volume's zone is known. One label may have several zones; not for disks of GCE, whose
// regions could not be told from such zones.
func (g *generator) zoneLabels(several bool) map[string]string {
	zone := pick(g.random, zones)
	if several && g.chance(0.4) {
		zone += "__" + pick(g.random, zones)
	}
	if g.chance(0.3) {
		return map[string]string{betaZoneLabel: zone, betaRegionLabel: "europe"}
	}
	labels := map[string]string{corev1.LabelTopologyZone: zone}
	if g.chance(0.5) {
		labels[corev1.LabelTopologyRegion] = pick(g.random, []string{"europe", "europe", "europe", "asia"})
	}
	return labels
}
