// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/time.h"
#include "src/base/executor.h"

namespace berth::app {

// Notices that the scheduling loop does not turn any more, for whatever reason, and logs which
// plugin is in the way. The loop turns at least once a second, also when there is nothing to do.
//
// While the loop is at a pod that is known, it has more time: the pod costs other pods that time,
// and would cost the next process the same. The next process learns which pod that is (Note()).
//
// Thread safety: any thread.
class LoopWatch : public std::enable_shared_from_this<LoopWatch> {
 public:
  static constexpr Duration kPatience = std::chrono::seconds(30);
  static constexpr Duration kPatienceWithPod = std::chrono::minutes(5);
  static constexpr Duration kPeriod = std::chrono::seconds(5);
  // A pod that takes so long may end the process.
  static constexpr Duration kLong = std::chrono::seconds(2);

  // When the loop last turned, or until when it may be silent, which may lie ahead; the plugin that
  // it is busy with, and the UID of the pod ("" for none).
  struct Loop {
    std::function<Time()> last_turn;
    std::function<std::string()> busy_plugin;
    std::function<std::string()> busy_pod;
  };

  // `executor` and `clock` must outlive the watch, and what `loop` refers to as well.
  LoopWatch(base::Executor& executor, const Clock& clock, Loop loop)
      : executor_(executor), clock_(clock), loop_(std::move(loop)) {}

  // Looks each kPeriod from now on, until it is destroyed.
  void Start();
  // What is wrong, if the loop has not turned for kPatience, or kPatienceWithPod.
  std::optional<std::string> Problem() const;
  // The UIDs of `inherited` and of the pod that the loop has been at for kLong, joined by ",".
  std::string Note(std::vector<std::string> inherited) const;

 private:
  Duration Silence() const { return clock_.Now() - loop_.last_turn(); }
  std::string Describe(Duration silence) const;
  void Look();

  base::Executor& executor_;
  const Clock& clock_;
  const Loop loop_;
  bool logged_ = false;  // executor's thread
};

// The UIDs of such a note; what is no UID is left out, and of more than kMostNoted the last count.
std::vector<std::string> ReadNote(std::string_view note);
inline constexpr size_t kMostNoted = 16;

}  // namespace berth::app
