// SPDX-License-Identifier: Apache-2.0
// What kube-scheduler had once and profiles may still name, as a library that goes with Berth. It
// sees what any loadable plugin sees, the C interface alone.
#include "plugins/legacy/library.h"

using namespace berth::legacy;

BERTH_PLUGINS("1.0", AzureDiskLimitsPlugin(), CinderLimitsPlugin(), EBSLimitsPlugin(),
              GCEPDLimitsPlugin(), NodeLabelPlugin(), NodePreferAvoidPodsPlugin(),
              NodeResourcesLeastAllocatedPlugin(), NodeResourcesMostAllocatedPlugin(),
              RequestedToCapacityRatioPlugin(), SelectorSpreadPlugin(), ServiceAffinityPlugin())
