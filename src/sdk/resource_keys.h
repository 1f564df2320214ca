// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace berth {

// The resources of a ResourceList that have a field of their own in Resources. Views: a comparison
// with one looks at the length first.
inline constexpr std::string_view kCpuName = "cpu";
inline constexpr std::string_view kMemoryName = "memory";
inline constexpr std::string_view kEphemeralStorageName = "ephemeral-storage";

}  // namespace berth
