// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/native_buckets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "berth/random.h"

namespace berth::metrics {
namespace {

using Counts = std::map<int, uint64_t>;

Counts CountsOf(const NativeBuckets::Window& window) {
  Counts counts;
  for (size_t i = 0; i < window.counts.size(); ++i) {
    if (window.counts[i] != 0) counts[window.first + static_cast<int>(i)] = window.counts[i];
  }
  return counts;
}

// The slow twin: keeps all values, and counts them by what the format defines.
class Twin {
 public:
  void Observe(double value) {
    if (std::isnan(value)) return;
    values_.push_back(value);
    while (schema_ > NativeBuckets::kLowestSchema &&
           Side(1).size() + Side(-1).size() > NativeBuckets::kMaxPopulated) {
      --schema_;
    }
  }
  int schema() const { return schema_; }
  uint64_t zero_count() const {
    uint64_t zeros = 0;
    for (const double value : values_) zeros += std::abs(value) <= 0x1p-128 ? 1 : 0;
    return zeros;
  }
  Counts Side(int sign) const {
    Counts counts;
    for (const double value : values_) {
      if (sign * value > 0x1p-128) ++counts[IndexOf(std::abs(value))];
    }
    return counts;
  }

 private:
  // The least index whose bound 2^(index / 2^schema) is not below the value.
  int IndexOf(double value) const {
    const double width = std::exp2(-schema_);  // in powers of two
    const double top = 1024 / width;
    if (std::isinf(value)) return static_cast<int>(std::ceil(top)) + 1;
    return static_cast<int>(std::ceil(std::log2(value) / width));
  }

  std::vector<double> values_;
  int schema_ = NativeBuckets::kSchema;
};

void ExpectSame(const NativeBuckets& buckets, const Twin& twin) {
  EXPECT_EQ(buckets.schema(), twin.schema());
  EXPECT_EQ(buckets.zero_count(), twin.zero_count());
  EXPECT_EQ(CountsOf(buckets.positive()), twin.Side(1));
  EXPECT_EQ(CountsOf(buckets.negative()), twin.Side(-1));
}

// Values over so many powers of two, seldom of both signs, sometimes at the edges.
double Draw(Random& random, double octaves) {
  switch (random.Below(40)) {
    case 0:
      return 0;
    case 1:
      return std::numeric_limits<double>::infinity();
    case 2:
      return std::numeric_limits<double>::quiet_NaN();
    case 3:
      return std::exp2(static_cast<double>(random.Below(64)) - 32);  // on a bound of each schema
    default: {
      const double uniform = static_cast<double>(random.Below(1'000'000)) / 1'000'000;
      const double value = std::exp2((uniform - 0.5) * octaves);
      return random.Below(8) == 0 ? -value : value;
    }
  }
}

TEST(NativeBucketsTest, CountsAsTheFormatDefines) {
  Random random(38);
  for (const double octaves : {1.0, 10.0, 40.0, 200.0}) {
    SCOPED_TRACE(octaves);
    NativeBuckets buckets;
    Twin twin;
    for (int i = 0; i < 1000; ++i) {
      const double value = Draw(random, octaves);
      buckets.Observe(value);
      twin.Observe(value);
    }
    ExpectSame(buckets, twin);
  }
}

TEST(NativeBucketsTest, WhatSeveralCountAddsUpToWhatOneCounts) {
  Random random(39);
  for (const double octaves : {1.0, 10.0, 40.0, 200.0}) {
    SCOPED_TRACE(octaves);
    NativeBuckets sum;
    NativeBuckets part;
    Twin twin;
    for (int i = 0; i < 1000; ++i) {
      const double value = Draw(random, octaves);
      part.Observe(value);
      twin.Observe(value);
      if (random.Below(50) != 0) continue;
      sum.Add(part);
      part.Clear();
    }
    sum.Add(part);
    ExpectSame(sum, twin);
  }
}

TEST(NativeBucketsTest, ClearedItIsAsNew) {
  NativeBuckets buckets;
  for (int i = -100; i < 100; ++i) buckets.Observe(std::exp2(i));
  EXPECT_LT(buckets.schema(), NativeBuckets::kSchema);
  buckets.Observe(0);
  buckets.Clear();
  ExpectSame(buckets, Twin());
  buckets.Observe(1);
  buckets.Clear();
  ExpectSame(buckets, Twin());
  buckets.Observe(3);
  EXPECT_EQ(CountsOf(buckets.positive()), (Counts{{13, 1}}));
}

TEST(NativeBucketsTest, ItsMemoryIsBoundedWhateverIsObserved) {
  NativeBuckets buckets;
  buckets.Observe(std::numeric_limits<double>::infinity());
  buckets.Observe(std::nextafter(0x1p-128, 1));
  buckets.Observe(-std::numeric_limits<double>::max());
  EXPECT_LE(buckets.positive().counts.size(), 9218u);
  EXPECT_EQ(buckets.negative().counts.size(), 1u);
}

}  // namespace
}  // namespace berth::metrics
