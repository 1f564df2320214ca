// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/mutex.h"
#include "src/metrics/metric_table.h"

namespace berth::metrics {

// One metric with one set of label values; an index, dense from 0. Value-initialised it means none.
struct SeriesId {
  uint32_t index = UINT32_MAX;
  friend bool operator==(SeriesId, SeriesId) = default;
};

// In the order of MetricSpec::labels, as many as there are.
using LabelValues = std::span<const std::string_view>;

// The values of one series. `buckets` counts observations at or below each bound and, last, above
// all of them; it is empty for other types, as `sum` is 0.
struct SeriesValue {
  double value = 0;  // of a counter or gauge
  double sum = 0;
  std::vector<uint64_t> buckets;
};

// The bucket that `value` falls into: the first whose bound is not below it, or the one past all.
size_t BucketOf(std::span<const double> bounds, double value);

// What all threads have counted.
//
// Thread safety: any thread; each call takes one lock. The scheduling thread counts in its
// LocalMetrics instead.
class Registry {
 public:
  // Metrics without labels are there from the start, at zero.
  Registry();

  // The series, made at zero if it is new. The wrong number of label values is a bug.
  SeriesId Intern(Metric metric, LabelValues labels);
  SeriesId Intern(Metric metric, std::initializer_list<std::string_view> labels = {}) {
    return Intern(metric, LabelValues(labels.begin(), labels.size()));
  }

  // Counters and gauges.
  void Add(SeriesId series, double by = 1);
  // Gauges.
  void Set(SeriesId series, double value);
  // Histograms; durations are in seconds.
  void Observe(SeriesId series, double value);

  // Merges counts made elsewhere: adds a counter or histogram, sets a gauge. One lock for all.
  struct Change {
    SeriesId series;
    const SeriesValue* value = nullptr;
  };
  void Merge(std::span<const Change> changes);

  SeriesValue Read(SeriesId series) const;
  // The Prometheus text format, sorted by name and label values.
  std::string Exposition() const;

 private:
  struct Series {
    Metric metric;
    std::vector<std::string> labels;
    SeriesValue value;
  };

  mutable base::Mutex mutex_;
  std::vector<Series> series_ BERTH_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint32_t> index_ BERTH_GUARDED_BY(mutex_);
};

}  // namespace berth::metrics
