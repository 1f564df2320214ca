// SPDX-License-Identifier: Apache-2.0
#include "plugins/low_risk_over_commitment/load_distribution.h"

#include <math.h>  // lgamma_r: std::lgamma writes to a global

#include <algorithm>
#include <cmath>
#include <numbers>

namespace berth::plugins {
namespace {

// The beta distribution needs a variance below mean * (1 - mean).
constexpr double kMostOfVariance = 0.99;
// From here on a normal distribution with the same skew is as good, and takes no longer.
constexpr double kNearlyNormal = 1e5;

double LogGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

// The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz' method. It
// converges for x < (a + 1) / (a + b + 2), in a number of steps that grows as the root of a + b.
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 1e-15;
  constexpr int kMostSteps = 2000;
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double numerator = 1;
  double denominator = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double fraction = denominator;
  for (int m = 1; m <= kMostSteps; ++m) {
    const double twice = a + 2 * m;
    const double even = m * (b - m) * x / ((twice - 1) * twice);
    denominator = 1 / not_zero(1 + even * denominator);
    numerator = not_zero(1 + even / numerator);
    fraction *= denominator * numerator;
    const double odd = -(a + m) * (a + b + m) * x / (twice * (twice + 1));
    denominator = 1 / not_zero(1 + odd * denominator);
    numerator = not_zero(1 + odd / numerator);
    const double factor = denominator * numerator;
    fraction *= factor;
    if (std::abs(factor - 1) < kEnough) break;
  }
  return fraction;
}

// I_x(a, b) for x between 0 and 1, both excluded.
double IncompleteBeta(double a, double b, double x) {
  const double front =
      std::exp(a * std::log(x) + b * std::log1p(-x) + LogGamma(a + b) - LogGamma(a) - LogGamma(b));
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, 1 - x) / b;
}

// The same by the normal distribution, with Edgeworth's term for the skew.
double NearlyNormal(double a, double b, double mean, double deviation, double x) {
  const double z = (x - mean) / deviation;
  const double skew = 2 * (b - a) * std::sqrt(a + b + 1) / ((a + b + 2) * std::sqrt(a * b));
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return std::erfc(-z / std::numbers::sqrt2) / 2 - skew / 6 * (z * z - 1) * density;
}

}  // namespace

LoadDistribution::LoadDistribution(double mean, double deviation)
    : mean_(mean), deviation_(std::min(deviation, std::sqrt(kMostOfVariance * mean * (1 - mean)))) {
  const double variance = deviation_ * deviation_;
  // A deviation that is lost beside the mean is none, also where its square is not 0 yet.
  if (!(variance > mean * mean * 1e-15)) return;
  const double size = mean * (1 - mean) / variance - 1;
  alpha_ = mean * size;
  beta_ = (1 - mean) * size;
}

double LoadDistribution::AtMost(double share) const {
  if (mean_ == 0) return 1;
  if (!varies()) return mean_ <= share ? 1 : 0;
  if (share <= 0) return 0;
  if (share >= 1) return 1;
  const double probability = alpha_ + beta_ > kNearlyNormal
                                 ? NearlyNormal(alpha_, beta_, mean_, deviation_, share)
                                 : IncompleteBeta(alpha_, beta_, share);
  return std::max(std::min(probability, 1.0), 0.0);
}

}  // namespace berth::plugins
