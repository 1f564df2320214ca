// SPDX-License-Identifier: Apache-2.0
#include "src/explain/pod_list.h"

#include <algorithm>
#include <functional>

#include "src/explain/text_table.h"

namespace berth::explain {

void AppendPodsAlike(std::vector<const PodsAlike*> groups, size_t most, std::string& out) {
  if (groups.empty()) return;
  std::ranges::stable_sort(groups, std::greater(),
                           [](const PodsAlike* group) { return group->pods.size(); });
  TextTable table;
  table.AddColumn("PODS", TextTable::Align::kRight);
  table.AddColumn("RESULT");
  table.AddColumn("FIRST");
  table.AddColumn("MESSAGE");
  size_t left = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const PodsAlike& group = *groups[i];
    if (i >= most) {
      left += group.pods.size();
      continue;
    }
    table.AddRow({std::to_string(group.pods.size()), group.result, group.pods.front(),
                  group.message.empty() ? "-" : group.message});
  }
  table.Append("", out);
  if (left > 0) out += "... and " + Counted(left, "pod") + " for other reasons\n";
}

std::string WhyPending(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled") return condition.message;
  }
  return "";
}

std::string WhyIgnored(const api::Pod& pod, bool has_profile) {
  return has_profile ? "the pod is being deleted"
                     : "no profile is named \"" + pod.spec.scheduler_name + "\"";
}

}  // namespace berth::explain
