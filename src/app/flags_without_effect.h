// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::app {

// A flag of kube-scheduler that is accepted, so that its command lines keep working, but changes
// nothing yet.
struct FlagWithoutEffect {
  std::string_view group;
  std::string_view name;
  std::string_view kind;  // "" for a switch
  // What its value must satisfy; may be nullptr.
  Result<void> (*check)(const std::string& value) = nullptr;
};

std::span<const FlagWithoutEffect> FlagsWithoutEffect();

}  // namespace berth::app
