// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace berth::app {

// The flags of kube-scheduler that are accepted and checked, so that its command lines keep
// working, but change nothing here; sorted by name. A flag that gets an effect leaves the list.
std::span<const std::string_view> FlagsWithoutEffect();

}  // namespace berth::app
