// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/propose.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "berth/matching.h"
#include "src/fixes/requests.h"

namespace berth::fixes {
namespace {

using explain::Change;
using explain::RejectedGroup;

// Nodes that stand for their group, and shapes of nodes.
constexpr size_t kMostExamples = 3;
constexpr size_t kMostShapes = 8;
// Different taints of a group's nodes.
constexpr size_t kMostTaints = 16;

void Add(Change change, std::vector<Change>& out) {
  if (std::ranges::find(out, change) == out.end()) out.push_back(std::move(change));
}

// What a generator is about.
struct Refusal {
  const RejectedGroup& group;
  const engine::Judgement& judgement;
  const TrialCluster& trial;
  std::vector<Change>& out;

  const api::Pod& pod() const { return trial.pod(); }
  const api::Node& node(NodeRow row) const { return judgement.snapshot().node(row); }
  // By name.
  std::vector<NodeRow> Examples() const {
    std::vector<NodeRow> rows = group.nodes;
    const size_t shown = std::min(rows.size(), kMostExamples);
    std::partial_sort(
        rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
        [&](NodeRow a, NodeRow b) { return node(a).metadata.name < node(b).metadata.name; });
    rows.resize(shown);
    return rows;
  }
};

void OfResources(const Refusal& refusal) {
  for (const std::string& resource : RequestedResources(refusal.pod())) {
    const api::Quantity from = EffectiveRequest(refusal.pod(), resource);
    const api::Pod least = WithRequest(refusal.pod(), resource, 0);
    Add(explain::LowerRequest{resource, from, EffectiveRequest(least, resource)}, refusal.out);
  }
}

bool KeepsOut(const api::Taint& taint, const api::Pod& pod) {
  return taint.effect != api::kTaintEffectPreferNoSchedule &&
         !Tolerates(pod.spec.tolerations, taint, true);
}

void OfTaints(const Refusal& refusal) {
  std::set<std::string> seen;
  for (const NodeRow row : refusal.group.nodes) {
    for (const api::Taint& taint : refusal.node(row).spec.taints) {
      if (seen.size() >= kMostTaints) return;
      if (!KeepsOut(taint, refusal.pod()) || !seen.insert(explain::ToText(taint)).second) continue;
      Add(explain::Tolerate{taint}, refusal.out);
    }
  }
}

void OfCordons(const Refusal& refusal) {
  for (const NodeRow row : refusal.Examples()) {
    const api::Node& node = refusal.node(row);
    if (node.spec.unschedulable) Add(explain::Uncordon{node.metadata.name}, refusal.out);
  }
}

using Generator = void (*)(const Refusal&);
struct OfPlugin {
  std::string_view plugin;
  Generator generate;
};
constexpr OfPlugin kGenerators[] = {
    {"NodeResourcesFit", OfResources},
    {"TaintToleration", OfTaints},
    // Where a cordon's taint came first.
    {"TaintToleration", OfCordons},
    {"NodeUnschedulable", OfCordons},
    {"NodeUnschedulable", OfTaints},
};

}  // namespace

void Propose(const RejectedGroup& group, const engine::Judgement& judgement,
             const TrialCluster& trial, std::vector<Change>& out) {
  const bool known = std::ranges::any_of(
      kGenerators, [&](const OfPlugin& entry) { return entry.plugin == group.plugin; });
  for (const OfPlugin& entry : kGenerators) {
    // PreFilter, and plugins that are not ours, may mean anything.
    if (!known || entry.plugin == group.plugin) {
      entry.generate({group, judgement, trial, out});
    }
  }
}

void ProposeNodes(const std::vector<RejectedGroup>& groups, const engine::Judgement& judgement,
                  std::vector<Change>& out) {
  std::set<std::string> shapes;
  for (const RejectedGroup& group : groups) {
    for (const NodeRow row : group.nodes) {
      if (shapes.size() >= kMostShapes) return;
      const api::Node& node = judgement.snapshot().node(row);
      std::string shape;
      for (const auto& [key, value] : node.metadata.labels) {
        if (value != node.metadata.name) shape += key + "=" + value + "\n";
      }
      for (const api::Taint& taint : node.spec.taints) shape += explain::ToText(taint) + "\n";
      for (const auto& [name, quantity] : node.status.allocatable) {
        shape += name + ":" + quantity.ToString() + "\n";
      }
      if (shapes.insert(shape).second) Add(explain::AddNode{node.metadata.name}, out);
    }
  }
}

}  // namespace berth::fixes
