// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "berth/api/pod.h"

// What the devices of a pod's claims take of what its node has of cpu, memory, ephemeral storage
// and huge pages: pod.status.nodeAllocatableResourceClaimStatuses, behind the gate
// DRANodeAllocatableResources. PodRequests counts it with claim_status, PodInfo for placed pods.
namespace berth {

// Left in the pod's cycle by the Reserve of the plugin that gives it devices. The scheduler counts
// the pod on its node with them from then on. The plugin writes them in its PreBind; where the pod
// is not bound after all, the scheduler takes that back.
struct NodeAllocatableClaims {
  std::vector<api::NodeAllocatableResourceClaimStatus> statuses;
  // A request to write them has been sent.
  bool sent = false;
};

// Why the pod's pod-level resources do not cover the sum of its containers and claims, in
// kube-scheduler's words; "": they do, or it has none of them.
std::string PodLevelShortage(const api::Pod& pod);

}  // namespace berth
