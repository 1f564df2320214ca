// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	"k8s.io/dynamic-resource-allocation/structured"
)

// allocate does what Reserve and PreBind do. What extended resources get stays on its way for ever, and so is taken.
func (c *cycle) allocate(node string) error {
	if status := c.RunReservePluginsReserve(c.ctx, c.state, c.pod, node); !status.IsSuccess() {
		return status.AsError()
	}
	for _, claim := range c.deviceClaims() {
		claim := claim.DeepCopy()
		if pending := c.devices.tracker.GetPendingAllocation(claim.UID); pending != nil {
			claim.Status.Allocation = pending
			claim.Finalizers = []string{resourcev1.Finalizer}
			c.devices.allocated[Name(claim)] = claim
			c.devices.tracker.MaybeRemoveClaimPendingAllocation(claim.UID, true)
		}
		if !resourceclaim.IsReservedForPod(c.pod, claim, false) {
			if c.devices.reserved[Name(claim)] == nil {
				c.devices.reserved[Name(claim)] = claim.DeepCopy()
			}
			claim.Status.ReservedFor = append(claim.Status.ReservedFor,
				resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: c.pod.Name, UID: c.pod.UID})
		}
		if err := c.devices.write(claim); err != nil {
			return err
		}
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
	err = waitFor(informersLimit, func() bool {
		now, err := d.tracker.Get(claim.Namespace, claim.Name)
		return err == nil && now.ResourceVersion == claim.ResourceVersion
	})
	if err == nil {
		// It follows at once; what is on its way to other claims is not known here.
		_ = waitFor(20*time.Millisecond, func() bool { return d.all(with.Status.Allocation, taken, others) })
	}
	return err
}

// takenByOthers are the devices that other claims have.
func (d *devices) takenByOthers(claim *resourcev1.ResourceClaim) (map[structured.DeviceID]bool, error) {
	claims, err := d.tracker.List()
	if err != nil {
		return nil, err
	}
	taken := map[structured.DeviceID]bool{}
	for _, other := range claims {
		if other.UID == claim.UID || other.Status.Allocation == nil {
			continue
		}
		for _, result := range other.Status.Allocation.Devices.Results {
			taken[structured.MakeDeviceID(result.Driver, result.Pool, result.Device)] = true
		}
	}
	return taken, nil
}

// all says whether all devices of the allocation are taken, or all are free, but for those that others have. Those of
// administrators are either.
func (d *devices) all(allocation *resourcev1.AllocationResult, taken bool, others map[structured.DeviceID]bool) bool {
	state, err := d.tracker.GatherAllocatedState()
	if err != nil || allocation == nil {
		return err == nil
	}
	return !slices.ContainsFunc(allocation.Devices.Results, func(result resourcev1.DeviceRequestAllocationResult) bool {
		if result.AdminAccess != nil && *result.AdminAccess {
			return false
		}
		id := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
		if others[id] && !taken {
			return false
		}
		if result.ShareID != nil {
			return state.AllocatedSharedDeviceIDs.Has(structured.MakeSharedDeviceID(id, result.ShareID)) != taken
		}
		return state.AllocatedDevices.Has(id) != taken
	})
}

// free takes the claim's devices, as PostFilter asks for.
func (d *devices) free(claim *resourcev1.ResourceClaim) error {
	before, err := d.tracker.Get(claim.Namespace, claim.Name)
	if err != nil {
		return err
	}
	d.freed[Name(claim)] = before
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
	for _, before := range d.freed {
		now, err := d.tracker.Get(before.Namespace, before.Name)
		if err != nil || now.Status.Allocation != nil || d.tracker.GetPendingAllocation(before.UID) != nil {
			continue // It has devices again, or gets some.
		}
		if err := d.write(before); err != nil {
			return false, giveBack, err
		}
		undo = append(undo, func() error { return d.write(now) })
	}
	return len(undo) > 0, giveBack, nil
}
