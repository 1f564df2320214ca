// SPDX-License-Identifier: Apache-2.0
#include "src/extender/extender_watch.h"

#include "berth/config_value.h"
#include "src/base/logging.h"

namespace berth::extender {

void ExtenderWatch::Begin(std::string_view extender, Duration timeout) {
  extender_ = extender;
  began_ = clock_.Now();
  excused_until_.store(began_ + timeout, std::memory_order_relaxed);
}

void ExtenderWatch::End() {
  const Time now = clock_.Now();
  excused_until_.store(now, std::memory_order_relaxed);
  if (now - began_ < kSlow) return;
  const auto [told, first] = told_.try_emplace(extender_, now);
  if (!first && now - told->second < kTellAgain) return;
  told->second = now;
  base::LogWarning("An extender keeps scheduling waiting",
                   {{"extender", extender_}, {"waited", FormatGoDuration(now - began_)}});
}

}  // namespace berth::extender
