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

  // How long to wait after `failures` tries that failed one after another, the first being 0.
  static Duration Wait(const Shape& shape, int failures, Random& random) {
    double wait = static_cast<double>(shape.first.count());
    const auto cap = static_cast<double>(shape.cap.count());
    for (int i = 0; i < failures && wait < cap; ++i) wait = std::min(wait * shape.factor, cap);
    return Duration(static_cast<Duration::rep>(wait * (1 + shape.jitter * random.Unit())));
  }

  explicit Backoff(Shape shape) : shape_(shape) {}

  Duration Next(Random& random) { return Wait(shape_, failures_++, random); }
  // Starts over, after a success.
  void Reset() { failures_ = 0; }

 private:
  Shape shape_;
  int failures_ = 0;
};

}  // namespace berth::base
