// SPDX-License-Identifier: Apache-2.0
#include "src/explain/standing.h"

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
  if (place == "BindUnconfirmed") return "Has a node; whether it is bound is being read";
  if (place == "gated") return "Is gated";
  if (place == "backoffQ") return "Backs off";
  if (place == "activeQ") return "Is next in activeQ";
  return "Is in no queue";
}

}  // namespace

void AddStanding(const Standing& standing, base::JsonObject& out) {
  out.Add("attempts", standing.attempts);
  if (standing.backoff_left) {
    out.Add("backoffLeftMilliseconds", duration_cast<milliseconds>(*standing.backoff_left).count());
  }
  out.AddIfNotEmpty("gatingPlugin", standing.gating_plugin);
  out.AddIfNotEmpty("node", standing.node);
  out.AddIfNotEmpty("nominatedNode", standing.nominated_node);
  AddNames("pendingPlugins", standing.pending_plugins, out);
  AddNames("permitPlugins", standing.objectors, out);
  out.AddIfNotEmpty("place", standing.place);
  AddNames("unschedulablePlugins", standing.unschedulable_plugins, out);
  if (standing.woken_by.empty()) return;
  out.Add("wokenBy", standing.woken_by);
  out.Add("wokenMillisecondsAgo", duration_cast<milliseconds>(standing.woken_ago).count());
}

void AppendStandingTable(const Standing& standing, std::string& out) {
  out += "\n  " + std::string(Describe(standing.place));
  if (!standing.gating_plugin.empty()) out += " by " + standing.gating_plugin;
  if (!standing.objectors.empty()) out += " (" + absl::StrJoin(standing.objectors, ", ") + ")";
  if (!standing.node.empty()) out += ", on " + standing.node;
  if (standing.backoff_left) out += ", for another " + Rough(*standing.backoff_left);
  out += ", after " + Counted(static_cast<size_t>(standing.attempts), "attempt") + ".\n";
  if (!standing.unschedulable_plugins.empty() && standing.gating_plugin.empty()) {
    out += "  Last rejected by " + absl::StrJoin(standing.unschedulable_plugins, ", ") + ".\n";
  }
  if (!standing.woken_by.empty()) {
    out += "  Last woken by " + standing.woken_by + ", " + Rough(standing.woken_ago) + " ago.\n";
  }
  if (!standing.nominated_node.empty()) {
    out += "  Nominated for " + standing.nominated_node + ".\n";
  }
}

}  // namespace berth::explain
