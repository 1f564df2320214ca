// SPDX-License-Identifier: Apache-2.0
#include "src/explain/near_misses.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "src/explain/verdict_json.h"

namespace berth::explain {
namespace {

using engine::Judgement;

size_t FiltersBefore(const framework::Profile& profile, std::string_view plugin) {
  const auto& filters = profile.plugins().filter;
  for (size_t i = 0; i < filters.size(); ++i) {
    if (filters[i].name == plugin) return i;
  }
  return 0;
}

// The position in `groups` of the group for this verdict, which is added where it is missing. The
// same reasons may be interned in two tables.
size_t GroupOf(const Judgement& judgement, const Status& status, std::string_view plugin,
               std::vector<RejectedGroup>& groups) {
  ReasonSet reasons = status.reasons();
  std::sort(reasons.begin(), reasons.end());
  for (size_t i = 0; i < groups.size(); ++i) {
    const RejectedGroup& group = groups[i];
    if (group.plugin == plugin && group.code == status.code() && group.reasons == reasons) return i;
  }
  groups.push_back({.plugin = plugin,
                    .code = status.code(),
                    .reasons = std::move(reasons),
                    .nodes = {},
                    .filters_passed = FiltersBefore(*judgement.profile(), plugin)});
  return groups.size() - 1;
}

bool Nearer(const RejectedGroup& a, const RejectedGroup& b) {
  const bool a_final = a.code == Code::kUnschedulableAndUnresolvable;
  const bool b_final = b.code == Code::kUnschedulableAndUnresolvable;
  if (a_final != b_final) return b_final;
  if (a.filters_passed != b.filters_passed) return a.filters_passed > b.filters_passed;
  if (a.reasons.size() != b.reasons.size()) return a.reasons.size() < b.reasons.size();
  if (a.nodes.size() != b.nodes.size()) return a.nodes.size() > b.nodes.size();
  return std::tie(a.plugin, a.reasons) < std::tie(b.plugin, b.reasons);
}

}  // namespace

std::vector<RejectedGroup> NearMisses(const Judgement& judgement) {
  std::vector<RejectedGroup> groups;
  if (judgement.kind() != Judgement::Kind::kScheduled &&
      judgement.kind() != Judgement::Kind::kUnschedulable) {
    return groups;
  }
  const Snapshot& snapshot = judgement.snapshot();
  const engine::NodeStatuses& statuses = judgement.statuses();
  NodeSet rejected = snapshot.nodes();
  for (const NodeRow row : judgement.feasible()) rejected.Clear(row);
  RejectedGroup outside;
  outside.pre_filter = true;
  outside.reasons = {std::string(kPreFilterReason)};
  std::map<std::tuple<const ReasonSet*, Code, std::string_view>, size_t> known;
  rejected.ForEach([&](NodeRow row) {
    if (!statuses.explicit_nodes().Test(row)) {
      outside.nodes.push_back(row);
      return;
    }
    const Status status = statuses.Get(row);
    const std::string_view plugin = statuses.plugin(row);
    const auto [it, is_new] =
        known.try_emplace(std::tuple(&status.reasons(), status.code(), plugin));
    if (is_new) it->second = GroupOf(judgement, status, plugin, groups);
    groups[it->second].nodes.push_back(row);
  });
  if (!outside.nodes.empty()) groups.push_back(std::move(outside));
  std::sort(groups.begin(), groups.end(), Nearer);
  return groups;
}

Rejection RejectionOf(const Judgement& judgement, const RejectedGroup& group) {
  if (!group.pre_filter) return {std::string(group.plugin), group.reasons};
  return {absl::StrJoin(judgement.pre_filter_plugins(), ", "),
          judgement.statuses().absent().reasons()};
}

}  // namespace berth::explain
