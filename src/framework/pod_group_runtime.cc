// SPDX-License-Identifier: Apache-2.0
#include "src/framework/pod_group_runtime.h"

#include <string>

#include "berth/field_errors.h"
#include "src/framework/guarded.h"
#include "src/framework/timing.h"

namespace berth::framework {

Status RunPlacementFeasible(const Profile& profile, Cycle& cycle, const AnyPodGroup& group,
                            const PlacementProgress& progress) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kPlacementFeasible);
  Status result;
  for (const auto& entry : profile.plugins().placement_feasible) {
    PluginTimer plugin_timer(cycle, entry.name, ExtensionPoint::kPlacementFeasible);
    const Status status = Guarded(
        cycle.state, [&] { return entry.plugin->PlacementFeasible(cycle.state, group, progress); });
    plugin_timer.Finish(status.code());
    if (status.ok()) continue;
    result = status;
    if (status.wait()) continue;
    if (status.code() != Code::kUnschedulable) {
      result = cycle.state.reasons().Error("running PlacementFeasible plugin: " + status.message());
    }
    break;
  }
  timer.Finish(result.code());
  return result;
}

PodGroupPostFilterResult RunPodGroupPostFilter(const Profile& profile, Cycle& cycle,
                                               const PodGroupInfo& group, const Snapshot& snapshot,
                                               PodGroupDryRun& dry_run) {
  PointTimer timer(profile, cycle.observer, ExtensionPoint::kPodGroupPostFilter);
  const auto ask = [&]() -> PodGroupPostFilterResult {
    ReasonSet reasons;
    for (const auto& entry : profile.plugins().pod_group_post_filter) {
      PodGroupPostFilterResult result;
      PluginTimer plugin_timer(cycle, entry.name, ExtensionPoint::kPodGroupPostFilter);
      result.status = Guarded(cycle.state, [&] {
        result = entry.plugin->PodGroupPostFilter(cycle.state, group, snapshot, dry_run);
        return result.status;
      });
      const Code code = result.status.code();
      plugin_timer.Finish(code);
      if (code == Code::kSuccess || code == Code::kUnschedulableAndUnresolvable) return result;
      if (code != Code::kUnschedulable) {
        return {
            cycle.state.reasons().Error("error in " + Quoted(entry.name) +
                                        " PodGroupPostFilter plugins: " + result.status.message())};
      }
      reasons.insert(reasons.end(), result.status.reasons().begin(), result.status.reasons().end());
    }
    return {cycle.state.reasons().Make(Code::kUnschedulable, reasons)};
  };
  PodGroupPostFilterResult result = ask();
  timer.Finish(result.status.code());
  return result;
}

}  // namespace berth::framework
