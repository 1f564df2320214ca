// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "berth/in_tree/pod_groups.h"
#include "src/explain/pod_list.h"
#include "src/explain/text_table.h"
#include "src/explain/verdict_table.h"
#include "src/simulator/report.h"

namespace berth::simulator {
namespace {

using explain::Counted;
using explain::TextTable;

constexpr size_t kMaxNodes = 20;
constexpr size_t kMaxMessages = 20;
constexpr size_t kMaxExamples = 3;
constexpr size_t kMaxPodGroups = 20;

std::string Decimal(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

// "3.2 ms".
std::string WallTime(Duration time) {
  const double micros = static_cast<double>(time.count()) / 1e3;
  if (micros < 1e3) return Decimal(micros, 0) + " us";
  if (micros < 1e6) return Decimal(micros / 1e3, 1) + " ms";
  return Decimal(micros / 1e6, 2) + " s";
}

std::string Examples(const std::vector<std::string>& keys) {
  std::string text;
  for (size_t i = 0; i < std::min(keys.size(), kMaxExamples); ++i) {
    text += (i == 0 ? "" : ", ") + keys[i];
  }
  return keys.size() > kMaxExamples ? text + ", ..." : text;
}

// "75%", or "-" where there is nothing to share.
std::string Share(int64_t part, int64_t whole) {
  if (whole <= 0) return "-";
  return Decimal(100.0 * static_cast<double>(part) / static_cast<double>(whole), 0) + "%";
}

void AppendHead(const Report& report, std::string& out) {
  const RunFacts& facts = report.facts;
  out += std::to_string(report.bound) + " of " + Counted(report.pods, "pending pod") +
         " placed on " + std::to_string(report.placed.size()) + " of " +
         Counted(report.nodes, "node") + ": " + Counted(facts.attempts, "attempt") + " in " +
         WallTime(facts.wall_time) + ", " +
         std::to_string(std::chrono::ceil<std::chrono::seconds>(facts.virtual_time).count()) +
         " s of virtual time, seed " + std::to_string(facts.seed) + ".\n";
}

void AppendPlacements(const Report& report, const Snapshot& snapshot, std::string& out) {
  if (report.placed.empty()) return;
  std::vector<const std::pair<const std::string, std::vector<std::string>>*> nodes;
  for (const auto& entry : report.placed) nodes.push_back(&entry);
  std::stable_sort(nodes.begin(), nodes.end(), [](const auto* a, const auto* b) {
    return a->second.size() > b->second.size();
  });
  TextTable table;
  table.AddColumn("NODE");
  for (const char* header : {"NEW", "PODS", "CPU", "MEMORY"}) {
    table.AddColumn(header, TextTable::Align::kRight);
  }
  table.AddColumn("NEW PODS");
  const size_t shown = std::min(nodes.size(), kMaxNodes);
  for (size_t i = 0; i < shown; ++i) {
    const auto& [name, pods] = *nodes[i];
    const NodeRow row = snapshot.FindNode(name);
    if (row == kNoRow) continue;
    const auto share = [&](ResourceId id) {
      return Share(snapshot.requested(id)[row], snapshot.allocatable(id)[row]);
    };
    table.AddRow({name, std::to_string(pods.size()),
                  std::to_string(snapshot.pod_count()[row]) + "/" +
                      std::to_string(snapshot.allowed_pods()[row]),
                  share(kCpu), share(kMemory), Examples(pods)});
  }
  out += '\n';
  table.Append("", out);
  if (shown < nodes.size()) out += "... and " + Counted(nodes.size() - shown, "node") + '\n';
}

void AppendLeft(const std::vector<Report::Left>& pods, std::string& out) {
  std::map<std::pair<std::string_view, std::string_view>, explain::PodsAlike> groups;
  for (const Report::Left& left : pods) {
    explain::PodsAlike& group = groups[{left.result, left.message}];
    group.result = left.result;
    group.message = left.message;
    group.pods.push_back(left.pod);
  }
  if (groups.empty()) return;
  std::vector<const explain::PodsAlike*> all;
  for (const auto& [key, group] : groups) all.push_back(&group);
  out += '\n';
  explain::AppendPodsAlike(std::move(all), kMaxMessages, out);
}

void AppendEvicted(const Report& report, std::string& out) {
  if (report.evicted.empty()) return;
  std::vector<std::string> named = report.evicted;
  std::erase_if(named, [&report](const std::string& key) {
    return !report.namespace_.empty() && key.substr(0, key.find('/')) != report.namespace_;
  });
  out += '\n' + Counted(report.evicted.size(), "pod") + " evicted to make room";
  if (named.size() < report.evicted.size()) {
    out += ", " + std::to_string(named.size()) + " of namespace " + report.namespace_;
  }
  out += (named.empty() ? "" : ": ") + Examples(named) + '\n';
}

// What the groups of the pods left lack.
void AppendPodGroups(const Report& report, Simulation& simulation, std::string& out) {
  std::vector<std::string> left;
  for (const Report::Left& pod : report.left) {
    if (pod.result != "ignored") left.push_back(pod.pod);
  }
  std::ranges::sort(left);
  std::set<std::string> groups;
  std::string tables;
  for (const std::string& key : left) {
    const auto found = simulation.FindPod(key);
    if (found == nullptr) continue;
    const auto pod = simulation.scheduler().Counted(found);
    const std::string* name = PodGroupNameOf(*pod);
    if (name == nullptr ||
        !groups.insert(api::NamespacedKey(pod->metadata.namespace_, *name)).second)
      continue;
    if (groups.size() > kMaxPodGroups) continue;
    const auto group = simulation.scheduler().PreviewPodGroup(*pod, scheduler::Effects::kOnClaims);
    if (!group) return;  // without their gate there are none
    explain::AppendPodGroupTable(*group, kMaxExamples, tables);
  }
  if (groups.empty()) return;
  out += '\n' + Counted(groups.size(), "pod group") + " with pods left:\n" + tables;
  if (groups.size() > kMaxPodGroups) {
    out += "\n  ... and " + Counted(groups.size() - kMaxPodGroups, "pod group") + '\n';
  }
}

}  // namespace

void AppendReportTable(const Report& report, Simulation& simulation, std::string& out) {
  AppendHead(report, out);
  AppendPlacements(report, simulation.scheduler().cache(), out);
  AppendLeft(report.left, out);
  AppendPodGroups(report, simulation, out);
  AppendEvicted(report, out);
}

}  // namespace berth::simulator
