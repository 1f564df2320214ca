// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/plugin_metrics.h"
#include "src/base/mutex.h"

namespace prometheus {
struct MetricFamily;
}

namespace berth::metrics {

// "PreferredNodeLabel" as "preferred_node_label", for names of metrics.
std::string SnakeCase(std::string_view name);

// What plugins count in metrics of their own.
//
// Thread safety: any thread; one lock.
class PluginMetricTable final : public PluginMetrics {
 public:
  Result<Id> Define(std::string_view plugin, PluginMetricSpec spec) override;
  void Add(Id metric, Labels labels, double by) override;
  void Set(Id metric, Labels labels, double value) override;
  void Observe(Id metric, Labels labels, double value) override;

  // Of the metric with that full name; of a histogram, the sum. 0 when it is not there.
  double Value(std::string_view name, const std::vector<std::string>& labels) const;

  // A copy of all metrics, by name; those without labels are there from the start, at zero.
  void AppendTo(std::vector<prometheus::MetricFamily>& families) const;

 private:
  struct Cell {
    double value = 0;  // of a histogram: the sum
    std::vector<uint64_t> buckets;
  };
  struct Family {
    PluginMetricSpec spec;  // with the full name
    std::map<std::vector<std::string>, Cell> cells;
  };
  // nullptr when the metric is of another type or has another number of labels.
  Cell* Find(Id metric, Labels labels, PluginMetricSpec::Type type) BERTH_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::vector<Family> families_ BERTH_GUARDED_BY(mutex_);
};

}  // namespace berth::metrics
