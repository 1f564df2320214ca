// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	"k8s.io/dynamic-resource-allocation/structured"
	schedutil "k8s.io/kubernetes/pkg/scheduler/util"
)

// allocate does what Reserve and PreBind do. What extended resources get stays on its way for ever, and so is taken.
func (c *cycle) allocate(node string) error {
	reserved, err := c.reserve(node)
	if err != nil {
		return err
	}
	for _, claim := range c.deviceClaims() {
		claim := claim.DeepCopy()
		if pending := c.devices.tracker.GetPendingAllocation(claim.UID); pending != nil {
			claim.Status.Allocation = pending
			claim.Finalizers = []string{resourcev1.Finalizer}
			c.devices.allocated[Name(claim)] = claim
			c.devices.tracker.MaybeRemoveClaimPendingAllocation(claim.UID, true)
			for _, result := range pending.Devices.Results {
				reserved.Delete(structured.MakeSharedDeviceID(deviceOf(result), result.ShareID))
			}
		}
		if !resourceclaim.IsReservedForPod(c.pod, claim, false) {
			if c.devices.reserved[Name(claim)] == nil {
				c.devices.reserved[Name(claim)] = claim.DeepCopy()
			}
			c.devices.reservations[Name(claim)]++
			claim.Status.ReservedFor = append(claim.Status.ReservedFor,
				resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: c.pod.Name, UID: c.pod.UID})
		}
		if err := c.devices.write(claim); err != nil {
			return err
		}
	}
	for id := range reserved {
		c.devices.extended.Insert(id.GetDeviceID())
	}
	return nil
}

// write returns when upstream knows what the claim has become.
func (d *devices) write(claim *resourcev1.ResourceClaim) error {
	claim = claim.DeepCopy()
	before, err := d.tracker.Get(claim.Namespace, claim.Name)
	if err != nil {
		return err
	}
	if claim.Status.Allocation == nil {
		delete(d.allocated, Name(claim))
	} else if d.allocated[Name(claim)] != nil {
		d.allocated[Name(claim)] = claim
	}
	d.claims.Modify(claim)
	with, taken := claim, true
	if claim.Status.Allocation == nil {
		with, taken = before, false
	}
	others, err := d.takenByOthers(claim)
	if err != nil {
		return err
	}
	return waitFor(informersLimit, func() bool {
		now, err := d.tracker.Get(claim.Namespace, claim.Name)
		return err == nil && now.ResourceVersion == claim.ResourceVersion && d.all(with.Status.Allocation, taken, others)
	})
}

// takenByOthers are the devices that other claims have, or are to have.
func (d *devices) takenByOthers(claim *resourcev1.ResourceClaim) (sets.Set[structured.DeviceID], error) {
	claims, err := d.tracker.List()
	if err != nil {
		return nil, err
	}
	taken := d.extended.Clone()
	for _, other := range claims {
		for _, allocation := range []*resourcev1.AllocationResult{other.Status.Allocation, d.tracker.GetPendingAllocation(other.UID)} {
			if allocation == nil || other.UID == claim.UID && allocation == other.Status.Allocation {
				continue
			}
			for _, result := range allocation.Devices.Results {
				taken.Insert(deviceOf(result))
			}
		}
	}
	return taken, nil
}

// all says whether all devices of the allocation are taken, or all are free, but for those that others have. Those of
// administrators are either.
func (d *devices) all(allocation *resourcev1.AllocationResult, taken bool, others sets.Set[structured.DeviceID]) bool {
	state, err := d.tracker.GatherAllocatedState()
	if err != nil || allocation == nil {
		return err == nil
	}
	return !slices.ContainsFunc(allocation.Devices.Results, func(result resourcev1.DeviceRequestAllocationResult) bool {
		if result.AdminAccess != nil && *result.AdminAccess {
			return false
		}
		id := deviceOf(result)
		if others.Has(id) && !taken {
			return false
		}
		if result.ShareID != nil {
			return state.AllocatedSharedDeviceIDs.Has(structured.MakeSharedDeviceID(id, result.ShareID)) != taken
		}
		return state.AllocatedDevices.Has(id) != taken
	})
}

// freed is a claim that lost its devices.
type freed struct {
	before *resourcev1.ResourceClaim
	// by is the pod that gave it up.
	by string
}

// free takes the claim's devices, as PostFilter asks for on behalf of the pod.
func (d *devices) free(claim *resourcev1.ResourceClaim, by string) error {
	before, err := d.tracker.Get(claim.Namespace, claim.Name)
	if err != nil {
		return err
	}
	d.freed[Name(claim)] = freed{before, by}
	return d.write(claim)
}

// showOnTheirWay shows claims as they were while the API server was told what they are now: those of the pod, if other pods
// got them their devices, or use them, and all that have lost theirs. It says whether there are any; giveBack shows them as they are.
func (d *devices) showOnTheirWay(pod *corev1.Pod) (shown bool, giveBack func() error, err error) {
	var undo []func() error
	giveBack = func() error {
		for _, f := range undo {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range deviceClaimsOf(pod) {
		claim := d.allocated[name]
		if before := d.reserved[name]; claim == nil && before != nil {
			now, err := d.tracker.Get(before.Namespace, before.Name)
			if err == nil && now.Status.Allocation != nil {
				undo = append(undo, func() error { return d.write(now) })
				err = d.write(before)
			}
			if err != nil {
				return false, giveBack, err
			}
			continue
		}
		if claim == nil {
			continue
		}
		before := claim.DeepCopy()
		before.Status = resourcev1.ResourceClaimStatus{}
		if err := d.write(before); err != nil {
			return false, giveBack, err
		}
		undo = append(undo, func() error {
			d.tracker.MaybeRemoveClaimPendingAllocation(claim.UID, true)
			d.allocated[name] = claim
			return d.write(claim)
		})
		if err := d.tracker.SignalClaimPendingAllocation(claim.UID, claim); err != nil {
			return false, giveBack, err
		}
	}
	freed, err := d.showFreed()
	undo = append(undo, freed...)
	return len(undo) > 0, giveBack, err
}

// showFreed shows claims that have lost their devices as they were before. It says how to show each as it is.
func (d *devices) showFreed() (undo []func() error, err error) {
	for _, f := range d.freed {
		now, err := d.tracker.Get(f.before.Namespace, f.before.Name)
		if err != nil || !d.isFree(now) {
			continue
		}
		if err := d.write(f.before); err != nil {
			return undo, err
		}
		undo = append(undo, func() error { return d.write(now) })
	}
	return undo, nil
}

// getsOthersEarlier says whether the pod would get other devices on the node before it is heard of what claims have lost.
// The verdict is that of afterwards.
func (s *State) getsOthersEarlier(pod *corev1.Pod, node string, after *Verdict) (bool, error) {
	if len(after.Nodes[node].Claims) == 0 {
		return false, nil
	}
	undo, err := s.devices.showFreed()
	if err != nil {
		return false, err
	}
	others := false
	if len(undo) > 0 {
		before := s.judge(pod, nominatedFirst).Nodes[node].Claims
		others = len(before) > 0 && !reflect.DeepEqual(before, after.Nodes[node].Claims)
	}
	for _, f := range undo {
		if err := f(); err != nil {
			return false, err
		}
	}
	return others, nil
}

// isFree says that the claim neither has devices nor gets some.
func (d *devices) isFree(claim *resourcev1.ResourceClaim) bool {
	return claim.Status.Allocation == nil && d.tracker.GetPendingAllocation(claim.UID) == nil
}

// mostWrites is how often upstream tries to write a claim that others write at the same time.
const mostWrites = 5

// mayFailToBind says that PreBind of the pod may fail: many others write one of its claims at the same time, or another pod
// gave it up, and the pod is decided for before this is heard of.
func (d *devices) mayFailToBind(pod *corev1.Pod) bool {
	return slices.ContainsFunc(deviceClaimsOf(pod), func(name string) bool {
		if d.reservations[name] >= mostWrites {
			return true
		}
		f, was := d.freed[name]
		if !was || f.by == Name(pod) {
			return false
		}
		now, err := d.tracker.Get(f.before.Namespace, f.before.Name)
		return err == nil && d.isFree(now)
	})
}

// mayGiveUp says whether the pod, which fits nowhere, may give up a claim of others: those that reserved it since the beginning
// do not count where the pod is decided for before this is heard of.
func (d *devices) mayGiveUp(pod *corev1.Pod) bool {
	return slices.ContainsFunc(deviceClaimsOf(pod), func(name string) bool {
		before := d.reserved[name]
		return before != nil && len(before.Status.ReservedFor) <= 1
	})
}

// exchanges says whether upstream, where it reserves for the pod, gives devices that it has found for one of its claims to
// another: those that are on their way for a claim are the last ones in its books wherever the claim comes.
func (d *devices) exchanges(pod *corev1.Pod) bool {
	onTheirWay := false
	for _, name := range deviceClaimsOf(pod) {
		namespace, name, _ := strings.Cut(name, "/")
		claim, err := d.tracker.Get(namespace, name)
		switch {
		case err != nil || claim.Status.Allocation != nil:
		case d.tracker.GetPendingAllocation(claim.UID) != nil:
			onTheirWay = true
		case onTheirWay:
			return true
		}
	}
	return onTheirWay && asksForExtendedResources(pod) // The claim for these is the last one.
}

func asksForExtendedResources(pod *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(container corev1.Container) bool {
		for name := range container.Resources.Requests {
			if schedutil.IsDRAExtendedResourceName(name) {
				return true
			}
		}
		return false
	})
}
