// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "berth/api/object.h"
#include "src/metrics/registry.h"
#include "src/serving/router.h"

namespace berth::app {

// What the pages of metrics tell about; the same holds as for EndpointSources.
struct MetricsSources {
  metrics::Registry& metrics;
  // Calls its argument with all pods, in any order; at most once, now or later, on any thread.
  std::function<void(std::function<void(std::vector<api::ObjectPtr>)>)> collect_pods;
  // Whether this process leads. The pods' page is empty otherwise, so that the sum over all
  // replicas is right.
  std::function<bool()> leading;
};

// /metrics, /metrics/slis and /metrics/resources, each as text and as protobuf (see
// MetricsFormatFor()), made on threads of their own and shared by those who ask (see
// serving::SharedPage): the first two on "berth-metrics", of ordinary priority, since they take the
// registry's lock, the third on "berth-pages", of the lowest. DELETE sets a page's counters back.
void InstallMetrics(serving::Router& router, const MetricsSources& sources);

}  // namespace berth::app
