// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/cluster_event.h"
#include "plugins/inter_pod_affinity/terms.h"

// Which events may help a pod that InterPodAffinity rejected.
namespace berth::plugins {

// Namespace selectors see the labels that namespaces have now. (kube-scheduler's hints see none, so
// there a pod whose terms select namespaces by label waits for the flush after five minutes.)
// `resolver` must outlive the hints.
std::vector<ClusterEventWithHint> InterPodAffinityEvents(const TermResolver& resolver);

}  // namespace berth::plugins
