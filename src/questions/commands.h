// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/explain/fix.h"
#include "src/simulator/memory_api.h"

namespace berth::questions {

// What the pod was made from, as far as the cluster tells: its kind, namespace and name; a pod
// without a controller was made from itself.
explain::Application MakerOf(const api::Pod& pod, const simulator::MemoryApi& objects);

// Sets how each change is made in the cluster that `objects` holds, of fixes for `pod`. A change of
// the pod is one of the template that it was made from, as far as the cluster tells: that of the
// Deployment behind its ReplicaSet, or of its other controller; of a pod without one, the pod
// itself. Patches of one fix are for use one after the other.
//
// Thread safety: any thread.
void SetApplications(const api::Pod& pod, const simulator::MemoryApi& objects,
                     explain::Fixes& fixes);

}  // namespace berth::questions
