// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "berth/api/object.h"
#include "src/metrics/exposition.h"
#include "src/metrics/registry.h"
#include "src/serving/http.h"
#include "src/serving/router.h"

namespace berth::app {

// How a page of metrics is to be written for a client, and what Content-Type says so.
struct MetricsFormat {
  metrics::Format format = metrics::Format::kText;
  std::string content_type;
};

// What kube-scheduler would choose by the Accept header: delimited protobuf or text, whichever the
// client prefers, and text where it asks for neither. Names of metrics need no escaping, so that
// each of the schemes that a client may ask for is met. Protobuf in its two spellings for people
// (encoding=text, compact-text) is not spoken.
//
// Thread safety: any thread.
MetricsFormat MetricsFormatFor(const serving::Request& request);

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
