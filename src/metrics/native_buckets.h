// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::metrics {

// The buckets of a Prometheus native histogram, as Kubernetes 1.37 sets it up: each power of two is
// divided into 2^schema buckets, whose index is that of their upper bound 2^(index / 2^schema). At
// schema 3 each is at most 1.1 times as wide as the one before. Where more than 160 have
// something in them, each two become one.
//
// The counts stand in a window of consecutive indexes, 8 bytes each: some 300 from a microsecond to
// a day, 9,218 for all numbers there are.
//
// Thread safety: one owner.
class NativeBuckets {
 public:
  static constexpr int kSchema = 3;
  static constexpr int kLowestSchema = -4;
  static constexpr size_t kMaxPopulated = 160;
  // What is nearer to zero counts as zero.
  static constexpr double kZeroThreshold = 0x1p-128;

  // Consecutive buckets: counts[i] is that of index first + i.
  struct Window {
    int first = 0;
    std::vector<uint64_t> counts;

    uint64_t& At(int index);
  };

  // NaN is in no bucket.
  void Observe(double value);
  // Takes over what `other` counted.
  void Add(const NativeBuckets& other);
  // Back to nothing; keeps memory.
  void Clear();

  int schema() const { return schema_; }
  uint64_t zero_count() const { return zero_count_; }
  const Window& positive() const { return positive_; }
  // By the values without their sign.
  const Window& negative() const { return negative_; }

 private:
  void Bump(Window& window, int index, uint64_t by);
  void AddWindow(const Window& from, int steps, Window& to);
  // Each two buckets become one, until there are not too many.
  void Limit() {
    while (populated_ > kMaxPopulated && schema_ > kLowestSchema) Halve();
  }
  void Halve();

  int schema_ = kSchema;
  uint64_t zero_count_ = 0;
  size_t populated_ = 0;  // buckets that are not empty
  Window positive_;
  Window negative_;
};

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
