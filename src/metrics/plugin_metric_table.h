// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/plugin_metrics.h"
#include "berth/time.h"
#include "src/base/mutex.h"
#include "src/metrics/exposition.h"

namespace berth::metrics {

// "PreferredNodeLabel" as "preferred_node_label", for names of metrics.
std::string SnakeCase(std::string_view name);

// What plugins count in metrics of their own.
//
// Thread safety: any thread; one lock.
class PluginMetricTable final : public PluginMetrics {
 public:
  // As RegistryOptions has them.
  explicit PluginMetricTable(bool native_histograms = true, const Clock* clock = nullptr)
      : native_histograms_(native_histograms), clock_(clock) {}

  Result<Id> Define(std::string_view plugin, PluginMetricSpec spec) override;
  void Add(Id metric, Labels labels, double by) override;
  void Set(Id metric, Labels labels, double value) override;
  void Observe(Id metric, Labels labels, double value) override;

  // Of the metric with that full name; of a histogram, the sum. 0 when it is not there.
  double Value(std::string_view name, const std::vector<std::string>& labels) const;

  // A copy of all metrics, by name; those without labels are there from the start, at zero.
  void AppendTo(std::vector<Family>& families) const;

 private:
  struct Cell {
    SeriesValue value;
    std::optional<Time> created;
  };
  struct Defined {
    PluginMetricSpec spec;  // with the full name
    std::map<std::vector<std::string>, Cell> cells;
  };
  Cell& CellOf(Defined& metric, std::vector<std::string> labels) BERTH_REQUIRES(mutex_);
  // nullptr when the metric is of another type or has another number of labels.
  Cell* Find(Id metric, Labels labels, PluginMetricSpec::Type type) BERTH_REQUIRES(mutex_);

  const bool native_histograms_;
  const Clock* const clock_;
  mutable base::Mutex mutex_;
  std::vector<Defined> defined_ BERTH_GUARDED_BY(mutex_);
};

}  // namespace berth::metrics
