// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth::inline in_tree {

// A metric that a plugin defines. The full name is berth_plugin_<plugin>_<name>.
struct PluginMetricSpec {
  enum class Type : uint8_t { kCounter, kGauge, kHistogram };

  Type type = Type::kCounter;
  std::string name;
  std::string help;
  std::vector<std::string> labels = {};
  // Upper bounds, ascending, without +Inf. Histograms only.
  std::vector<double> buckets = {};

  friend bool operator==(const PluginMetricSpec&, const PluginMetricSpec&) = default;
};

// The metrics that plugins define themselves, besides those that the scheduler counts for them.
//
// Thread safety: any thread; each call takes a lock.
class PluginMetrics {
 public:
  using Id = uint32_t;
  // In the order of the spec.
  using Labels = std::span<const std::string_view>;

  virtual ~PluginMetrics() = default;
  // Makes the metric; the same one again for the same name and spec, so that profiles share it.
  // Errors: a name or label that Prometheus does not take, a name with another spec.
  virtual Result<Id> Define(std::string_view plugin, PluginMetricSpec spec) = 0;
  // Counters and gauges; nothing happens with the wrong number of labels or type, here and below,
  // nor when a counter would fall.
  virtual void Add(Id metric, Labels labels, double by) = 0;
  // Gauges.
  virtual void Set(Id metric, Labels labels, double value) = 0;
  // Histograms.
  virtual void Observe(Id metric, Labels labels, double value) = 0;
};

}  // namespace berth::inline in_tree
