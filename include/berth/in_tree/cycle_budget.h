// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace berth::inline in_tree {

// What a scheduling cycle may still do for its pod. A plugin spends from it where the pod's spec,
// or what the spec names, sizes the work, and before it does that work; once it is used up, the
// plugin ends the pod's cycle with the error that Message() words, and other pods go on.
//
// A step is about what one comparison of two small texts takes: 10 to 100 ns. Steps are counted,
// not timed, so that the same messages give the same decisions on any machine.
//
// Thread safety: that of the CycleState it belongs to.
class CycleBudget {
 public:
  // Some seconds; a cycle that kube-scheduler gives any time takes a few thousand steps.
  static constexpr uint64_t kSteps = 200'000'000;
  // What a cycle may add to memory besides the pod itself.
  static constexpr uint64_t kBytes = uint64_t{256} << 20;

  CycleBudget() = default;
  CycleBudget(uint64_t steps, uint64_t bytes)
      : max_steps_(steps), max_bytes_(bytes), steps_left_(steps), bytes_left_(bytes) {}
  // The steps that a question's time is enough for, which may be fewer than a cycle has.
  static CycleBudget ForQuestion(uint64_t steps) {
    CycleBudget budget(steps < kSteps ? steps : kSteps, kBytes);
    budget.by_time_ = steps < kSteps;
    return budget;
  }

  // False: it is used up, now or before. What costs more than is left uses it up.
  bool Spend(uint64_t steps, uint64_t bytes = 0) {
    if (steps > steps_left_) out_of_steps_ = true;
    if (bytes > bytes_left_) out_of_bytes_ = true;
    steps_left_ -= steps > steps_left_ ? steps_left_ : steps;
    bytes_left_ -= bytes > bytes_left_ ? bytes_left_ : bytes;
    return !spent();
  }
  bool spent() const { return out_of_steps_ || out_of_bytes_; }
  uint64_t steps_left() const { return out_of_steps_ ? 0 : steps_left_; }

  // What was spent.
  uint64_t steps() const { return max_steps_ - steps_left_; }
  uint64_t bytes() const { return max_bytes_ - bytes_left_; }

  // What is wrong, for the pod's error: which of the two was used up.
  std::string Message() const;

 private:
  uint64_t max_steps_ = kSteps;
  uint64_t max_bytes_ = kBytes;
  uint64_t steps_left_ = kSteps;
  uint64_t bytes_left_ = kBytes;
  bool out_of_steps_ = false;
  bool out_of_bytes_ = false;
  bool by_time_ = false;  // the steps are those of a question's time
};

}  // namespace berth::inline in_tree
