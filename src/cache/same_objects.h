// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/node.h"
#include "berth/pod_info.h"

namespace berth::cache {

// Whether two versions of a pod, placed on the same node, are alike to whoever looks at the pods
// on a node: metadata but resourceVersion and generation, spec but nodeName, and what the pod
// takes. What the status says besides does not count.
bool SamePlacedPod(const PodInfo& a, const PodInfo& b);

// Whether two versions of a node differ in resourceVersion and generation at most.
bool SameNode(const api::Node& a, const api::Node& b);

}  // namespace berth::cache
