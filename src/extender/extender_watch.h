// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "berth/time.h"
#include "src/base/string_map.h"

namespace berth::extender {

// Knows for how long the scheduling loop may be silent because it waits for an extender, and logs
// the extenders that keep it waiting.
//
// Thread safety: the scheduling thread, but for excused_until().
class ExtenderWatch {
 public:
  // A longer wait is told, once per extender and kTellAgain.
  static constexpr Duration kSlow = std::chrono::seconds(1);
  static constexpr Duration kTellAgain = std::chrono::seconds(30);

  // `clock` must outlive the watch.
  explicit ExtenderWatch(const Clock& clock) : clock_(clock) {}

  // The scheduling thread blocks for an extender from here on, for at most the timeout.
  void Begin(std::string_view extender, Duration timeout);
  void End();

  // While the loop waits, when the wait is over at the latest; else when the last one was over.
  // Any thread.
  Time excused_until() const { return excused_until_.load(std::memory_order_relaxed); }

 private:
  const Clock& clock_;
  std::string extender_;
  Time began_;
  base::StringMap<Time> told_;  // by extender; those of the configuration
  std::atomic<Time> excused_until_{Time()};
};

}  // namespace berth::extender
