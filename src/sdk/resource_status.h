// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "berth/api/pod.h"

namespace berth {

// Whether the status may have a say in what the pod takes (PodRequestsOptions::use_status). Where
// it has none, as with most pods whose containers run, the spec alone counts.
inline bool StatusTellsResources(const api::Pod& pod) {
  const auto tells = [](const std::vector<api::ContainerStatus>& statuses) {
    return std::ranges::any_of(statuses, [](const api::ContainerStatus& status) {
      return status.resources.has_value() || !status.allocated_resources.empty();
    });
  };
  const api::PodStatus& status = pod.status;
  return tells(status.container_statuses) || tells(status.init_container_statuses) ||
         status.resources.has_value() || !status.allocated_resources.empty() ||
         !status.node_allocatable_resource_claim_statuses.empty() ||
         std::ranges::any_of(status.conditions, [](const api::PodCondition& condition) {
           return condition.type == "PodResizePending";
         });
}

}  // namespace berth
