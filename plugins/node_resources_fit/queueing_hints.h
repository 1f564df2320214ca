// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/cluster_event.h"
#include "berth/resources.h"
#include "plugins/shared/extended_resource_classes.h"

// Which events may make room for a pod that NodeResourcesFit rejected.
namespace berth::plugins {

struct FitHintOptions {
  // How the incoming pod's requests are added up.
  PodRequestsOptions pod;
  // How requests are added up when pods are compared over time.
  PodRequestsOptions placed_pod;
};

// `classes` must outlive the hints.
std::vector<ClusterEventWithHint> FitEvents(const ExtendedResourceClasses& classes,
                                            const FitHintOptions& options);

}  // namespace berth::plugins
