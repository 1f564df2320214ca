// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "berth/time.h"
#include "src/base/executor.h"

namespace berth::app {

// Notices that the scheduling loop does not turn any more, for whatever reason, and logs which
// plugin is in the way. The loop turns at least once a second, also when there is nothing to do.
//
// Thread safety: any thread.
class LoopWatch : public std::enable_shared_from_this<LoopWatch> {
 public:
  static constexpr Duration kPatience = std::chrono::seconds(30);
  static constexpr Duration kPeriod = std::chrono::seconds(5);

  // When the loop last turned, or until when it may be silent, which may lie ahead; and the plugin
  // that it is busy with ("" for none).
  struct Loop {
    std::function<Time()> last_turn;
    std::function<std::string()> busy_plugin;
  };

  // `executor` and `clock` must outlive the watch, and what `loop` refers to as well.
  LoopWatch(base::Executor& executor, const Clock& clock, Loop loop)
      : executor_(executor), clock_(clock), loop_(std::move(loop)) {}

  // Looks each kPeriod from now on, until it is destroyed.
  void Start();
  // What is wrong, if the loop has not turned for kPatience.
  std::optional<std::string> Problem() const;

 private:
  void Look();

  base::Executor& executor_;
  const Clock& clock_;
  const Loop loop_;
  bool told_ = false;  // executor's thread
};

}  // namespace berth::app
