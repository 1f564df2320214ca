// SPDX-License-Identifier: Apache-2.0
// What kube-scheduler had once and profiles may still name, as a library that goes with Berth. It
// sees what any loadable plugin sees, the C interface alone.
#include "berth/loadable/plugin.hpp"
#include "plugins/legacy/disk_limits.h"
#include "plugins/legacy/node_label.h"
#include "plugins/legacy/node_prefer_avoid_pods.h"
#include "plugins/legacy/resource_scores.h"
#include "plugins/legacy/selector_spread.h"
#include "plugins/legacy/service_affinity.h"

namespace berth::legacy {
namespace {

PluginOptions Reads(uint32_t pod_parts, uint32_t reach) {
  return {.declares_inputs = true, .pod_parts = pod_parts, .reach = reach};
}

// The claims are the pod's own.
const PluginOptions kDiskLimits = {.each_pod = true};

const PluginOptions kResourceScore =
    Reads(BERTH_READS_POD_REQUESTS, BERTH_REACH_NODE | BERTH_REACH_USAGE);

const PluginOptions kSelectorSpread =
    Reads(BERTH_READS_POD_TOPOLOGY_SPREAD | BERTH_READS_POD_NAMESPACE |
              BERTH_READS_POD_SELECTED_LABELS | BERTH_READS_POD_OWNER,
          BERTH_REACH_USAGE | BERTH_REACH_OTHER_OBJECTS);

// What any pod alike may stand on decides for all rows.
PluginOptions OfServiceAffinity() {
  PluginOptions options =
      Reads(BERTH_READS_POD_NODE_AFFINITY | BERTH_READS_POD_NAMESPACE | BERTH_READS_POD_LABELS,
            BERTH_REACH_NODE | BERTH_REACH_CLUSTER | BERTH_REACH_OTHER_OBJECTS);
  options.filter_without_pre_filter = ServiceAffinity::kFilterWithoutPreFilter;
  return options;
}

}  // namespace
}  // namespace berth::legacy

using namespace berth::legacy;

BERTH_PLUGINS("1.0", berth::Define<AzureDiskLimits>("AzureDiskLimits", kDiskLimits),
              berth::Define<CinderLimits>("CinderLimits", kDiskLimits),
              berth::Define<EBSLimits>("EBSLimits", kDiskLimits),
              berth::Define<GCEPDLimits>("GCEPDLimits", kDiskLimits),
              berth::Define<NodeLabel>("NodeLabel", Reads(0, BERTH_REACH_NODE)),
              berth::Define<NodePreferAvoidPods>("NodePreferAvoidPods",
                                                 Reads(BERTH_READS_POD_OWNER, BERTH_REACH_NODE)),
              berth::Define<NodeResourcesLeastAllocated>("NodeResourcesLeastAllocated",
                                                         kResourceScore),
              berth::Define<NodeResourcesMostAllocated>("NodeResourcesMostAllocated",
                                                        kResourceScore),
              berth::Define<RequestedToCapacityRatio>("RequestedToCapacityRatio", kResourceScore),
              berth::Define<SelectorSpread>("SelectorSpread", kSelectorSpread),
              berth::Define<ServiceAffinity>("ServiceAffinity", OfServiceAffinity()))
