// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/in_tree/extension_points.h"
#include "berth/status.h"
#include "berth/time.h"

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

class Profile;

// A plugin that is being called. Its name is the profile's own and lives as long as that.
struct BusyPlugin {
  const std::string_view* name = nullptr;  // nullptr: none
  ExtensionPoint point{};
};

// Gets how long plugins take; what metrics are made of. It has a clock of its own, since no
// decision may depend on these times. Scheduling thread only.
class RuntimeObserver {
 public:
  virtual ~RuntimeObserver() = default;
  virtual Time Now() = 0;
  // Who is busy from now on; returns who was before. It tells why nothing moves.
  virtual BusyPlugin SetBusy(BusyPlugin now) { return now; }
  // A whole extension point for one pod.
  virtual void ObserveExtensionPoint(const Profile& profile, ExtensionPoint point, Code code,
                                     Duration took) = 0;
  // Whether this run of PreEnqueue, which is in no cycle, is one in which plugins are measured.
  virtual bool SamplesPreEnqueue() { return false; }
  // One plugin; only in cycles with Cycle::observe_plugins, and in such runs of PreEnqueue.
  virtual void ObservePlugin(std::string_view plugin, ExtensionPoint point, Code code,
                             Duration took) = 0;
  // A plugin was asked about `count` nodes (PreFilter and PreScore: about the pod).
  virtual void CountEvaluations(const Profile& profile, std::string_view plugin,
                                ExtensionPoint point, uint64_t count) = 0;
};

}  // namespace berth::framework
