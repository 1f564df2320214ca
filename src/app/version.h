// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace berth::app {

inline constexpr std::string_view kVersion = "v0.1.0";
// The kube-scheduler whose contract is kept.
inline constexpr std::string_view kKubernetesVersion = "v1.37.1";

}  // namespace berth::app
