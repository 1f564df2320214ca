// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "berth/result.h"
#include "src/app/flags/flags.h"
#include "src/config/feature_gates.h"
#include "src/informers/informers.h"
#include "src/metrics/registry.h"

namespace berth::app {

// The registry that the metrics flags ask for. Errors: --allow-metric-labels-manifest cannot be
// read, holds something else than "metric,label" and values, or is named along with
// --allow-metric-labels.
Result<metrics::RegistryOptions> ReadMetricsFlags(const MetricsFlags& flags);

// The metrics that these gates leave out, as kube-scheduler does. `pod_groups`: there are pod
// groups, by a gate or by a plugin.
std::set<metrics::Metric> MetricsOfGatesOff(const config::FeatureGates& gates, bool pod_groups);

// Sets what does not change while the process runs: versions and feature gates.
void DescribeBuild(metrics::Registry& registry, const config::FeatureGates& gates,
                   int min_compatibility_minor);

// Before each exposition: reads the process, and asks the informers for their counts. These belong
// to the executor's thread, so an exposition shows them as they were at the one before. Both
// `executor` and `informers` outlive the registry's last exposition.
void ReadBeforeExposition(metrics::Registry& registry, base::Executor& executor,
                          const informers::Informers& informers);

}  // namespace berth::app
