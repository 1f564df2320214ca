// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::plugins {

// How a load between 0 and 1 is distributed of which the mean and the standard deviation are known:
// as a beta distribution of this mean and deviation, or as the mean alone where it does not vary.
//
// Thread safety: immutable; any thread.
class LoadDistribution {
 public:
  // `mean` lies between 0 and 1. A deviation above 99% of the variance that any load of that mean
  // has counts as that.
  LoadDistribution(double mean, double deviation);

  // Whether the load varies.
  bool varies() const { return alpha_ > 0; }
  // The probability that the load is at most `share`; 1 for a load that is always 0.
  double AtMost(double share) const;

 private:
  double mean_;
  double deviation_;
  double alpha_ = 0;
  double beta_ = 0;
};

}  // namespace berth::plugins
