// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "berth/random.h"
#include "berth/time.h"

namespace berth::base {

// How long to wait before the next try: each wait is `factor` times the one before up to `cap`,
// and is stretched by a random part of up to `jitter` of itself, so that clients do not march in
// step.
//
// Thread safety: one owner.
class Backoff {
 public:
  struct Shape {
    Duration first = std::chrono::milliseconds(800);
    double factor = 2;
    Duration cap = std::chrono::seconds(30);
    double jitter = 1;
  };

  explicit Backoff(Shape shape) : shape_(shape), next_(shape.first) {}

  Duration Next(Random& random) {
    const Duration wait = next_;
    const double grown = static_cast<double>(next_.count()) * shape_.factor;
    next_ = Duration(
        static_cast<Duration::rep>(std::min(grown, static_cast<double>(shape_.cap.count()))));
    const double stretch = 1 + shape_.jitter * random.Unit();
    return Duration(static_cast<Duration::rep>(static_cast<double>(wait.count()) * stretch));
  }
  // Begins anew, after a success.
  void Reset() { next_ = shape_.first; }

 private:
  Shape shape_;
  Duration next_;
};

}  // namespace berth::base
