// SPDX-License-Identifier: Apache-2.0
#include "src/explain/pod_position.h"

#include <absl/strings/str_join.h>

#include "berth/config_value.h"
#include "src/explain/text_table.h"

namespace berth::explain {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

void AddNames(std::string_view member, const std::vector<std::string>& names,
              base::JsonObject& out) {
  if (!names.empty()) base::AppendJsonList(names, out.Key(member));
}

// To a tenth of a second.
std::string Rough(Duration time) {
  constexpr auto kStep = milliseconds(100);
  return FormatGoDuration(time / kStep * kStep);
}

std::string_view Describe(std::string_view place) {
  if (place == "unschedulable") return "Waits for an event that may help";
  if (place == "Permit") return "Has a node, and waits for Permit";
  if (place == "PreBind") return "Has a node, and waits for PreBind";
  if (place == "Bind") return "Has a node, and waits for the API server to bind it";
  if (place == "BindUnconfirmed") return "Has a node; whether it is bound is not known yet";
  if (place == "gated") return "Is gated";
  if (place == "backoffQ") return "Backs off";
  if (place == "activeQ") return "Is next in activeQ";
  return "Is in no queue";
}

}  // namespace

void AddPosition(const PodPosition& position, base::JsonObject& out) {
  if (!position.leads) return;
  out.Add("attempts", position.attempts);
  if (position.backoff_left) {
    out.Add("backoffLeftMilliseconds", duration_cast<milliseconds>(*position.backoff_left).count());
  }
  out.AddIfNotEmpty("gatingPlugin", position.gating_plugin);
  out.AddIfNotEmpty("node", position.node);
  out.AddIfNotEmpty("nominatedNode", position.nominated_node);
  AddNames("pendingPlugins", position.pending_plugins, out);
  AddNames("permitPlugins", position.objectors, out);
  out.AddIfNotEmpty("place", position.place);
  AddNames("unschedulablePlugins", position.unschedulable_plugins, out);
  if (position.woken_by.empty()) return;
  out.Add("wokenBy", position.woken_by);
  out.Add("wokenMillisecondsAgo", duration_cast<milliseconds>(position.woken_ago).count());
}

void AppendPositionTable(const PodPosition& position, std::string& out) {
  if (!position.leads) {
    out += "\n  Where it stands is for the replica to say that leads.\n";
    return;
  }
  out += "\n  " + std::string(Describe(position.place));
  if (!position.gating_plugin.empty()) out += " by " + position.gating_plugin;
  if (!position.objectors.empty()) out += " (" + absl::StrJoin(position.objectors, ", ") + ")";
  if (!position.node.empty()) out += ", on " + position.node;
  if (position.backoff_left) out += ", for another " + Rough(*position.backoff_left);
  out += ", after " + Counted(static_cast<size_t>(position.attempts), "attempt") + ".\n";
  if (!position.unschedulable_plugins.empty() && position.gating_plugin.empty()) {
    out += "  Last rejected by " + absl::StrJoin(position.unschedulable_plugins, ", ") + ".\n";
  }
  if (!position.woken_by.empty()) {
    out += "  Last woken by " + position.woken_by + ", " + Rough(position.woken_ago) + " ago.\n";
  }
  if (!position.nominated_node.empty()) out += "  Nominated for " + position.nominated_node + ".\n";
}

}  // namespace berth::explain
