// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// NoProvisioner is the provisioner of classes whose volumes are made beforehand.
const NoProvisioner = "kubernetes.io/no-provisioner"

// WaitingClass is a storage class whose claims wait for a pod.
func WaitingClass(name, provisioner string) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
}

// Claim asks for a volume of that class and size which one node at a time uses.
func Claim(name, class, size string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		},
	}
}

// Volume is a CSI volume that nodes with the label reach; with key "" all nodes do.
func Volume(name, class, size, key, value string) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              class,
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk.csi.example", VolumeHandle: name}},
		},
	}
	if key != "" {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{labelIn(key, []string{value})}}}
	}
	return pv
}

// UseClaim mounts a claim of the pod's namespace.
func UseClaim(name string) PodOption {
	return func(pod *corev1.Pod) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	}
}

// UseEphemeral mounts a volume that lives as long as the pod.
func UseEphemeral(name, class, size string) PodOption {
	return func(pod *corev1.Pod) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
				Spec: Claim("", class, size).Spec}}}})
	}
}

// claimOf names the claim of one of the pod's volumes; "": it has none.
func claimOf(pod *corev1.Pod, v corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	default:
		return ""
	}
}

// DeleteClaims deletes all claims of the namespace, and all volumes.
func DeleteClaims(ctx context.Context, client kubernetes.Interface, namespace string) error {
	return deleteAll(ctx, map[string]deleteCollection{
		"claims":  client.CoreV1().PersistentVolumeClaims(namespace).DeleteCollection,
		"volumes": client.CoreV1().PersistentVolumes().DeleteCollection,
	})
}

// DeleteVolumes deletes all claims of the namespace, and all volumes, storage classes and what drivers report.
func DeleteVolumes(ctx context.Context, client kubernetes.Interface, namespace string) error {
	if err := DeleteClaims(ctx, client, namespace); err != nil {
		return err
	}
	storage := client.StorageV1()
	return deleteAll(ctx, map[string]deleteCollection{
		"classes":     storage.StorageClasses().DeleteCollection,
		"CSI drivers": storage.CSIDrivers().DeleteCollection,
		"capacities":  storage.CSIStorageCapacities(namespace).DeleteCollection,
	})
}

// CheckVolumes tells what is wrong with a namespace's pods and claims, of volumes that a zone reaches: each bound pod's
// claims are bound to volumes in its node's zone, no volume has two claims, and none a claim that does not know of it.
// It returns how many claims are bound.
func CheckVolumes(nodes []*corev1.Node, pods []*corev1.Pod, claims []*corev1.PersistentVolumeClaim,
	volumes []*corev1.PersistentVolume) (wrong []string, bound int) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	zones, byName, volumeOf := map[string]string{}, map[string]*corev1.PersistentVolumeClaim{}, map[string]*corev1.PersistentVolume{}
	for _, node := range nodes {
		zones[node.Name] = node.Labels[corev1.LabelTopologyZone]
	}
	for _, claim := range claims {
		byName[claim.Name] = claim
	}
	for _, pv := range volumes {
		volumeOf[pv.Name] = pv
		if pv.Spec.ClaimRef == nil {
			continue
		}
		claim := byName[pv.Spec.ClaimRef.Name]
		if claim == nil || claim.UID != pv.Spec.ClaimRef.UID || claim.Spec.VolumeName != pv.Name {
			say("volume %s is for claim %s, which does not know of it", pv.Name, pv.Spec.ClaimRef.Name)
			continue
		}
		bound++
	}
	for _, pod := range pods {
		for _, v := range pod.Spec.Volumes {
			name := claimOf(pod, v)
			if name == "" || pod.Spec.NodeName == "" {
				continue
			}
			claim := byName[name]
			if claim == nil || claim.Status.Phase != corev1.ClaimBound || volumeOf[claim.Spec.VolumeName] == nil {
				say("pod %s is bound, its claim %s is not: %v", pod.Name, name, claim)
				continue
			}
			zone := volumeOf[claim.Spec.VolumeName].Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0]
			if zones[pod.Spec.NodeName] != zone {
				say("pod %s is on node %s, its volume %s in zone %s", pod.Name, pod.Spec.NodeName, claim.Spec.VolumeName, zone)
			}
		}
	}
	return wrong, bound
}
