// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "berth/in_tree/node_metrics.h"
#include "berth/result.h"
#include "src/base/string_map.h"

// What is read in the answers of those who measure. An error names the field; what has been read
// before it is of no use then. A node that stands there twice counts as what is said last, and
// numbers that are not finite are passed over. `body` may be changed and its room grow.
//
// Thread safety: any thread.
namespace berth::node_metrics {

// How long an answer may be, and how many nodes it may name: a frame of a recording holds them.
inline constexpr size_t kMostAnswerBytes = size_t{64} << 20;
inline constexpr size_t kMostNodes = 50'000;

using NodesByName = base::StringMap<NodeMetrics>;

// A NodeMetricsList of metrics.k8s.io/v1beta1: milli-CPU and bytes.
Result<void> ReadMetricsServer(std::string& body, NodesByName& nodes);

// What one query of Prometheus is about.
struct PrometheusQuery {
  const char* function;  // over 15 minutes
  const char* series;
  MeasuredResource NodeMetrics::* resource;
  bool is_deviation;

  // As the parameter of a URL.
  std::string Parameter() const;
};
// load-watcher's, as far as a plugin reads what they bring.
inline constexpr PrometheusQuery kPrometheusQueries[] = {
    {"avg_over_time", "instance:node_cpu:ratio", &NodeMetrics::cpu, false},
    {"avg_over_time", "instance:node_memory_utilisation:ratio", &NodeMetrics::memory, false},
    {"stddev_over_time", "instance:node_cpu:ratio", &NodeMetrics::cpu, true},
    {"stddev_over_time", "instance:node_memory_utilisation:ratio", &NodeMetrics::memory, true},
};
// Adds what the query brought, in percent, to what others have. The label `instance` is the node.
Result<void> ReadPrometheus(std::string& body, const PrometheusQuery& query, NodesByName& nodes);

// What GET /watcher of a load-watcher says, and when what it measured ends.
Result<void> ReadLoadWatcher(std::string& body, int64_t& window_end, NodesByName& nodes);

}  // namespace berth::node_metrics
