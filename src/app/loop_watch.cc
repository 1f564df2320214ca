// SPDX-License-Identifier: Apache-2.0
#include "src/app/loop_watch.h"

#include "src/base/logging.h"

namespace berth::app {

void LoopWatch::Start() {
  executor_.PostAfter(kPeriod, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->Look();
    self->Start();
  });
}

std::optional<std::string> LoopWatch::Problem() const {
  const Duration silent = clock_.Now() - loop_.last_turn();
  if (silent < kPatience) return std::nullopt;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(silent).count();
  std::string problem = "the scheduling loop has not turned for " + std::to_string(seconds) + " s";
  const std::string plugin = loop_.busy_plugin();
  return problem + (plugin.empty() ? "" : ", in plugin " + plugin);
}

void LoopWatch::Look() {
  const auto problem = Problem();
  if (problem.has_value() == told_) return;
  told_ = problem.has_value();
  if (problem) {
    base::LogError("The scheduling loop is stuck",
                   {{"err", *problem}, {"plugin", loop_.busy_plugin()}});
  } else {
    base::LogInfo("The scheduling loop turns again");
  }
}

}  // namespace berth::app
