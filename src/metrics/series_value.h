// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/metrics/native_buckets.h"

namespace berth::metrics {

// The values of one series. `buckets` counts observations at or below each bound and, last, above
// all of them; it is empty for other types, as `sum` is 0 and `native` holds nothing.
struct SeriesValue {
  double value = 0;  // of a counter or gauge
  double sum = 0;
  std::vector<uint64_t> buckets{};
  NativeBuckets native{};  // where native histograms are on
};

// The bucket that `value` falls into: the first whose bound is not below it, or the one past all,
// where NaN is, too.
size_t BucketOf(std::span<const double> bounds, double value);

}  // namespace berth::metrics
