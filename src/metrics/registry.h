// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/time.h"
#include "src/base/mutex.h"
#include "src/metrics/exposition.h"
#include "src/metrics/metric_table.h"
#include "src/metrics/native_buckets.h"
#include "src/metrics/plugin_metric_table.h"

namespace berth::metrics {

// One metric with one set of label values; an index, dense from 0. Value-initialised it means none.
struct SeriesId {
  uint32_t index = UINT32_MAX;
  friend bool operator==(SeriesId, SeriesId) = default;
};

// In the order of MetricSpec::labels, as many as there are.
using LabelValues = std::span<const std::string_view>;

// What flags and feature gates ask for.
struct RegistryOptions {
  // --show-hidden-metrics-for-version: also those that a deprecation hides.
  bool show_hidden = false;
  // --disabled-metrics: full names that are not shown, come what may.
  std::set<std::string, std::less<>> disabled{};
  // What the feature gates leave out: not shown, nor counted among those that there are.
  std::set<Metric> absent{};
  // --allow-metric-labels: the values that a label may have, by metric and label; others count as
  // "unexpected".
  using Label = std::pair<std::string, std::string>;
  std::map<Label, std::set<std::string, std::less<>>> allowed_values{};
  // The gate NativeHistograms: histograms have native buckets besides the classic ones.
  bool native_histograms = true;
  // For the times since when something counts; outlives the registry. nullptr: there are none.
  const Clock* clock = nullptr;
};

// What all threads have counted.
//
// Thread safety: any thread; each call takes one lock. The scheduling thread counts in its
// LocalMetrics instead.
class Registry {
 public:
  // Metrics without labels are there from the start, at zero, unless they are absent.
  explicit Registry(RegistryOptions options = {});

  // The series, made at zero if it is new. The wrong number of label values is a bug.
  SeriesId Intern(Metric metric, LabelValues labels);
  SeriesId Intern(Metric metric, std::initializer_list<std::string_view> labels = {}) {
    return Intern(metric, LabelValues(labels.begin(), labels.size()));
  }

  // Counters and gauges.
  void Add(SeriesId series, double by = 1);
  // Gauges, and counters that are kept elsewhere.
  void Set(SeriesId series, double value);
  // Histograms; durations are in seconds.
  void Observe(SeriesId series, double value);

  // Merges counts made elsewhere: adds a counter or histogram, sets a gauge. One lock for all.
  struct Change {
    SeriesId series;
    const SeriesValue* value = nullptr;
  };
  void Merge(std::span<const Change> changes);

  // A gauge whose series come and go: from now on it has these and no others. A gauge is set either
  // in this way or by its series.
  struct Sample {
    std::vector<std::string> labels;  // the values, in the order of MetricSpec::labels
    double value = 0;
  };
  void Replace(Metric gauge, std::vector<Sample> samples);

  // What plugins define themselves; it has a lock of its own.
  PluginMetricTable& plugin_metrics() { return plugin_metrics_; }

  SeriesValue Read(SeriesId series) const;

  // `refresh` runs before each exposition, on its thread: for what is read rather than counted.
  // What it uses must outlive the registry's last exposition.
  void BeforeExposition(std::function<void(Registry&)> refresh);
  // A page, sorted by name and label values.
  std::string Exposition(Page page = Page::kMetrics, Format format = Format::kText);
  // Sets the page's counters and histograms back to zero.
  void Reset(Page page);
  // Whether flags and gates let the metric be seen.
  bool Shows(Metric metric) const;
  // Whether its series are to fill SeriesValue::native.
  bool IsNative(const MetricSpec& spec) const {
    return spec.type == MetricType::kHistogram && !spec.classic_alone && options_.native_histograms;
  }

 private:
  struct Series {
    Metric metric;
    std::vector<std::string> labels;
    SeriesValue value;
    std::optional<Time> created;
    size_t unexpected = 0;  // of its label values, those that stand for others
  };

  std::optional<Time> WallNow() const;
  // All families of a page but those of plugins, by name.
  std::vector<Family> Gather(Page page) const;
  // Puts "unexpected" for the values that the flags do not allow; returns for how many.
  size_t ReplaceUnexpected(const MetricSpec& spec, std::span<std::string_view> labels) const;
  void CountUnexpected(size_t values, double times = 1) BERTH_REQUIRES(mutex_);
  SeriesId InternLocked(Metric metric, LabelValues labels) BERTH_REQUIRES(mutex_);
  void CountTable();

  const RegistryOptions options_;
  mutable base::Mutex mutex_;
  std::vector<Series> series_ BERTH_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint32_t> index_ BERTH_GUARDED_BY(mutex_);
  std::string key_ BERTH_GUARDED_BY(mutex_);  // of the series looked up last; kept for its memory
  std::map<Metric, std::vector<Sample>> replaced_ BERTH_GUARDED_BY(mutex_);
  std::vector<std::function<void(Registry&)>> refreshes_ BERTH_GUARDED_BY(mutex_);
  PluginMetricTable plugin_metrics_;
};

}  // namespace berth::metrics
