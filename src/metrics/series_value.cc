// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/series_value.h"

#include <algorithm>

namespace berth::metrics {

size_t BucketOf(std::span<const double> bounds, double value) {
  // Where most of what is measured falls.
  if (!bounds.empty() && value <= bounds.front()) return 0;
  const auto holds = [value](double bound) { return !(value <= bound); };
  return static_cast<size_t>(std::partition_point(bounds.begin(), bounds.end(), holds) -
                             bounds.begin());
}

}  // namespace berth::metrics
