// SPDX-License-Identifier: Apache-2.0
#include "src/explain/pod_group_table.h"

#include <algorithm>

#include "src/explain/text_table.h"

namespace berth::explain {
namespace {

// "needs 3 pods to start, 4 exist: 1 on nodes, 3 waiting, of which 2 fit".
std::string Facts(const engine::PodGroupPreview& group) {
  std::string text = "has the basic policy, ";
  const auto needs = [&](const std::optional<int32_t>& count, const char* what) {
    if (!count) return;
    text = "needs " + Counted(static_cast<size_t>(std::max(*count, 0)), what) + " to start, ";
  };
  needs(group.min_count, "pod");
  needs(group.min_group_count, "group");
  return text +
         (group.composite_pod_group.empty() ? std::to_string(group.existing)
                                            : Counted(group.existing, "pod")) +
         " exist: " + std::to_string(group.placed) + " on nodes, " +
         std::to_string(group.waiting.size()) + " waiting, of which " +
         std::to_string(group.fitting) + " fit";
}

}  // namespace

void AppendPodGroupTable(const engine::PodGroupPreview& group, size_t most_pods, std::string& out) {
  const bool composite = !group.composite_pod_group.empty();
  out += "\n  " + (composite ? "Composite pod group " + group.composite_pod_group +
                                   ", with pod group " + group.pod_group + ","
                             : "Pod group " + group.pod_group);
  if (!group.exists) {
    out += " is not there; its pods wait for it.\n";
    return;
  }
  if (group.has_started()) {
    out += " has started; it ";
  } else {
    out += group.starts ? " would start" : " would not start";
    out += ", without evictions; it ";
  }
  out += Facts(group) + ".\n";
  if (!group.starts && !group.message.empty()) out += "  " + group.message + '\n';
  if (group.waiting.empty()) return;
  TextTable table;
  table.AddColumn("POD");
  table.AddColumn("NODE");
  table.AddColumn("KEEPS IT OUT");
  const size_t shown = std::min(most_pods, group.waiting.size());
  for (size_t i = 0; i < shown; ++i) {
    const engine::PodGroupPreview::Member& member = group.waiting[i];
    table.AddRow({member.pod, member.node.empty() ? "-" : member.node,
                  member.message.empty() ? "-" : member.message});
  }
  table.Append("  ", out);
  if (shown < group.waiting.size()) {
    out += "  ... and " + Counted(group.waiting.size() - shown, "pod") + '\n';
  }
}

}  // namespace berth::explain
