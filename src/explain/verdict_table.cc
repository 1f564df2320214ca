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
#include "src/explain/near_misses.h"
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

void AppendHead(const Judgement& judgement, std::string& out) {
  out += judgement.pod().metadata.Key() + ": " + std::string(ResultName(judgement.kind()));
  if (judgement.profile() != nullptr) {
    out += " (profile " + judgement.profile()->scheduler_name() + ")";
  }
  out += '\n';
  if (judgement.kind() == Judgement::Kind::kIgnored) {
    out += judgement.profile() == nullptr
               ? "  no profile is named \"" + judgement.pod().spec.scheduler_name + "\"\n"
               : "  the pod is being deleted\n";
  }
  if (!judgement.message().empty()) out += "  " + judgement.message() + '\n';
  for (const std::string& url : judgement.extenders_not_asked()) {
    out += "  extender not asked: " + url + '\n';
  }
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
  for (size_t i = 0; i < shown; ++i) {
    const RejectedGroup& group = groups[i];
    table.AddRow({std::to_string(group.nodes.size()),
                  group.plugin.empty() ? "-" : std::string(group.plugin),
                  absl::StrJoin(group.reasons, "; "), std::string(CodeName(group.code)),
                  Examples(judgement, group.nodes, limits.examples)});
  }
  out += "\n  Rejected nodes, nearest misses first:\n";
  table.Append("  ", out);
  if (shown < groups.size()) out += "  ... and " + Counted(groups.size() - shown, "group") + '\n';
}

std::string ClaimCell(const ClaimPreview& claim) {
  if (!claim.devices.empty()) return absl::StrJoin(claim.devices, "; ");
  if (!claim.provisioner.empty()) return "made by " + claim.provisioner;
  return claim.volume.empty() ? "-" : claim.volume;
}

// One line for all nodes on which a claim comes to the same.
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
  table.AddColumn("COMES TO");
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
  out += "\n  Preemption would help on " + Counted(order.size(), "node") +
         (best.size() > 1 ? "; one of the best would be drawn:\n" : ":\n");
  table.Append("  ", out);
  if (shown < order.size()) out += "  ... and " + Counted(order.size() - shown, "node") + '\n';
}

}  // namespace

void AppendTable(const Judgement& judgement, const TableLimits& limits, std::string& out) {
  AppendHead(judgement, out);
  AppendRejected(judgement, limits, out);
  AppendClaims(judgement, limits, out);
  AppendBest(judgement, limits, out);
  AppendPreemption(judgement, limits, out);
}

}  // namespace berth::explain
