// SPDX-License-Identifier: Apache-2.0
// What DynamicResources says about a pod on nodes.
#include <algorithm>
#include <string>
#include <utility>

#include "plugins/dynamic_resources/claim_binding.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/extended_resources.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kNodeOperations = "DRAOptionalNodeOperations";

// A pod whose extended resources tell more groups of nodes apart is judged node by node.
constexpr size_t kMostGroups = 8;

bool SkipsNodeOperations(const api::AllocationResult& allocation) {
  return std::ranges::any_of(allocation.devices.results, [](const auto& result) {
    return !result.skip_node_operations.empty();
  });
}

// The claim of extended resources is of an earlier cycle: PostFilter deletes it.
bool IsLeftOver(const PodDevices& devices) {
  return devices.has_extended && !devices.extended()->claim->spec.devices.requests.empty();
}

// Expressions spend from a cycle's budget while this lives.
class BudgetOfExpressions {
 public:
  BudgetOfExpressions(dra::DeviceExpressions& expressions, CycleBudget& budget)
      : expressions_(expressions) {
    expressions_.SetBudget(&budget);
  }
  ~BudgetOfExpressions() { expressions_.SetBudget(nullptr); }
  BudgetOfExpressions(const BudgetOfExpressions&) = delete;
  BudgetOfExpressions& operator=(const BudgetOfExpressions&) = delete;

 private:
  dra::DeviceExpressions& expressions_;
};

// Leaves the nodes on which the claim's allocation can be used by its selector.
void KeepReached(const PodDeviceClaim& used, const Snapshot& snapshot, NodeSet& nodes) {
  if (!used.nodes) return;
  NodeSet reached(snapshot.num_rows());
  used.nodes->MatchNodes(snapshot, reached);
  nodes &= reached;
}

bool Declares(const api::Node& node, std::string_view feature) {
  const auto& declared = node.status.declared_features;
  return std::ranges::find(declared, feature) != declared.end();
}

}  // namespace

bool DynamicResources::IsReachable(const PodDeviceClaim& used, const api::Node& node) {
  if (used.nodes && !used.nodes->Matches(node)) return false;
  const auto& allocation = used.claim->status.allocation;
  return !allocation || !SkipsNodeOperations(*allocation) || Declares(node, kNodeOperations);
}

const PodDeviceClaim* DynamicResources::FindPendingOutOfReach(const PodDevices& devices,
                                                              const api::Node& node) {
  if (Declares(node, kNodeOperations)) return nullptr;
  const auto found = std::ranges::find_if(devices.claims, [](const PodDeviceClaim& used) {
    return used.pending != nullptr && SkipsNodeOperations(*used.pending);
  });
  return found == devices.claims.end() ? nullptr : &*found;
}

bool DynamicResources::IsUsable(const PodDeviceClaim& used) const {
  if (!handle_.features().dra_device_binding_conditions || used.pending != nullptr) return true;
  const auto ready = IsReadyForBinding(*used.claim);
  if (!ready) return false;
  return *ready ||
         !IsBindingTimedOut(*used.claim, args_.binding_timeout, handle_.clock().WallNow());
}

bool DynamicResources::IsAvailable(const PodDeviceClaim& used, const api::Node& node) const {
  return !used.allocated() || (IsReachable(used, node) && IsUsable(used));
}

bool DynamicResources::NoteAvailable(PodDevices& devices, const api::Node& node) const {
  bool all = true;
  for (size_t i = 0; i < devices.claims.size(); ++i) {
    if (IsAvailable(devices.claims[i], node)) continue;
    all = false;
    devices.unavailable.resize(devices.claims.size());
    devices.unavailable[i] = true;
  }
  return all;
}

void DynamicResources::KeepAvailable(PodDevices& devices, const Snapshot& snapshot,
                                     NodeSet& nodes) const {
  const auto skips_pending = [](const PodDeviceClaim& used) {
    return used.pending != nullptr && SkipsNodeOperations(*used.pending);
  };
  if (std::ranges::any_of(devices.claims, skips_pending)) {
    nodes.Filter(
        [&](NodeRow row) { return FindPendingOutOfReach(devices, snapshot.node(row)) == nullptr; });
  }
  const NodeSet asked = nodes;
  NodeSet available;
  for (size_t i = 0; i < devices.claims.size(); ++i) {
    const PodDeviceClaim& used = devices.claims[i];
    if (!used.allocated()) continue;
    const auto& allocation = used.claim->status.allocation;
    available = asked;
    if (!IsUsable(used)) {
      available.Assign(asked.size(), false);
    } else if (allocation && SkipsNodeOperations(*allocation)) {
      available.Filter([&](NodeRow row) { return IsReachable(used, snapshot.node(row)); });
    } else {
      KeepReached(used, snapshot, available);
    }
    if (available == asked) continue;
    devices.unavailable.resize(devices.claims.size());
    devices.unavailable[i] = true;
    nodes &= available;
  }
}

Status DynamicResources::Filter(const CycleState& state, const PodInfo& pod,
                                const NodeView& node) const {
  PodDevices& devices = *state.Read<PodDevicesState>().devices;
  const NodeVerdict verdict = Judge(devices, *pod.pod, node, *found_, state.budget());
  if (verdict.ok()) return Status::Success();
  if (verdict.reason == kNotAvailable) return not_available_;
  ReasonSet reasons = {verdict.reason};
  reasons.insert(reasons.end(), verdict.further.begin(), verdict.further.end());
  return state.reasons().Make(verdict.code, reasons);
}

Status DynamicResources::FilterNodes(const CycleState& state, const PodInfo& pod,
                                     const Snapshot& snapshot, NodeSet& nodes) const {
  PodDevices& devices = *state.Read<PodDevicesState>().devices;
  // What is known of all nodes at once goes by devices alone.
  if (!CountsOnNodes() && !IsLeftOver(devices)) {
    if (!devices.must_allocate) {
      KeepAvailable(devices, snapshot, nodes);
      return Status::Success();
    }
    const dra::NodeVerdicts* verdicts = FindVerdicts(devices, pod, snapshot, state.budget());
    NodeSet failed = nodes;
    if (verdicts != nullptr) failed &= verdicts->failed;
    if (verdicts != nullptr && failed.Empty()) {
      nodes &= verdicts->allocated;
      KeepAvailable(devices, snapshot, nodes);
      return Status::Success();
    }
  }
  // Filter has the words of what failed, and may have had the time that all nodes together lack.
  return FilterEach(nodes,
                    [&](NodeRow row) { return Filter(state, pod, NodeView(snapshot, row)); });
}

const dra::NodeVerdicts* DynamicResources::FindVerdicts(PodDevices& devices, const PodInfo& pod,
                                                        const Snapshot& snapshot,
                                                        CycleBudget& budget) const {
  if (!devices.must_allocate || IsLeftOver(devices)) return nullptr;
  devices_->UpdateAllocated();
  // All nodes together may take as long as one: what is left is asked one by one.
  const BudgetOfExpressions spending(*expressions_, budget);
  const auto find = [&](uint64_t from_devices) -> const dra::NodeVerdicts& {
    const uint64_t most = std::min(max_steps_, budget.steps_left());
    const dra::NodeVerdicts& found = verdicts_->Find(
        *ClaimsFor(devices, *pod.pod, from_devices).prepared, snapshot, {most, most});
    budget.Spend(std::min(verdicts_->last_steps(), budget.steps_left()));
    return found;
  };
  if (!devices.has_extended) return &find(0);
  const auto groups = GroupByResources(devices, snapshot);
  const auto needs_nothing = [&](const NodesOfResources& group) {
    return group.from_devices == 0 && devices.num_user_claims() == 0;
  };
  if (groups.size() > kMostGroups) return nullptr;
  if (groups.size() == 1 && !needs_nothing(groups[0]) && groups[0].nodes == snapshot.nodes()) {
    return &find(groups[0].from_devices);
  }
  dra::NodeVerdicts& all = *joined_;
  all.allocated.Assign(snapshot.num_rows(), false);
  all.failed.Assign(snapshot.num_rows(), false);
  all.scores.assign(snapshot.num_rows(), 0);
  for (const NodesOfResources& group : groups) {
    if (needs_nothing(group)) {
      all.allocated |= group.nodes;
      continue;
    }
    const dra::NodeVerdicts& found = find(group.from_devices);
    group.nodes.ForEach([&](NodeRow row) {
      if (found.allocated.Test(row)) all.allocated.Set(row);
      if (found.failed.Test(row)) all.failed.Set(row);
      all.scores[row] = found.scores[row];
    });
  }
  return &all;
}

// Nodes that can never have the pod are in none of the groups.
std::vector<DynamicResources::NodesOfResources> DynamicResources::GroupByResources(
    const PodDevices& devices, const Snapshot& snapshot) const {
  std::vector<NodesOfResources> groups = {{0, snapshot.nodes()}};
  for (size_t i = 0; i < devices.extended_resources.size(); ++i) {
    const auto& [name, id] = devices.extended_resources[i];
    const Column amounts = snapshot.allocatable(id);
    if (devices_->FindClassOf(name) == nullptr) {
      for (NodesOfResources& group : groups) {
        group.nodes.Filter([&](NodeRow row) {
          return amounts[row] != 0 ||
                 api::Find(snapshot.node(row).status.allocatable, name) != nullptr;
        });
      }
      continue;
    }
    for (size_t g = 0, known = groups.size(); g < known; ++g) {
      NodeSet by_devices = groups[g].nodes;
      if (!amounts.zero()) by_devices.Filter([&](NodeRow row) { return amounts[row] == 0; });
      groups[g].nodes -= by_devices;
      groups.push_back({groups[g].from_devices | (uint64_t{1} << i), std::move(by_devices)});
    }
    std::erase_if(groups, [](const NodesOfResources& group) { return group.nodes.Empty(); });
    if (groups.size() > kMostGroups) break;
  }
  return groups;
}

std::optional<uint64_t> DynamicResources::ResourcesFromDevices(const PodDevices& devices,
                                                               const api::Node& node) const {
  uint64_t from_devices = 0;
  if (!devices.has_extended) return from_devices;
  for (size_t i = 0; i < devices.extended_resources.size(); ++i) {
    const std::string& name = devices.extended_resources[i].first;
    const api::Quantity* amount = api::Find(node.status.allocatable, name);
    const bool by_class = devices_->FindClassOf(name) != nullptr;
    if (by_class && (amount == nullptr || amount->Value() == 0)) {
      from_devices |= uint64_t{1} << i;
    } else if (amount == nullptr) {
      return std::nullopt;
    }
  }
  return from_devices;
}

const NodeClaims& DynamicResources::ClaimsFor(PodDevices& devices, const api::Pod& pod,
                                              uint64_t from_devices) const {
  const auto [known, is_new] = devices.by_resources.try_emplace(from_devices);
  NodeClaims& asked = known->second;
  if (!is_new) return asked;
  if (from_devices != 0) {
    std::vector<std::pair<std::string, std::string>> resources;
    for (size_t i = 0; i < devices.extended_resources.size(); ++i) {
      if ((from_devices >> i & 1) == 0) continue;
      const std::string& name = devices.extended_resources[i].first;
      resources.emplace_back(name, devices_->FindClassOf(name)->metadata.name);
    }
    ExtendedRequests requests = MakeExtendedRequests(pod, resources);
    auto claim = std::make_shared<api::ResourceClaim>(*devices.extended()->claim);
    claim->spec.devices.requests = std::move(requests.requests);
    asked.extended = std::move(claim);
    asked.mappings = std::move(requests.mappings);
  }
  for (const PodDeviceClaim& used : devices.claims) {
    if (used.allocated()) continue;
    const bool extended = &used == devices.extended();
    asked.claims.push_back(extended && asked.extended != nullptr ? asked.extended : used.claim);
  }
  std::vector<const api::ResourceClaim*> claims;
  for (const ClaimPtr& claim : asked.claims) claims.push_back(claim.get());
  asked.prepared = devices_->allocator().Prepare(claims, [this](std::string_view name) {
    return handle_.listers().Find<api::DeviceClass>(name);
  });
  return asked;
}

DynamicResources::NodeVerdict DynamicResources::Judge(PodDevices& devices, const api::Pod& pod,
                                                      const NodeView& node,
                                                      dra::NodeAllocation& found,
                                                      CycleBudget& budget, Room room) const {
  constexpr Code kNever = Code::kUnschedulableAndUnresolvable;
  const NodeClaims* asked = nullptr;
  if (IsLeftOver(devices)) {
    return {kNever, "cannot schedule extended resource claim"};
  }
  if (devices.must_allocate) {
    const auto from_devices = ResourcesFromDevices(devices, node.node());
    if (!from_devices) return {kNever, "cannot fit resource"};
    asked = &ClaimsFor(devices, pod, *from_devices);
    if (asked->extended == nullptr && devices.num_user_claims() == 0) return {};
  }
  const bool counts = CountsOnNodes();
  if (counts) {
    if (std::string why = WhyNotShared(devices, pod, node.node()); !why.empty()) {
      return {kNever, std::move(why)};
    }
  }
  if (const PodDeviceClaim* pending = FindPendingOutOfReach(devices, node.node())) {
    return {kNever, "resource claim " + pending->claim->metadata.Key() +
                        " allocation requires DRAOptionalNodeOperations feature on the node"};
  }
  if (asked != nullptr) {
    devices_->UpdateAllocated();
    const BudgetOfExpressions spending(*expressions_, budget);
    const uint64_t most = std::min(max_steps_, budget.steps_left());
    devices_->allocator().Allocate(*asked->prepared, node.row(), node.node(), most, found);
    budget.Spend(found.steps);
    switch (found.outcome) {
      case dra::AllocationOutcome::kAllocated:
        break;
      case dra::AllocationOutcome::kNone:
        return {kNever, std::string(kNoDevices)};
      case dra::AllocationOutcome::kInvalidPools:
        return {kNever, found.error};
      case dra::AllocationOutcome::kOutOfSteps:
        if (budget.spent()) return {Code::kError, budget.Message()};
        return {Code::kError,
                "node " + node.node().metadata.name + ": timed out trying to allocate devices"};
      case dra::AllocationOutcome::kError:
        return {Code::kError, found.error};
    }
  }
  if (counts && room == Room::kAsked) {
    NodeVerdict verdict = CheckRoom(devices, pod, node, asked, found);
    if (!verdict.ok()) return verdict;
  }
  if (!NoteAvailable(devices, node.node())) return {kNever, std::string(kNotAvailable)};
  return {.asked = asked};
}

}  // namespace berth::plugins
