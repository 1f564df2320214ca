// SPDX-License-Identifier: Apache-2.0
#include "src/framework/preemption_preview.h"

#include "src/framework/guarded.h"

namespace berth::framework {

std::optional<PreemptionPreview> RunPreemptionPreview(const Profile& profile, Cycle& cycle,
                                                      const PodInfo& pod, const Snapshot& snapshot,
                                                      const NodeToStatus& statuses) {
  for (const auto& entry : profile.plugins().post_filter) {
    PreemptionPlugin* plugin = entry.instance->preemption;
    if (plugin == nullptr) continue;
    cycle.state.Write(PostFilterCycle{profile, cycle});
    PreemptionPreview preview;
    const Status status = Guarded(cycle.state, [&] {
      preview = plugin->Preview(cycle.state, pod, snapshot, statuses);
      return Status::Success();
    });
    if (!status.ok()) preview = {.candidates = {}, .best = {}, .message = status.message()};
    return preview;
  }
  return std::nullopt;
}

}  // namespace berth::framework
