// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "berth/time.h"
#include "src/metrics/registry.h"

namespace berth::metrics {

inline double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// What one thread counts, in arrays of its own: no lock, no atomic. Publish() hands the counts on.
//
// Thread safety: one owner.
class LocalMetrics {
 public:
  // `registry` must outlive this.
  explicit LocalMetrics(Registry& registry) : registry_(registry) {}
  Registry& registry() { return registry_; }

  // Looks a series up; takes the registry's lock, so keep the answer.
  SeriesId Series(Metric metric, std::initializer_list<std::string_view> labels = {});

  // Counters and gauges. A gauge must have one writer in all.
  void Add(SeriesId series, double by = 1) { Touch(series).value.value += by; }
  void Set(SeriesId series, double value) { Touch(series).value.value = value; }
  void Observe(SeriesId series, double value);
  void Observe(SeriesId series, Duration duration) { Observe(series, Seconds(duration)); }

  // Merges what changed since the last call into the registry. Call it about once a second.
  void Publish();

 private:
  struct Cell {
    SeriesValue value;
    std::span<const double> bounds;  // of a histogram
    bool known = false;
    bool gauge = false;
    bool native = false;  // a histogram with native buckets
    bool changed = false;
  };
  Cell& Touch(SeriesId series) {
    Cell& cell = cells_[series.index];
    if (!cell.changed) {
      cell.changed = true;
      changed_.push_back(series);
    }
    return cell;
  }

  Registry& registry_;
  std::vector<Cell> cells_;        // by SeriesId::index
  std::vector<SeriesId> changed_;  // those with something to publish
};

}  // namespace berth::metrics
