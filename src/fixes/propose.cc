// SPDX-License-Identifier: Apache-2.0
#include "src/fixes/propose.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace berth::fixes {
namespace {

constexpr size_t kMostShapes = 8;

struct OfPlugin {
  std::string_view plugin;
  void (*generate)(const Refusal&);
};
constexpr OfPlugin kGenerators[] = {
    {"NodeResourcesFit", OfResources},
    {"TaintToleration", OfTaints},
    // A cordon has a taint, which may be what rejects.
    {"TaintToleration", OfCordons},
    {"NodeUnschedulable", OfCordons},
    {"NodeUnschedulable", OfTaints},
    {"NodeAffinity", OfNodeSelectors},
    {"NodeAffinity", OfNodeAffinity},
    {"InterPodAffinity", OfPodAffinity},
    {"PodTopologySpread", OfSpread},
    {"NodePorts", OfHostPorts},
    {"VolumeBinding", OfClaims},
    {"VolumeZone", OfClaims},
    {"NodeVolumeLimits", OfClaims},
};

std::string ShapeOf(const api::Node& node) {
  std::string shape;
  for (const auto& [key, value] : node.metadata.labels) {
    if (value != node.metadata.name) shape += key + "=" + value + "\n";
  }
  for (const api::Taint& taint : node.spec.taints) shape += explain::ToText(taint) + "\n";
  for (const auto& [name, quantity] : node.status.allocatable) {
    shape += name + ":" + quantity.ToString() + "\n";
  }
  return shape;
}

}  // namespace

void Propose(const Refusal& refusal) {
  const std::string_view plugin = refusal.group.plugin;
  const bool known =
      std::ranges::any_of(kGenerators, [&](const OfPlugin& of) { return of.plugin == plugin; });
  for (const OfPlugin& of : kGenerators) {
    // PreFilter, and plugins that are not ours, may mean anything.
    if (!known || of.plugin == plugin) of.generate(refusal);
  }
}

void ProposeNodes(const std::vector<explain::RejectedGroup>& groups,
                  const engine::Judgement& judgement, std::vector<explain::Change>& out) {
  std::set<std::string> shapes;
  for (const explain::RejectedGroup& group : groups) {
    for (const NodeRow row : group.nodes) {
      if (shapes.size() >= kMostShapes) return;
      const api::Node& node = judgement.snapshot().node(row);
      if (shapes.insert(ShapeOf(node)).second) out.push_back(explain::AddNode{node.metadata.name});
    }
  }
}

}  // namespace berth::fixes
