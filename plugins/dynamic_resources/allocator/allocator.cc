// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/allocator.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "plugins/dynamic_resources/allocator/capacity.h"
#include "plugins/dynamic_resources/allocator/constraint_state.h"
#include "plugins/dynamic_resources/allocator/shortage.h"

namespace berth::plugins::dra {
namespace {

// A request that a node has enough devices for by itself, but not beside those before it.
struct CrowdedRequest {
  size_t claim = 0;
  // Which of the devices that would do are given to which request, which take more of a counter or
  // a capacity than is left, or do not meet a constraint, in words for people. "": this does not
  // tell.
  std::string problem = {};
};

using api::Quantity;

// How long one of the searches may take.
constexpr uint64_t kMostSteps = 100'000;

std::string AmountText(Quantity::Nanos amount, const Quantity& like) {
  return Quantity::FromNanos(amount, like.format()).ToCanonicalString();
}

// Why a device cannot be given to a request.
struct SharedObstacle {
  std::string kind;          // "is given to request a"; many of one kind are counted
  std::string many;          // "are given to request a"
  std::string example = {};  // "gpu-0 takes 40Gi of memory, 20Gi are left"
};

// The devices of a node as they are given to one request after the other.
class Room {
 public:
  Room(const ClaimsToAllocate& claims, const DeviceInventory& inventory)
      : claims_(claims), inventory_(inventory), constraints_(claims.constraints.size()) {
    for (size_t i = 0; i < constraints_.size(); ++i) {
      constraints_[i].Reset(claims.constraints[i].distinct,
                            inventory.features().list_type_attributes);
    }
    met_by_.resize(constraints_.size());
  }

  // Gives the device, which would do for the request in an empty room; nullopt: it is given.
  std::optional<SharedObstacle> Give(size_t claim, const RequestToAllocate& request,
                                     const PoolView& view, const ViewedDevice& viewed) {
    const api::Device& device = viewed.device();
    const bool shares = inventory_.features().consumable_capacity &&
                        device.allow_multiple_allocations.value_or(false);
    const auto given = given_.find(viewed.row);
    const bool is_given = given != given_.end();
    if (is_given && !shares && (!request.admin_access || given->second.claim == claim)) {
      return GivenTo(claim, given->second);
    }
    CapacityDemand demand;
    if (shares) {
      const Amounts* before = is_given ? &given->second.amounts : nullptr;
      if (auto obstacle = LacksCapacity(request, viewed, before, demand)) return obstacle;
    }
    const bool counted = shares && (is_given || inventory_.is_shared(viewed.row));
    if (!counted) {
      if (auto obstacle = LacksCounter(view, viewed)) return obstacle;
    }
    if (auto obstacle = BreaksConstraint(request, viewed)) return obstacle;
    if (!counted) TakeCounters(view, viewed);
    Given& entry = given_[viewed.row];
    if (!is_given) entry = {.claim = claim, .request = request.FullName()};
    entry.amounts.resize(demand.amounts.size());
    for (size_t i = 0; i < demand.amounts.size(); ++i) {
      entry.amounts[i] += demand.amounts[i].nanos();
    }
    return std::nullopt;
  }

 private:
  using Amounts = std::vector<Quantity::Nanos>;
  struct Given {
    size_t claim = 0;
    std::string request = {};
    Amounts amounts = {};  // of its capacities, for all of its shares
  };

  SharedObstacle GivenTo(size_t claim, const Given& given) const {
    std::string to = " given to request " + given.request;
    if (given.claim != claim) to += " of " + claims_.claims[given.claim].key;
    return {"is" + to, "are" + to};
  }

  std::optional<SharedObstacle> LacksCapacity(const RequestToAllocate& request,
                                              const ViewedDevice& viewed, const Amounts* before,
                                              CapacityDemand& demand) const {
    const api::Device& device = viewed.device();
    if (device.capacity.empty() && request.capacity == nullptr) return std::nullopt;
    ResolveDemand(request.capacity, device, inventory_.features().fractional_capacity_range,
                  demand);
    for (size_t i = 0; i < demand.amounts.size(); ++i) {
      const auto& [name, capacity] = device.capacity[i];
      Quantity::Nanos left = capacity.value.nanos();
      if (inventory_.is_shared(viewed.row)) left -= inventory_.consumed(viewed.row, name);
      if (before != nullptr && i < before->size()) left -= (*before)[i];
      if (demand.amounts[i].nanos() <= left) continue;
      return SharedObstacle{"has too little capacity left", "have too little capacity left",
                            device.name + " has " + AmountText(left, capacity.value) + " of " +
                                name + " left, " + demand.amounts[i].ToCanonicalString() +
                                " are asked for"};
    }
    return std::nullopt;
  }

  std::optional<SharedObstacle> LacksCounter(const PoolView& view, const ViewedDevice& viewed) {
    if (view.counters() == nullptr) return std::nullopt;
    const auto available = view.counters()->Available(inventory_, view.pool().held_version);
    const auto taken = counters_.find(&view);
    const auto uses = view.uses(viewed);
    size_t use = 0;
    for (const auto& consumption : viewed.device().consumes_counters) {
      for (const auto& [name, counter] : consumption.counters) {
        const CounterUse& of = uses[use++];
        Quantity::Nanos left = available[of.counter];
        if (taken != counters_.end()) left -= taken->second[of.counter];
        if (of.amount <= left) continue;
        return SharedObstacle{"takes more of a counter than is left",
                              "take more of a counter than is left",
                              viewed.device().name + " takes " + counter.value.ToCanonicalString() +
                                  " of " + consumption.counter_set + "/" + name + ", " +
                                  AmountText(left, counter.value) + " left"};
      }
    }
    return std::nullopt;
  }

  void TakeCounters(const PoolView& view, const ViewedDevice& viewed) {
    if (view.counters() == nullptr) return;
    Amounts& taken = counters_[&view];
    taken.resize(view.counters()->size());
    for (const CounterUse& use : view.uses(viewed)) taken[use.counter] += use.amount;
  }

  // Constraints over what a request derives are passed over.
  std::optional<SharedObstacle> BreaksConstraint(const RequestToAllocate& request,
                                                 const ViewedDevice& viewed) {
    std::vector<size_t> added;
    for (const RequestToAllocate::Constraint& applies : request.constraints) {
      if (applies.derived != nullptr) continue;
      const ConstraintToMeet& meet = claims_.constraints[applies.constraint];
      const api::DeviceAttribute* attribute =
          FindAttribute(viewed.device(), viewed.slice->spec().driver, meet.attribute);
      if (constraints_[applies.constraint].Add(attribute)) {
        added.push_back(applies.constraint);
        continue;
      }
      for (const size_t constraint : added) constraints_[constraint].Remove();
      const std::string name =
          (meet.distinct ? "distinctAttribute " : "matchAttribute ") + meet.attribute;
      const std::string& beside = met_by_[applies.constraint];
      const std::string rest = " not meet " + name + (beside.empty() ? "" : " beside " + beside);
      return SharedObstacle{"does" + rest, "do" + rest, DescribeAttribute(viewed, meet.attribute)};
    }
    for (const size_t constraint : added) {
      if (met_by_[constraint].empty()) met_by_[constraint] = viewed.device().name;
    }
    return std::nullopt;
  }

  const ClaimsToAllocate& claims_;
  const DeviceInventory& inventory_;
  std::map<DeviceRow, Given> given_;
  std::map<const PoolView*, Amounts> counters_;
  std::vector<ConstraintState> constraints_;
  std::vector<std::string> met_by_;  // the first device that each of them looked at
};

// The first so many requests, in the order of the claims.
ClaimsToAllocate FirstRequests(const ClaimsToAllocate& claims, size_t count) {
  ClaimsToAllocate first = claims;
  for (size_t i = 0; i < first.claims.size(); ++i) {
    auto& requests = first.claims[i].requests;
    if (requests.size() > count) requests.resize(count);
    count -= requests.size();
    if (count != 0) continue;
    first.claims.resize(i + 1);
  }
  return first;
}

struct SeenDevice {
  const PoolView* view = nullptr;
  const ViewedDevice* viewed = nullptr;
};

std::optional<SeenDevice> Find(const PoolsOfNode& pools, const ChosenDevice& chosen) {
  for (const auto& view : pools.pools) {
    for (const ViewedDevice& viewed : view->devices()) {
      if (viewed.slice == chosen.slice && viewed.index == chosen.index) {
        return SeenDevice{view.get(), &viewed};
      }
    }
  }
  return std::nullopt;
}

bool ReachesNode(const ViewedDevice& viewed, const api::Node& node) {
  return !viewed.slice->each_device_chooses() || viewed.nodes().Matches(node);
}

// "": as far as the room tells, it has enough.
std::string DescribeCrowd(size_t claim, const RequestToAllocate& request, const api::Node& node,
                          const PoolsOfNode& pools, const DeviceInventory& inventory,
                          DeviceExpressions& expressions, Room& room) {
  int64_t devices = 0;
  int64_t given = 0;
  std::vector<std::pair<SharedObstacle, int64_t>> obstacles;
  for (const auto& view : pools.pools) {
    for (const ViewedDevice& viewed : view->devices()) {
      if (!ReachesNode(viewed, node) || !WouldDo(request, viewed, inventory, expressions)) continue;
      ++devices;
      if (!request.all && given >= request.count) continue;
      auto obstacle = room.Give(claim, request, *view, viewed);
      if (!obstacle) {
        ++given;
        continue;
      }
      const auto known = std::ranges::find(obstacles, obstacle->kind,
                                           [](const auto& counted) { return counted.first.kind; });
      if (known == obstacles.end()) {
        obstacles.emplace_back(*std::move(obstacle), 1);
      } else {
        ++known->second;
      }
    }
  }
  if (obstacles.empty() || (!request.all && given >= request.count)) return "";
  std::string text = "request " + request.FullName() + ": of " +
                     Are(devices, "device that would do ", "devices that would do ") +
                     std::to_string(given) + (given == 1 ? " is" : " are") +
                     " left beside the requests before it, " +
                     (request.all ? "all are" : Are(request.count, "is", "are")) + " asked for";
  std::string_view before = ": ";
  for (const auto& [obstacle, count] : obstacles) {
    text.append(before).append(Are(count, obstacle.kind, obstacle.many));
    if (!obstacle.example.empty()) text += " (" + obstacle.example + ")";
    before = ", ";
  }
  return text;
}

// The first request, in the order of the claims, that cannot be satisfied together with those
// before it on a node where the claims cannot be allocated. What is left depends on one way to
// satisfy those before it, the first that the search finds.
//
// Searches once for each request: for explanations, not for scheduling.
CrowdedRequest FindCrowdedRequest(const ClaimsToAllocate& claims, const api::Node& node,
                                  const PoolsOfNode& pools, const DeviceInventory& inventory,
                                  DeviceExpressions& expressions) {
  Search search(inventory, expressions);
  NodeAllocation before;
  before.outcome = AllocationOutcome::kAllocated;
  size_t number = 0;
  for (size_t claim = 0; claim < claims.claims.size(); ++claim) {
    for (const ClaimToAllocate::Request& of_claim : claims.claims[claim].requests) {
      NodeAllocation found;
      search.Run(FirstRequests(claims, ++number), node, pools, kMostSteps, found);
      if (found.outcome == AllocationOutcome::kAllocated) {
        before = std::move(found);
        continue;
      }
      if (found.outcome != AllocationOutcome::kNone) return {claim};
      Room room(claims, inventory);
      for (const ChosenDevice& chosen : before.devices) {
        const auto seen = Find(pools, chosen);
        if (!seen ||
            room.Give(chosen.claim, claims.requests[chosen.request], *seen->view, *seen->viewed)) {
          return {claim};
        }
      }
      // Of alternatives the last is the one that asks for least.
      const RequestToAllocate& asked = claims.requests[of_claim.first + of_claim.count - 1];
      return {claim, DescribeCrowd(claim, asked, node, pools, inventory, expressions, room)};
    }
  }
  return {};
}

// What one of the claims lacks by itself; "": nothing.
std::string DescribeClaim(const ClaimsToAllocate& claims, size_t claim, const PoolsOfNode& pools,
                          const DeviceInventory& inventory, DeviceExpressions& expressions) {
  for (const ClaimToAllocate::Request& request : claims.claims[claim].requests) {
    // Of alternatives the last is the one that asks for least.
    const RequestToAllocate& asked = claims.requests[request.first + request.count - 1];
    std::string text = dra::DescribeShortage(asked, pools, inventory, expressions);
    if (!text.empty()) return text;
  }
  for (const ClaimToAllocate::Request& request : claims.claims[claim].requests) {
    for (const auto& constraint : claims.requests[request.first].constraints) {
      std::string text =
          dra::DescribeConstraint(claims, constraint.constraint, pools, inventory, expressions);
      if (!text.empty()) return text;
    }
  }
  return "";
}

}  // namespace

Allocator::Allocator(DeviceInventory& inventory, DeviceExpressions& expressions,
                     const AllocatorLimits& limits)
    : inventory_(inventory),
      expressions_(expressions),
      expression_table_(limits.answer_bytes),
      node_pools_(inventory),
      search_(inventory, expressions) {}

ClaimsToAllocate Allocator::Prepare(std::span<const api::ResourceClaim* const> claims,
                                    const FindDeviceClass& find_class) {
  if (expression_table_.full()) {
    expression_table_.ForgetOldest();
    inventory_.DropForgottenAnswers();
  }
  return ReadClaims(claims, find_class, inventory_.features(), expression_table_);
}

void Allocator::Allocate(const ClaimsToAllocate& claims, NodeRow row, const api::Node& node,
                         uint64_t max_steps, NodeAllocation& found) {
  search_.Run(claims, node, node_pools_.Find(row, node), max_steps, found);
}

std::string Allocator::DescribeShortage(const ClaimsToAllocate& claims, size_t claim, NodeRow row,
                                        const api::Node& node) {
  const PoolsOfNode& pools = node_pools_.Find(row, node);
  for (size_t i = 0; i < claims.claims.size(); ++i) {
    std::string text = DescribeClaim(claims, i, pools, inventory_, expressions_);
    if (text.empty()) continue;
    return i == claim ? text : DescribeClaim(claims, claim, pools, inventory_, expressions_);
  }
  CrowdedRequest crowded = FindCrowdedRequest(claims, node, pools, inventory_, expressions_);
  return crowded.claim == claim ? std::move(crowded.problem) : "";
}

std::string Allocator::DescribeInvalidPools(NodeRow row, const api::Node& node) {
  std::string text;
  for (const std::shared_ptr<PoolView>& view : node_pools_.Find(row, node).pools) {
    if (view->state() != PoolView::State::kInvalid) continue;
    text += (text.empty() ? "" : "; ") + view->pool().Id() + ": " + view->problem();
  }
  return text;
}

}  // namespace berth::plugins::dra
