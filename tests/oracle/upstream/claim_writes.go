// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"sync"

	resourcev1 "k8s.io/api/resource/v1"
	cachetesting "k8s.io/client-go/tools/cache/testing"
)

// claimWrites carries out what upstream's own loop writes of claims, in PreBind and PodGroupPostFilter.
type claimWrites struct {
	source *cachetesting.FakeControllerSource
	mutex  sync.Mutex
	// latest are the claims written, as the API server has them, by name.
	latest map[string]*resourcev1.ResourceClaim
	// gaveUp says that devices or a reservation were given up: when others hear of that is not said.
	gaveUp bool
}

// update has the claim written; its answer has the new version.
func (w *claimWrites) update(claim *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	claim = claim.DeepCopy()
	w.source.Modify(claim)
	w.latest[Name(claim)] = claim
	return claim.DeepCopy()
}

// updateStatus is what PreBind does with devices, and PodGroupPostFilter without.
func (w *claimWrites) updateStatus(claim *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	if claim.Status.Allocation == nil {
		w.giveUp()
	}
	return w.update(claim)
}

func (w *claimWrites) giveUp() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.gaveUp = true
}

// takeWrites has the claims carried out that upstream's own loop writes, until end is called. That returns when upstream knows
// what it has written, and says whether it gave something up.
func (d *devices) takeWrites() (end func() (gaveUp bool, err error)) {
	written := &claimWrites{source: d.claims, latest: map[string]*resourcev1.ResourceClaim{}}
	d.written = written
	return func() (bool, error) {
		d.written = nil
		if written.gaveUp {
			return true, nil
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
