// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/local_metrics.h"

#include <algorithm>

namespace berth::metrics {

SeriesId LocalMetrics::Series(Metric metric, std::initializer_list<std::string_view> labels) {
  const SeriesId series = registry_.Intern(metric, labels);
  if (series.index >= cells_.size()) cells_.resize(series.index + 1);
  Cell& cell = cells_[series.index];
  if (!cell.known) {
    const MetricSpec& spec = SpecOf(metric);
    cell.known = true;
    cell.gauge = spec.type == MetricType::kGauge;
    if (spec.type == MetricType::kHistogram) {
      cell.bounds = spec.buckets;
      cell.value.buckets.resize(spec.buckets.size() + 1);
      cell.native = registry_.IsNative(spec);
    }
  }
  return series;
}

void LocalMetrics::Observe(SeriesId series, double value) {
  Cell& cell = Touch(series);
  cell.value.sum += value;
  ++cell.value.buckets[BucketOf(cell.bounds, value)];
  if (cell.native) cell.value.native.Observe(value);
}

void LocalMetrics::Publish() {
  std::vector<Registry::Change> changes;
  changes.reserve(changed_.size());
  for (const SeriesId series : changed_) {
    changes.push_back({series, &cells_[series.index].value});
  }
  registry_.Merge(changes);
  for (const SeriesId series : changed_) {
    Cell& cell = cells_[series.index];
    cell.changed = false;
    // A gauge goes on from its value, so that Add() works on it.
    if (cell.gauge) continue;
    cell.value.value = 0;
    cell.value.sum = 0;
    std::fill(cell.value.buckets.begin(), cell.value.buckets.end(), 0);
    cell.value.native.Clear();
  }
  changed_.clear();
}

}  // namespace berth::metrics
