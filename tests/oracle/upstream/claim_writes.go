// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"slices"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// claimWrites carries out what upstream's own loop writes of claims, in PreBind and PodGroupPostFilter.
type claimWrites struct {
	devices *devices
	mutex   sync.Mutex
	// latest are the claims written, as the API server has them, by name.
	latest map[string]*resourcev1.ResourceClaim
	// gaveUp says that devices or a reservation were given up: when others hear of that is not said.
	gaveUp bool
}

// update has the claim written; its answer has the new version. Pods of a group that share a claim write it at the same time,
// each from what it was before. What the others wrote is kept, and so no pod fails as all but the first would at the API
// server: this is what Berth does instead.
func (w *claimWrites) update(claim *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	claim = claim.DeepCopy()
	latest := w.latest[Name(claim)]
	if latest == nil {
		w.devices.reservedSince(claim)
	} else if latest.Status.Allocation != nil {
		claim.Status.Allocation = latest.Status.Allocation.DeepCopy()
		claim.Status.ReservedFor = append(slices.Clone(latest.Status.ReservedFor), claim.Status.ReservedFor...)
	}
	claim.Status.ReservedFor = withoutRepeated(claim.Status.ReservedFor)
	w.devices.claims.Modify(claim)
	w.latest[Name(claim)] = claim
	return claim.DeepCopy()
}

// withoutRepeated has each consumer once, as the API server has it.
func withoutRepeated(consumers []resourcev1.ResourceClaimConsumerReference) []resourcev1.ResourceClaimConsumerReference {
	seen := sets.New[types.UID]()
	return slices.DeleteFunc(consumers, func(consumer resourcev1.ResourceClaimConsumerReference) bool {
		repeated := seen.Has(consumer.UID)
		seen.Insert(consumer.UID)
		return repeated
	})
}

// updateStatus is what PreBind does with devices, and PodGroupPostFilter without: of the latter upstream hears no more, and so
// not before the plugins that it asks next.
func (w *claimWrites) updateStatus(claim *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	if claim.Status.Allocation == nil {
		w.giveUp()
		return claim
	}
	return w.update(claim)
}

func (w *claimWrites) giveUp() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.gaveUp = true
}

// reservedSince notes how the claim is before it is reserved for the first time.
func (d *devices) reservedSince(claim *resourcev1.ResourceClaim) {
	before, err := d.tracker.Get(claim.Namespace, claim.Name)
	if err == nil && before.Status.Allocation != nil && d.reserved[Name(claim)] == nil {
		d.reserved[Name(claim)] = before
	}
}

// takeWrites has the claims carried out that upstream's own loop writes, until end is called. That says whether upstream gave
// something up. If not, and its writes are to be relied on, it returns when upstream knows what it has written.
func (d *devices) takeWrites() (end func(unreliable bool) (gaveUp bool, err error)) {
	written := &claimWrites{devices: d, latest: map[string]*resourcev1.ResourceClaim{}}
	d.written = written
	return func(unreliable bool) (bool, error) {
		d.written = nil
		if written.gaveUp || unreliable {
			return written.gaveUp, nil
		}
		return false, waitFor(informersLimit, func() bool {
			for _, claim := range written.latest {
				now, err := d.tracker.Get(claim.Namespace, claim.Name)
				if err != nil || now.ResourceVersion != claim.ResourceVersion || !d.all(claim.Status.Allocation, true, nil) {
					return false
				}
			}
			return true
		})
	}
}
