// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/pod_info.h"

namespace berth::cache {

// Whether two versions of a pod, placed on the same node, are alike to a plugin that looks at the
// pods on a node: metadata but resourceVersion and generation, spec but nodeName, and what the pod
// takes. What the status says besides does not count.
bool SamePlacedPod(const PodInfo& a, const PodInfo& b);

// Whether two versions of an object are alike in all that Listers' generations count. Of nodes:
// whether they differ in resourceVersion and generation at most.
template <typename T>
bool SameObject(const T& a, const T& b);

}  // namespace berth::cache
