// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "berth/api/pod.h"
#include "src/metrics/registry.h"

namespace berth::metrics {

// The page /metrics/resources: what each pod requests and may use at most, sorted by label values.
// Pods that have a node and have ended are left out. Made from the pods each time, since there are
// several series for each. Metrics that `registry` does not show are left out.
std::string PodResourcesExposition(std::span<const std::shared_ptr<const api::Pod>> pods,
                                   const Registry& registry, Format format = Format::kText);

}  // namespace berth::metrics
