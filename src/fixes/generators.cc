// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>

#include "berth/matching.h"
#include "src/fixes/pod_changes.h"
#include "src/fixes/refusal.h"
#include "src/fixes/requests.h"

namespace berth::fixes {
namespace {

// Nodes that stand for their group.
constexpr size_t kMostExamples = 3;
// Different taints, or values of a label, of a group's nodes.
constexpr size_t kMostTaints = 16;
// A pod may have any number of selectors, terms and ports.
constexpr size_t kMostProposals = 256;
constexpr size_t kMostValues = 4;
// More pods than any domain may have more than another.
constexpr int32_t kAnySkew = 1 << 20;

bool KeepsOut(const api::Taint& taint, const api::Pod& pod) {
  return taint.effect != api::kTaintEffectPreferNoSchedule &&
         !Tolerates(pod.spec.tolerations, taint, true);
}

const api::NodeSelector* RequiredNodeAffinityOf(const api::Pod& pod) {
  if (!pod.spec.affinity || !pod.spec.affinity->node_affinity) return nullptr;
  const auto& required =
      pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  return required ? &*required : nullptr;
}

// The values that the group's nodes have of a label, where `requirement` lists others.
void Widen(const api::NodeSelectorRequirement& requirement, const Refusal& refusal) {
  std::set<std::string> values;
  for (const NodeRow row : refusal.group.nodes) {
    const std::string* value = api::Find(refusal.node(row).metadata.labels, requirement.key);
    if (value == nullptr) continue;
    if (std::ranges::find(requirement.values, *value) != requirement.values.end()) continue;
    if (values.size() >= kMostValues || !values.insert(*value).second) continue;
    refusal.Add(explain::WidenNodeAffinity{requirement.key, *value});
  }
}

// A value of the label with which a node meets the requirement; nullptr: none is known.
const std::string* MeetingValue(const api::NodeSelectorRequirement& requirement) {
  static const std::string kTrue = "true";
  if (requirement.operator_ == "Exists") return &kTrue;
  if (requirement.operator_ != "In" || requirement.values.empty()) return nullptr;
  return &requirement.values.front();
}

void Label(const std::string& key, const std::string& value, const Refusal& refusal) {
  for (const NodeRow row : refusal.Examples()) {
    const api::Node& node = refusal.node(row);
    const std::string* now = api::Find(node.metadata.labels, key);
    if (now == nullptr || *now != value) {
      refusal.Add(explain::SetLabel{node.metadata.name, key, value});
    }
  }
}

void DropTerms(const std::optional<api::PodAffinity>& affinity, bool anti, const Refusal& refusal) {
  if (!affinity) return;
  for (const auto& term : affinity->required_during_scheduling_ignored_during_execution) {
    refusal.Add(explain::DropPodAffinity{term, anti});
  }
}

void DropPorts(const std::vector<api::Container>& containers, const Refusal& refusal) {
  for (const api::Container& container : containers) {
    for (const api::ContainerPort& port : container.ports) {
      if (port.host_port > 0) refusal.Add(explain::DropHostPort{port.host_port, port.protocol});
    }
  }
}

}  // namespace

std::vector<NodeRow> Refusal::Examples() const {
  std::vector<NodeRow> rows = group.nodes;
  const size_t shown = std::min(rows.size(), kMostExamples);
  std::partial_sort(
      rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
      [&](NodeRow a, NodeRow b) { return node(a).metadata.name < node(b).metadata.name; });
  rows.resize(shown);
  return rows;
}

void Refusal::Add(explain::Change change) const {
  if (out.size() >= kMostProposals) return;
  if (std::ranges::find(out, change) == out.end()) out.push_back(std::move(change));
}

void OfResources(const Refusal& refusal) {
  for (const std::string& resource : RequestedResources(refusal.pod())) {
    const api::Quantity from = EffectiveRequest(refusal.pod(), resource);
    const api::Pod least = WithRequest(refusal.pod(), resource, 0);
    refusal.Add(explain::LowerRequest{resource, from, EffectiveRequest(least, resource)});
  }
}

void OfTaints(const Refusal& refusal) {
  std::set<std::string> seen;
  for (const NodeRow row : refusal.group.nodes) {
    for (const api::Taint& taint : refusal.node(row).spec.taints) {
      if (seen.size() >= kMostTaints || !KeepsOut(taint, refusal.pod())) continue;
      if (seen.insert(explain::ToText(taint)).second) refusal.Add(explain::Tolerate{taint});
    }
  }
  for (const NodeRow row : refusal.Examples()) {
    const api::Node& node = refusal.node(row);
    for (const api::Taint& taint : node.spec.taints) {
      if (!KeepsOut(taint, refusal.pod())) continue;
      refusal.Add(explain::RemoveTaint{node.metadata.name, taint});
    }
  }
}

void OfCordons(const Refusal& refusal) {
  for (const NodeRow row : refusal.Examples()) {
    const api::Node& node = refusal.node(row);
    if (node.spec.unschedulable) refusal.Add(explain::Uncordon{node.metadata.name});
  }
  // A cordon without its taint is tolerated as the taint is.
  refusal.Add(explain::Tolerate{{std::string(kUnschedulableTaint), "", "NoSchedule"}});
}

void OfNodeSelectors(const Refusal& refusal) {
  for (const auto& [key, value] : refusal.pod().spec.node_selector) {
    refusal.Add(explain::DropNodeSelector{key, value});
    Label(key, value, refusal);
  }
}

void OfNodeAffinity(const Refusal& refusal) {
  const api::NodeSelector* required = RequiredNodeAffinityOf(refusal.pod());
  if (required == nullptr) return;
  for (const api::NodeSelectorTerm& term : required->node_selector_terms) {
    for (const api::NodeSelectorRequirement& requirement : term.match_expressions) {
      refusal.Add(explain::DropNodeAffinity{requirement, false});
      if (requirement.operator_ == "In") Widen(requirement, refusal);
      if (const std::string* value = MeetingValue(requirement)) {
        Label(requirement.key, *value, refusal);
      }
    }
    for (const api::NodeSelectorRequirement& requirement : term.match_fields) {
      refusal.Add(explain::DropNodeAffinity{requirement, true});
    }
  }
}

void OfPodAffinity(const Refusal& refusal) {
  if (!refusal.pod().spec.affinity) return;
  DropTerms(refusal.pod().spec.affinity->pod_affinity, false, refusal);
  DropTerms(refusal.pod().spec.affinity->pod_anti_affinity, true, refusal);
}

void OfSpread(const Refusal& refusal) {
  const auto& constraints = refusal.pod().spec.topology_spread_constraints;
  for (const api::TopologySpreadConstraint& constraint : constraints) {
    if (constraint.when_unsatisfiable != kDoNotSchedule) continue;
    const std::string& key = constraint.topology_key;
    int32_t from = constraint.max_skew;
    for (const api::TopologySpreadConstraint& other : constraints) {
      if (other.when_unsatisfiable == kDoNotSchedule && other.topology_key == key) {
        from = std::min(from, other.max_skew);
      }
    }
    if (from < kAnySkew) refusal.Add(explain::RelaxSpread{key, from, kAnySkew});
    refusal.Add(explain::SpreadAnyway{key});
  }
}

void OfHostPorts(const Refusal& refusal) {
  DropPorts(refusal.pod().spec.containers, refusal);
  DropPorts(refusal.pod().spec.init_containers, refusal);
}

}  // namespace berth::fixes
