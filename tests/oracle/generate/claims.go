// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
)

func (g *generator) persistentVolumeClaims() {
	g.claims = map[string][]*corev1.PersistentVolumeClaim{}
	for _, namespace := range namespaces {
		for i := range g.between(3, 12) {
			g.claims[namespace] = append(g.claims[namespace], g.claim(namespace, fmt.Sprintf("c%d", i)))
		}
	}
}

// claim is in one of the states that PV controller, provisioners and people leave claims in.
func (g *generator) claim(namespace, name string) *corev1.PersistentVolumeClaim {
	r := g.random
	claim := &corev1.PersistentVolumeClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace, UID: types.UID("claim-" + namespace + "-" + name), Annotations: map[string]string{},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: g.accessModes(),
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceStorage: r.quantity(claimSizes)}},
			StorageClassName: ptr(pick(r, classNames)),
			VolumeMode:       g.volumeMode(),
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	if class := g.waitingClass(); class != "" && r.chance(0.8) {
		claim.Spec.StorageClassName = &class
	}
	if r.chance(0.08) {
		claim.Spec.VolumeAttributesClassName = ptr(pick(r, attributesClasses))
	}
	if r.chance(0.15) {
		claim.Spec.Selector = g.volumeSelector()
	}
	switch n := r.IntN(100); {
	case n < 40:
		g.bind(claim)
	case n < 46:
		g.reserve(claim)
	case n < 48:
		claim.Spec.VolumeName = pick(r, g.volumes).Name
	case n < 51:
		bound(claim, "gone")
	case n < 53:
		bound(claim, "gone")
		claim.Status.Phase = corev1.ClaimLost
	case n < 62:
		claim.Annotations[volume.AnnSelectedNode] = pick(r, []string{nodeName(r.IntN(g.mood.nodes)), nodeName(r.IntN(g.mood.nodes)), "gone"})
	case n < 64:
		claim.Spec.StorageClassName = nil
	}
	if r.chance(0.02) {
		claim.DeletionTimestamp = &someTime
	}
	return claim
}

// waitingClass is one whose claims wait for a pod, "" if there is none.
func (g *generator) waitingClass() string {
	for range 5 {
		if len(g.classes) == 0 {
			break
		}
		if class := pick(g.random, g.classes); *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer {
			return class.Name
		}
	}
	return ""
}

func (g *generator) volumeSelector() *metav1.LabelSelector {
	key := pick(g.random, volumeLabelKeys)
	if g.chance(0.5) {
		return &metav1.LabelSelector{MatchLabels: map[string]string{key: pick(g.random, volumeLabels[key])}}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{g.requirement(volumeLabelKeys, volumeLabels)}}
}

// bind gives the claim a volume that no other has, whether it fits or not.
func (g *generator) bind(claim *corev1.PersistentVolumeClaim) {
	pv := g.freeVolume()
	if pv == nil {
		return
	}
	bound(claim, pv.Name)
	refer(pv, claim)
	pv.Status.Phase = corev1.VolumeBound
	class := pv.Spec.StorageClassName
	if beta, has := pv.Annotations[corev1.BetaStorageClassAnnotation]; has {
		class = beta
	}
	claim.Spec.StorageClassName = &class
	if g.chance(0.05) && class != "" {
		claim.Spec.StorageClassName = nil
		claim.Annotations[corev1.BetaStorageClassAnnotation] = class
	}
	if g.chance(0.7) {
		claim.Spec.AccessModes = pv.Spec.AccessModes
	}
}

// reserve lets a volume refer to the claim before it is bound, as people do, with or without the claim's uid.
func (g *generator) reserve(claim *corev1.PersistentVolumeClaim) {
	pv := g.freeVolume()
	if pv == nil {
		return
	}
	refer(pv, claim)
	if g.chance(0.5) {
		pv.Spec.ClaimRef.UID = ""
	}
	if g.chance(0.7) {
		claim.Spec.StorageClassName = &pv.Spec.StorageClassName
		claim.Spec.VolumeMode = pv.Spec.VolumeMode
		claim.Spec.VolumeAttributesClassName = pv.Spec.VolumeAttributesClassName
		claim.Spec.Resources.Requests = pv.Spec.Capacity
	}
}

func (g *generator) freeVolume() *corev1.PersistentVolume {
	for range 5 {
		if pv := pick(g.random, g.volumes); pv.Spec.ClaimRef == nil {
			return pv
		}
	}
	return nil
}

func bound(claim *corev1.PersistentVolumeClaim, pv string) {
	claim.Spec.VolumeName = pv
	claim.Annotations[volume.AnnBindCompleted] = "yes"
	claim.Status.Phase = corev1.ClaimBound
}

func refer(pv *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) {
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1",
		Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
}

// mount gives a pod claims, ephemeral volumes and disks of its own.
func (g *generator) mount(pod *corev1.Pod) {
	m, r := g.mood, g.random
	add := func(source corev1.VolumeSource) {
		pod.Spec.Volumes = append(pod.Spec.Volumes,
			corev1.Volume{Name: fmt.Sprintf("m%d", len(pod.Spec.Volumes)), VolumeSource: source})
	}
	if r.chance(m.claims) {
		for _, claim := range some(r, g.claims[pod.Namespace], 1, pick(r, []int{1, 1, 1, 2, 3})) {
			add(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}})
		}
		if r.chance(0.02) {
			add(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "absent"}})
		}
	}
	if r.chance(m.ephemeral) && pod.UID != "" {
		claim := g.claim(pod.Namespace, "")
		add(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: *claim.Spec.DeepCopy()}}})
		g.ephemeralClaim(pod, claim)
	}
	if r.chance(m.disks) {
		for range r.between(1, 2) {
			add(g.disk())
		}
	}
}

// ephemeralClaim is what the ephemeral volume controller makes for the pod's last volume. It may be late, or find a claim of
// this name that is not the pod's.
func (g *generator) ephemeralClaim(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) {
	last := pod.Spec.Volumes[len(pod.Spec.Volumes)-1]
	name := pod.Name + "-" + last.Name
	claim.Name, claim.UID = name, types.UID("claim-"+pod.Namespace+"-"+name)
	for _, pv := range g.volumes {
		if ref := pv.Spec.ClaimRef; ref != nil && ref.Name == "" {
			ref.Name = name
			if ref.UID != "" {
				ref.UID = claim.UID
			}
		}
	}
	// A template may name no volume.
	last.Ephemeral.VolumeClaimTemplate.Spec.VolumeName = ""
	if g.chance(0.05) && claim.Spec.VolumeName == "" {
		return
	}
	if pod.Spec.NodeName != "" || !g.chance(0.05) {
		claim.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: ptr(true)}}
	}
	g.claims[pod.Namespace+"/"+pod.Name] = append(g.claims[pod.Namespace+"/"+pod.Name], claim)
}

// disk is one that pods name without a claim; some kinds of them conflict.
func (g *generator) disk() corev1.VolumeSource {
	r := g.random
	readOnly := r.chance(0.4)
	switch r.IntN(7) {
	case 0, 1:
		return corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: pick(r, disks), ReadOnly: readOnly}}
	case 2:
		return corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{
			VolumeID: pick(r, ebsVolumes), ReadOnly: readOnly}}
	case 3:
		return corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.1:3260",
			IQN: "iqn.2001-04.com.example:" + pick(r, disks), ReadOnly: readOnly}}
	case 4:
		return corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{
			CephMonitors: some(r, []string{"10.0.0.1:6789", "10.0.0.2:6789", "10.0.0.3:6789"}, 1, 2),
			RBDImage:     pick(r, disks), RBDPool: pick(r, []string{"rbd", "rbd", "other"}), ReadOnly: readOnly}}
	case 5:
		return corev1.VolumeSource{AzureDisk: ptr(azureDisk(pick(r, disks)))}
	default:
		return corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: pick(r, disks)}}
	}
}
