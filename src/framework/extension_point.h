// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/in_tree/extension_points.h"

namespace berth::framework {

// What is measured by itself: the extension points, and calls that belong to one of them.
#define BERTH_MEASURED_CALLS(X)       \
  BERTH_EXTENSION_POINTS(X)           \
  BERTH_POD_GROUP_POINTS(X)           \
  X(PlacementFeasible)                \
  X(PlacementScoreExtensionNormalize) \
  X(PreFilterExtensionAddPod)         \
  X(PreFilterExtensionRemovePod)      \
  X(ScoreExtensionNormalize)          \
  X(Unreserve)                        \
  X(PreBindPreFlight)

enum class ExtensionPoint : uint8_t {
#define BERTH_ENUMERATOR(Name, ...) k##Name,
  BERTH_MEASURED_CALLS(BERTH_ENUMERATOR)
#undef BERTH_ENUMERATOR
};

// How many there are.
inline constexpr size_t kNumMeasuredCalls = [] {
  size_t count = 0;
#define BERTH_COUNT(...) ++count;
  BERTH_MEASURED_CALLS(BERTH_COUNT)
#undef BERTH_COUNT
  return count;
}();

// The name that metrics and messages use.
constexpr std::string_view ExtensionPointName(ExtensionPoint point) {
  constexpr std::string_view kNames[] = {
#define BERTH_NAME(Name, ...) #Name,
      BERTH_MEASURED_CALLS(BERTH_NAME)
#undef BERTH_NAME
  };
  return kNames[static_cast<size_t>(point)];
}
#undef BERTH_MEASURED_CALLS

}  // namespace berth::framework
