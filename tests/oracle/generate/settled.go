// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/volume"
)

// Settled is the case as the controllers of volumes leave it: they would change nothing until a pod has chosen its
// volumes. `berth simulate` plays these controllers, and a replay knows only what follows from decisions.
func (c Case) Settled() Case {
	s := settler{claims: map[string]dict{}, volumes: map[string]bool{}, waiting: map[string]bool{}}
	for _, object := range c.Objects {
		switch object["kind"] {
		case "StorageClass":
			s.waiting[text(object, "metadata", "name")] = true
		case "PersistentVolume":
			s.volumes[text(object, "metadata", "name")] = true
		case "PersistentVolumeClaim":
			s.claims[text(object, "metadata", "namespace")+"/"+text(object, "metadata", "name")] = object
		}
	}
	objects := c.Objects
	c.Objects = nil
	for _, object := range objects {
		if settled := s.settle(object); settled != nil {
			c.Objects = append(c.Objects, settled)
		}
	}
	return c
}

// HasVolumes says whether there are claims.
func (c Case) HasVolumes() bool {
	return slices.ContainsFunc(c.Objects, func(o dict) bool { return o["kind"] == "PersistentVolumeClaim" })
}

type settler struct {
	claims  map[string]dict
	volumes map[string]bool
	waiting map[string]bool
}

func (s settler) settle(object dict) dict {
	switch object["kind"] {
	case "StorageClass":
		return with(object, "WaitForFirstConsumer", "volumeBindingMode")
	case "CSIDriver":
		return with(object, false, "spec", "storageCapacity")
	case "PersistentVolume":
		return s.settleVolume(object)
	case "PersistentVolumeClaim":
		return s.settleClaim(object)
	case "Pod":
		if s.lacksClaim(object) {
			return nil
		}
	}
	return object
}

// settleVolume frees a volume that is kept for a claim but not bound to it.
func (s settler) settleVolume(pv dict) dict {
	if reference, _ := member(pv, "spec", "claimRef").(dict); reference != nil {
		claim := s.claims[text(reference, "namespace")+"/"+text(reference, "name")]
		if claim != nil && isBound(claim) && text(claim, "spec", "volumeName") == text(pv, "metadata", "name") {
			return pv
		}
		pv = with(pv, nil, "spec", "claimRef")
	}
	if text(pv, "status", "phase") == string(corev1.VolumeReleased) {
		return pv
	}
	return with(pv, string(corev1.VolumeAvailable), "status", "phase")
}

// settleClaim lets a claim that would be bound without a pod ask for more than there is.
func (s settler) settleClaim(claim dict) dict {
	name := text(claim, "spec", "volumeName")
	if isBound(claim) {
		if !s.volumes[name] {
			claim = with(claim, string(corev1.ClaimLost), "status", "phase")
		}
		return claim
	}
	claim = with(claim, nil, "metadata", "annotations", volume.AnnSelectedNode)
	if name != "" || !s.waiting[text(claim, "spec", "storageClassName")] {
		claim = with(claim, "1Pi", "spec", "resources", "requests", "storage")
	}
	return claim
}

func isBound(claim dict) bool {
	return text(claim, "metadata", "annotations", volume.AnnBindCompleted) != ""
}

// lacksClaim says that the claim of an ephemeral volume is still to be made.
func (s settler) lacksClaim(pod dict) bool {
	list, _ := member(pod, "spec", "volumes").([]any)
	return slices.ContainsFunc(list, func(v any) bool {
		of := v.(dict)
		return of["ephemeral"] != nil &&
			s.claims[text(pod, "metadata", "namespace")+"/"+text(pod, "metadata", "name")+"-"+text(of, "name")] == nil
	})
}

// member follows names; nil where there is nothing.
func member(object dict, path ...string) any {
	var value any = object
	for _, name := range path {
		members, _ := value.(dict)
		value = members[name]
	}
	return value
}

func text(object dict, path ...string) string {
	value, _ := member(object, path...).(string)
	return value
}

// with copies what is on the way and sets, or with nil removes, what stands there.
func with(object dict, value any, path ...string) dict {
	copied := maps.Clone(object)
	if copied == nil {
		copied = dict{}
	}
	name := path[0]
	switch {
	case len(path) > 1:
		inner, _ := object[name].(dict)
		copied[name] = with(inner, value, path[1:]...)
	case value == nil:
		delete(copied, name)
	default:
		copied[name] = value
	}
	return copied
}
