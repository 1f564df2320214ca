// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/native_buckets.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::metrics {
namespace {

// Powers of two divided by 8, to the digit that Prometheus' library for Go rounds them to: what
// lies on a bound belongs to the same bucket here.
constexpr double kBounds[] = {0.5,
                              0.5452538663326288,
                              0.5946035575013605,
                              0.6484197773255048,
                              0.7071067811865475,
                              0.7711054127039704,
                              0.8408964152537144,
                              0.9170040432046711};
constexpr int kBoundsInTwo = 8;
// The largest numbers are in 1024 * 8, infinity in a bucket of its own.
constexpr int kIndexOfInfinity = 1024 * kBoundsInTwo + 1;

// At kSchema.
int IndexOf(double magnitude) {
  if (std::isinf(magnitude)) return kIndexOfInfinity;
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);
  int below = 0;
  for (const double bound : kBounds) below += bound < fraction ? 1 : 0;
  return (exponent - 1) * kBoundsInTwo + below;
}

// After `steps` times of making one bucket of two: index / 2^steps, rounded up.
int Widened(int index, int steps) { return (index + (1 << steps) - 1) >> steps; }

}  // namespace

size_t BucketOf(std::span<const double> bounds, double value) {
  // Where most of what is measured falls.
  if (!bounds.empty() && value <= bounds.front()) return 0;
  const auto holds = [value](double bound) { return !(value <= bound); };
  return static_cast<size_t>(std::partition_point(bounds.begin(), bounds.end(), holds) -
                             bounds.begin());
}

uint64_t& NativeBuckets::Window::At(int index) {
  if (counts.empty()) first = index;
  if (index < first) {
    counts.insert(counts.begin(), static_cast<size_t>(first - index), 0);
    first = index;
  }
  const auto at = static_cast<size_t>(index - first);
  if (at >= counts.size()) counts.resize(at + 1);
  return counts[at];
}

void NativeBuckets::Bump(Window& window, int index, uint64_t by) {
  uint64_t& count = window.At(index);
  if (count == 0) ++populated_;
  count += by;
}

void NativeBuckets::Observe(double value) {
  if (std::isnan(value)) return;
  const double magnitude = std::abs(value);
  if (magnitude <= kZeroThreshold) {
    ++zero_count_;
    return;
  }
  Bump(value > 0 ? positive_ : negative_, Widened(IndexOf(magnitude), kSchema - schema_), 1);
  Limit();
}

void NativeBuckets::AddWindow(const Window& from, int steps, Window& to) {
  for (size_t i = 0; i < from.counts.size(); ++i) {
    if (from.counts[i] == 0) continue;
    Bump(to, Widened(from.first + static_cast<int>(i), steps), from.counts[i]);
  }
}

void NativeBuckets::Add(const NativeBuckets& other) {
  while (schema_ > other.schema_) Halve();
  zero_count_ += other.zero_count_;
  AddWindow(other.positive_, other.schema_ - schema_, positive_);
  AddWindow(other.negative_, other.schema_ - schema_, negative_);
  Limit();
}

void NativeBuckets::Halve() {
  --schema_;
  populated_ = 0;
  for (Window* window : {&positive_, &negative_}) {
    const Window narrow = std::exchange(*window, {});
    AddWindow(narrow, 1, *window);
  }
}

void NativeBuckets::Clear() {
  // The windows of wider buckets are at other places.
  if (schema_ != kSchema) {
    *this = NativeBuckets();
    return;
  }
  zero_count_ = 0;
  populated_ = 0;
  for (Window* window : {&positive_, &negative_}) std::ranges::fill(window->counts, 0);
}

}  // namespace berth::metrics
