// SPDX-License-Identifier: Apache-2.0
#include "plugins/topology_placement_generator/topology_placement_generator.h"

#include <utility>
#include <vector>

#include "berth/field_errors.h"

namespace berth::plugins {
namespace {

// The API allows one constraint; "": there is none.
std::string_view TopologyKey(const AnyPodGroup& group) {
  const auto& constraints = group.scheduling_constraints();
  if (!constraints || constraints->topology.empty()) return "";
  return constraints->topology.front().key;
}

}  // namespace

GeneratePlacementsResult TopologyPlacementGenerator::GeneratePlacements(CycleState& state,
                                                                        const PodGroupInfo& group,
                                                                        const Snapshot& snapshot,
                                                                        const Placement& parent) {
  const std::string_view key = TopologyKey(group.object);
  if (key.empty()) return {.status = {}, .placements = {parent}};
  const std::shared_ptr<const Topology> topology = snapshot.GetTopology(key);
  const Result<DomainId> required = DomainOfScheduled(group, snapshot, *topology);
  if (!required) {
    return {state.reasons().Error("cannot determine domain for already scheduled pods: " +
                                  required.error().message)};
  }
  std::vector<NodeSet> nodes_of(topology->values.size());
  parent.nodes.ForEach([&](NodeRow row) {
    const DomainId domain = topology->domain_of[row];
    if (domain == kNoDomain || (*required != kNoDomain && domain != *required)) return;
    NodeSet& nodes = nodes_of[domain];
    if (nodes.size() == 0) nodes.Resize(parent.nodes.size());
    nodes.Set(row);
  });
  GeneratePlacementsResult result;
  for (const DomainId domain : topology->by_value) {
    if (nodes_of[domain].size() == 0) continue;
    result.placements.push_back({topology->values[domain], std::move(nodes_of[domain])});
  }
  return result;
}

Result<DomainId> TopologyPlacementGenerator::DomainOfScheduled(const PodGroupInfo& group,
                                                               const Snapshot& snapshot,
                                                               const Topology& topology) const {
  std::vector<const PodGroupState::Member*> members;
  group.ForEachPodGroup([&](const api::PodGroup& pod_group) {
    const api::ObjectMeta& metadata = pod_group.metadata;
    const PodGroupState* pods = handle_.pod_groups().Find(metadata.namespace_, metadata.name);
    if (pods == nullptr) return;
    for (const auto& [uid, member] : pods->members) members.push_back(&member);
  });
  DomainId found = kNoDomain;
  for (const PodGroupState::Member* known : members) {
    const PodGroupState::Member& member = *known;
    if (!member.placed) continue;
    const std::string pod = member.pod->metadata.Key();
    const NodeRow row = snapshot.FindNode(member.node_name);
    if (row == kNoRow) {
      return Fail("getting node for pod " + pod + ": nodeinfo not found for node name " +
                  Quoted(member.node_name));
    }
    const DomainId domain = topology.domain_of[row];
    if (domain == kNoDomain) return Fail("no topology domain found for pod " + pod);
    if (found != kNoDomain && found != domain) {
      return Fail("more than 1 domain found for pod group: " + topology.values[found] + ", " +
                  topology.values[domain]);
    }
    found = domain;
  }
  return found;
}

}  // namespace berth::plugins
