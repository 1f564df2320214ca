// SPDX-License-Identifier: Apache-2.0
#include "src/explain/verdict_table.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/status.h"
#include "src/api/time_format.h"
#include "src/explain/in_the_way.h"
#include "src/explain/near_misses.h"
#include "src/explain/pod_list.h"
#include "src/explain/text_table.h"
#include "src/explain/verdict_json.h"

namespace berth::explain {
namespace {

using engine::Judgement;

std::string_view NameOf(const Judgement& judgement, NodeRow row) {
  return judgement.snapshot().node(row).metadata.name;
}

// The first few names in alphabetical order: "n1, n2, ...".
std::string Examples(const Judgement& judgement, const std::vector<NodeRow>& rows, size_t most) {
  std::vector<std::string_view> names;
  for (const NodeRow row : rows) names.push_back(NameOf(judgement, row));
  const size_t shown = std::min(most, names.size());
  std::partial_sort(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), names.end());
  std::string text;
  for (size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + std::string(names[i]);
  return shown < names.size() ? text + ", ..." : text;
}

void AppendHead(const Judgement& judgement, bool held_by_group, std::string& out) {
  out += judgement.pod().metadata.Key() + ": ";
  const std::string resize_on(judgement.resize_on());
  if (held_by_group) {
    out += "waits for its pod group, though a node is feasible for it";
  } else if (resize_on.empty()) {
    out += ResultName(judgement.kind());
  } else if (judgement.kind() == Judgement::Kind::kScheduled) {
    out += "its resize fits on " + resize_on + ", where the kubelet is to do it";
  } else {
    out += "its resize on " + resize_on + " is " + std::string(ResultName(judgement.kind()));
  }
  if (judgement.profile() != nullptr) {
    out += " (profile " + judgement.profile()->scheduler_name() + ")";
  }
  out += '\n';
  if (judgement.kind() == Judgement::Kind::kIgnored) {
    out += "  " + WhyIgnored(judgement.pod(), judgement.profile() != nullptr) + '\n';
  }
  if (!judgement.message().empty()) out += "  " + judgement.message() + '\n';
  if (!judgement.remark().empty()) {
    out += "  a scheduling cycle would not ask this: " + judgement.remark() + '\n';
  }
  for (const std::string& url : judgement.extenders_not_asked()) {
    out += "  extender not asked: " + url + '\n';
  }
}

NodeRow FirstByName(const Judgement& judgement, const std::vector<NodeRow>& rows) {
  return *std::ranges::min_element(rows, {}, [&](NodeRow row) { return NameOf(judgement, row); });
}

std::string Reasons(const RejectedGroup& group, const Rejection& rejection) {
  if (!group.pre_filter) return absl::StrJoin(rejection.reasons, "; ");
  return std::string(kPreFilterReason) + ": " + absl::StrJoin(rejection.reasons, "; ");
}

void AppendRejected(const Judgement& judgement, const TableLimits& limits, std::string& out) {
  const std::vector<RejectedGroup> groups = NearMisses(judgement);
  if (groups.empty()) return;
  TextTable table;
  table.AddColumn("NODES", TextTable::Align::kRight);
  table.AddColumn("PLUGIN");
  table.AddColumn("REASONS");
  table.AddColumn("CODE");
  table.AddColumn("EXAMPLES");
  const size_t shown = std::min(limits.groups, groups.size());
  InTheWay in_the_way(judgement);
  std::string examples;
  for (size_t i = 0; i < shown; ++i) {
    const RejectedGroup& group = groups[i];
    const Rejection rejection = RejectionOf(judgement, group);
    table.AddRow({std::to_string(group.nodes.size()),
                  rejection.plugins.empty() ? "-" : rejection.plugins, Reasons(group, rejection),
                  std::string(CodeName(group.code)),
                  Examples(judgement, group.nodes, limits.examples)});
    const NodeRow first = FirstByName(judgement, group.nodes);
    const std::string& what = in_the_way.On(first);
    if (!what.empty()) {
      examples += "    " + std::string(NameOf(judgement, first)) + ": " + what + '\n';
    }
  }
  out += "\n  Rejected nodes, nearest misses first:\n";
  table.Append("  ", out);
  if (shown < groups.size()) out += "  ... and " + Counted(groups.size() - shown, "group") + '\n';
  if (!examples.empty()) out += "  In the way, for example:\n" + examples;
}

std::string ClaimCell(const ClaimPreview& claim) {
  if (!claim.devices.empty()) return absl::StrJoin(claim.devices, "; ");
  if (!claim.provisioner.empty()) return "made by " + claim.provisioner;
  return claim.volume.empty() ? "-" : claim.volume;
}

// One line for all nodes on which a claim would get the same.
void AppendClaims(const Judgement& judgement, const TableLimits& limits, std::string& out) {
  if (!judgement.has_claims()) return;
  // By the claim's place, what keeps the pod out, and the volume or the devices.
  std::map<std::tuple<size_t, std::string, std::string>, std::vector<NodeRow>> groups;
  std::vector<std::string> names;
  judgement.snapshot().nodes().ForEach([&](NodeRow row) {
    const std::vector<ClaimPreview> claims = judgement.ClaimsOn(row);
    names.resize(claims.size());
    for (size_t i = 0; i < claims.size(); ++i) {
      names[i] = claims[i].claim;
      groups[{i, claims[i].problem, ClaimCell(claims[i])}].push_back(row);
    }
  });
  TextTable table;
  table.AddColumn("NODES", TextTable::Align::kRight);
  table.AddColumn("CLAIM");
  table.AddColumn("GETS");
  table.AddColumn("KEEPS THE POD OUT");
  table.AddColumn("EXAMPLES");
  size_t shown = 0;
  for (const auto& [what, rows] : groups) {
    if (shown++ >= limits.groups) break;
    const auto& [place, problem, comes_to] = what;
    table.AddRow({std::to_string(rows.size()), names[place], comes_to,
                  problem.empty() ? "-" : problem, Examples(judgement, rows, limits.examples)});
  }
  out += "\n  Claims, alike nodes together:\n";
  table.Append("  ", out);
  if (groups.size() > limits.groups) {
    out += "  ... and " + Counted(groups.size() - limits.groups, "group") + '\n';
  }
}

std::string ScoreCell(const framework::PluginScores& scores, size_t index) {
  const int64_t weighted = scores.normalised[index] * scores.entry->weight;
  const int64_t raw = scores.raw[index];
  const std::string text = std::to_string(weighted);
  return weighted == raw ? text : text + " (" + std::to_string(raw) + ")";
}

void AppendBest(const Judgement& judgement, const TableLimits& limits, std::string& out) {
  if (judgement.kind() != Judgement::Kind::kScheduled) return;
  const std::vector<NodeRow>& rows = judgement.feasible();
  const std::vector<int64_t>& totals = judgement.totals();
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t shown = std::min(limits.best_nodes, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](size_t a, size_t b) {
                      if (totals[a] != totals[b]) return totals[a] > totals[b];
                      return NameOf(judgement, rows[a]) < NameOf(judgement, rows[b]);
                    });
  TextTable table;
  table.AddColumn("NODE");
  table.AddColumn("TOTAL", TextTable::Align::kRight);
  for (const framework::PluginScores& scores : judgement.scores()) {
    table.AddColumn(WrapPluginName(scores.entry->name), TextTable::Align::kRight);
  }
  for (size_t i = 0; i < shown; ++i) {
    std::vector<std::string> cells = {std::string(NameOf(judgement, rows[order[i]])),
                                      std::to_string(totals[order[i]])};
    for (const framework::PluginScores& scores : judgement.scores()) {
      cells.push_back(ScoreCell(scores, order[i]));
    }
    table.AddRow(std::move(cells));
  }
  out += "\n  " + Counted(judgement.Best().size(), "node") + " of " + std::to_string(rows.size()) +
         " feasible with the highest total; scores are weighted (raw):\n";
  table.Append("  ", out);
  if (shown < rows.size()) out += "  ... and " + Counted(rows.size() - shown, "node") + '\n';
}

std::string Victims(const PreemptionCandidate& candidate, size_t most) {
  const size_t shown = std::min(most, candidate.victims.size());
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    const PodInfo& victim = *candidate.victims[i];
    text += (i == 0 ? "" : ", ") + victim.pod->metadata.Key() + " (priority " +
            std::to_string(victim.priority()) + ")";
  }
  const size_t others = candidate.victims.size() - shown;
  return others > 0 ? text + " and " + Counted(others, "other") : text;
}

void AppendPreemption(const Judgement& judgement, const TableLimits& limits, std::string& out) {
  if (!judgement.preemption()) return;
  const PreemptionPreview& preview = *judgement.preemption();
  if (preview.candidates.empty()) {
    out += "\n  " + preview.message + '\n';
    return;
  }
  const std::set<size_t> best(preview.best.begin(), preview.best.end());
  std::vector<size_t> order(preview.candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (best.contains(a) != best.contains(b)) return best.contains(a);
    return NameOf(judgement, preview.candidates[a].row) <
           NameOf(judgement, preview.candidates[b].row);
  });
  TextTable table;
  table.AddColumn("NODE");
  table.AddColumn("BEST");
  table.AddColumn("BROKEN\nBUDGETS", TextTable::Align::kRight);
  table.AddColumn("EVICTED");
  const size_t shown = std::min(limits.candidates, order.size());
  for (size_t i = 0; i < shown; ++i) {
    const PreemptionCandidate& candidate = preview.candidates[order[i]];
    table.AddRow(
        {std::string(NameOf(judgement, candidate.row)), best.contains(order[i]) ? "yes" : "no",
         std::to_string(candidate.num_pdb_violations), Victims(candidate, limits.victims)});
  }
  out += preview.moved ? "\n  Moving pods to other nodes would help on "
                       : "\n  Preemption would help on ";
  out += Counted(order.size(), "node") +
         (best.size() > 1 ? "; one of the best would be drawn:\n" : ":\n");
  table.Append("  ", out);
  if (shown < order.size()) out += "  ... and " + Counted(order.size() - shown, "node") + '\n';
}

// When the scheduler bound it, or ""; whole seconds.
std::string BoundAt(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled" && condition.status == "True" &&
        condition.last_transition_time) {
      return api::FormatTime(*condition.last_transition_time);
    }
  }
  return "";
}

std::string HowItsNodeDoes(const std::string& node, const Judgement& judgement) {
  const NodeRow row = judgement.snapshot().FindNode(node);
  if (row == kNoRow || !judgement.snapshot().nodes().Test(row)) return "is not there any more";
  const std::vector<NodeRow>& feasible = judgement.feasible();
  const auto at = std::ranges::find(feasible, row);
  if (at == feasible.end()) {
    const Status status = judgement.statuses().Get(row);
    const std::string reasons = absl::StrJoin(status.reasons(), "; ");
    return "would be rejected today" + (reasons.empty() ? "" : ": " + reasons);
  }
  const std::vector<int64_t>& totals = judgement.totals();
  const int64_t total = totals[static_cast<size_t>(at - feasible.begin())];
  const auto better = std::ranges::count_if(totals, [total](int64_t one) { return one > total; });
  const auto as_good = std::ranges::count(totals, total);
  std::string text = "scores " + std::to_string(total) + " today, ";
  if (better == 0 && as_good == 1) return text + "more than all others";
  if (better == 0) {
    return text + "as much as " + std::to_string(as_good - 1) + " more and no less than any";
  }
  return text + std::to_string(better) + " of " + std::to_string(feasible.size()) +
         " feasible nodes score more, up to " + std::to_string(*std::ranges::max_element(totals));
}

// Where a placed pod is, since when, and how its node does; what the others score follows.
void AppendPlacement(const api::Pod& placed, const Judgement& judgement, std::string& out) {
  const std::string& node = placed.spec.node_name;
  const std::string bound_at = BoundAt(placed);
  out += placed.metadata.Key() + " is on node " + node +
         (bound_at.empty() ? "" : ", since " + bound_at) +
         ". As of a pod that waits, beside all others as they are now:\n" + node + ' ' +
         HowItsNodeDoes(node, judgement) + ".\n\n";
}

void AppendVerdict(const Judgement& judgement, bool held_by_group, const TableLimits& limits,
                   std::string& out) {
  AppendHead(judgement, held_by_group, out);
  AppendRejected(judgement, limits, out);
  AppendClaims(judgement, limits, out);
  AppendBest(judgement, limits, out);
  AppendPreemption(judgement, limits, out);
}

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

void AppendTable(const Judgement& judgement, const TableLimits& limits, std::string& out) {
  AppendVerdict(judgement, false, limits, out);
}

void AppendTable(const Explanation& explanation, const TableLimits& limits, std::string& out) {
  const Judgement& judgement = *explanation.judgement;
  if (explanation.placed != nullptr) AppendPlacement(*explanation.placed, judgement, out);
  AppendVerdict(judgement, explanation.held_by_group(), limits, out);
  if (explanation.group != nullptr) AppendPodGroupTable(*explanation.group, limits.group_pods, out);
  if (explanation.fixes) AppendFixTable(*explanation.fixes, limits.commands, out);
  if (explanation.position) AppendPositionTable(*explanation.position, out);
}

}  // namespace berth::explain
