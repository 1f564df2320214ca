// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/search.h"

#include <algorithm>
#include <utility>

namespace berth::plugins::dra {

void Search::Run(const ClaimsToAllocate& claims, const api::Node& node, const PoolsOfNode& pools,
                 uint64_t max_steps, NodeAllocation& found) {
  claims_ = &claims;
  node_ = &node;
  pools_ = &pools;
  max_steps_ = max_steps;
  steps_ = 0;
  outcome_ = AllocationOutcome::kNone;
  error_.clear();

  Branch branch = Begin() ? Descend({}, 0, 0) : Branch::kStopped;
  while (branch != Branch::kFound && branch != Branch::kStopped) {
    if (branch == Branch::kOpen) {
      branch = Resume();
    } else if (frames_.empty()) {
      break;
    } else {
      branch = Unwind(branch);
    }
  }
  if (branch == Branch::kTooMany) Fail("allocation max size exceeded");
  Finish(branch == Branch::kFound, found);
}

bool Search::Begin() {
  frames_.clear();
  amounts_.clear();
  all_devices_.clear();
  requests_.resize(std::max(requests_.size(), claims_->requests.size()));
  num_results_.assign(claims_->claims.size(), 0);
  constraints_.resize(std::max(constraints_.size(), claims_->constraints.size()));
  for (size_t i = 0; i < claims_->constraints.size(); ++i)
    constraints_[i].Reset(claims_->constraints[i].distinct, features_.list_type_attributes);
  if (num_taken_.size() < pools_->num_devices()) {
    num_taken_.resize(pools_->num_devices(), 0);
    last_share_.resize(pools_->num_devices(), kNoShare);
  }
  for (auto& counters : counters_) counters.clear();
  counters_.resize(std::max(counters_.size(), pools_->pools.size()));
  if (features_.compatibility_groups) {
    for (auto& groups : groups_) groups.clear();
    groups_.resize(std::max(groups_.size(), pools_->pools.size()));
  }

  if (!pools_->error.empty()) return Fail(pools_->error);
  for (size_t claim = 0; claim < claims_->claims.size(); ++claim) {
    int64_t least = 0;
    for (const ClaimToAllocate::Request& request : claims_->claims[claim].requests)
      if (!BeginRequest(claim, request, least)) return false;
    const std::string& problem = claims_->claims[claim].constraint_error;
    if (!problem.empty()) return Fail(problem);
  }
  return true;
}

// How many devices the request wants at least is added to `least`, the claim's.
bool Search::BeginRequest(size_t claim, const ClaimToAllocate::Request& of_claim, int64_t& least) {
  if (!of_claim.error.empty()) return Fail(of_claim.error);
  int64_t least_of_request = 0;
  for (size_t i = 0; i < of_claim.count; ++i) {
    const RequestToAllocate& request = claims_->requests[of_claim.first + i];
    RequestOnNode& on_node = requests_[of_claim.first + i];
    if (!request.error.empty()) return Fail(request.error);
    on_node.slice = nullptr;
    on_node.num_devices = request.count;
    on_node.all_begin = all_devices_.size();
    if (request.all) {
      if (!FindAllDevices(claim, of_claim.first + i)) return false;
      on_node.num_devices = static_cast<int64_t>(all_devices_.size() - on_node.all_begin);
    }
    if (i == 0 || on_node.num_devices < least_of_request) least_of_request = on_node.num_devices;
  }
  if (least_of_request > kMostResults - least) {
    const RequestToAllocate& request = claims_->requests[of_claim.first];
    return Fail("claim " + claims_->claims[claim].key + ", request " +
                (request.parent.empty() ? request.name : request.parent) + ": adding " +
                std::to_string(least_of_request) + " devices exceeds the claim limit of " +
                std::to_string(kMostResults) + ", with " + std::to_string(least) +
                " already accounted for");
  }
  least += least_of_request;
  return true;
}

// What "all" devices are: those that the request could be given, were none in use.
bool Search::FindAllDevices(size_t claim, size_t request_index) {
  const RequestToAllocate& request = claims_->requests[request_index];
  const auto where = [&] {
    return "claim " + claims_->claims[claim].key + ", request " + request.name + ": ";
  };
  for (uint32_t pool = 0; pool < pools_->pools.size(); ++pool) {
    const PoolView& view = *pools_->pools[pool];
    if (view.state() != PoolView::State::kUsable) {
      return Fail(where() + "asks for all devices, but resource pool " + view.pool().Id() +
                  std::string(view.state() == PoolView::State::kIncomplete
                                  ? " is currently being updated"
                                  : kPoolIsInvalid));
    }
    for (uint32_t i = 0; i < view.devices().size(); ++i) {
      if (!Step()) return false;
      const ViewedDevice& viewed = view.devices()[i];
      if (!IsSelectable(claim, request_index, viewed)) {
        if (stopped()) return false;
        continue;
      }
      if (features_.consumable_capacity && !CouldHaveCapacity(request, viewed)) {
        if (demand_.kind != CapacityDemand::Kind::kError) continue;
        return Fail(where() + "checking capacity for device " + viewed.device().name + ": " +
                    demand_.error);
      }
      all_devices_.push_back({pool, pools_->first_device[pool] + i});
    }
  }
  return true;
}

Search::Branch Search::Descend(Position at, uint32_t pool, uint32_t first_device) {
  while (true) {
    if (!Step()) return Branch::kStopped;
    if (at.claim == claims_->claims.size()) return Branch::kFound;
    const ClaimToAllocate& claim = claims_->claims[at.claim];
    if (at.request == claim.requests.size()) {
      frames_.push_back({.kind = Frame::Kind::kClaim, .position = at});
      at = {.claim = at.claim + 1};
      pool = first_device = 0;
      continue;
    }
    const ClaimToAllocate::Request& of_claim = claim.requests[at.request];
    if (of_claim.first_available && !at.in_subrequest) {
      frames_.push_back({.kind = Frame::Kind::kSubRequests, .position = at});
      return Branch::kOpen;
    }
    const size_t request = RequestAt(at);
    const RequestOnNode& on_node = requests_[request];
    const bool all = claims_->requests[request].all;
    if (all && on_node.num_devices == 0) return Branch::kNone;
    if (at.device >= on_node.num_devices) {
      at = {.claim = at.claim, .request = at.request + 1};
      pool = first_device = 0;
      continue;
    }
    if (on_node.num_devices - at.device > kMostResults - num_results_[at.claim])
      return Branch::kTooMany;
    if (!all) {
      frames_.push_back(
          {.kind = Frame::Kind::kDevice, .pool = pool, .next = first_device, .position = at});
      return Branch::kOpen;
    }
    const Place place = all_devices_[on_node.all_begin + static_cast<size_t>(at.device)];
    if (!TakeOneOfAll(at, place)) return stopped() ? Branch::kStopped : Branch::kNone;
    frames_.push_back({.kind = Frame::Kind::kAllDevices, .position = at});
    ++at.device;
  }
}

Search::Branch Search::Resume() {
  Frame& frame = frames_.back();
  if (frame.kind == Frame::Kind::kDevice) return ResumeDevices();
  Position at = frame.position;
  if (frame.next == claims_->claims[at.claim].requests[at.request].count) {
    const Branch branch = frame.all_too_many ? Branch::kTooMany : Branch::kNone;
    frames_.pop_back();
    return branch;
  }
  at.subrequest = frame.next++;
  at.in_subrequest = true;
  return Descend(at, 0, 0);
}

Search::Branch Search::ResumeDevices() {
  Position at = frames_.back().position;
  const size_t request_index = RequestAt(at);
  const RequestToAllocate& request = claims_->requests[request_index];
  uint32_t device = frames_.back().next;
  for (uint32_t pool = frames_.back().pool; pool < pools_->pools.size(); ++pool) {
    const std::span<const ViewedDevice> devices = pools_->pools[pool]->devices();
    for (; device < pools_->first_device[pool + 1]; ++device) {
      if (!Step()) return Branch::kStopped;
      const ViewedDevice& viewed = devices[device - pools_->first_device[pool]];
      const Place place{pool, device};
      if (!IsAvailable(request, viewed, device, at.claim)) continue;
      if (!IsSelectable(at.claim, request_index, viewed) ||
          !HasCapacity(at, viewed, device, "checking") || !Take(at, place, viewed, false)) {
        if (stopped()) return Branch::kStopped;
        continue;
      }
      frames_.back().pool = pool;
      frames_.back().next = device + 1;
      ++at.device;
      return Descend(at, pool, device + 1);
    }
  }
  frames_.pop_back();
  return Branch::kNone;
}

Search::Branch Search::Unwind(Branch branch) {
  switch (frames_.back().kind) {
    case Frame::Kind::kClaim:
      // With other devices for earlier claims a smaller subrequest may do here.
      frames_.pop_back();
      return Branch::kNone;
    case Frame::Kind::kSubRequests:
      if (branch == Branch::kNone) frames_.back().all_too_many = false;
      return Branch::kOpen;
    case Frame::Kind::kAllDevices:
      // Their order does not matter: there is nothing else to try.
      PutBack();
      frames_.pop_back();
      return branch;
    case Frame::Kind::kDevice:
      PutBack();
      if (branch == Branch::kNone) return Branch::kOpen;
      frames_.pop_back();
      return branch;
  }
  return branch;
}

void Search::Finish(bool is_found, NodeAllocation& found) {
  found.devices.clear();
  found.chosen_requests.clear();
  found.score = 0;
  found.steps = steps_;
  if (is_found) {
    outcome_ = AllocationOutcome::kAllocated;
    for (const Taken& taken : taken_) {
      const ViewedDevice& viewed = DeviceAt(taken.place);
      found.devices.push_back({taken.claim, taken.request, viewed.slice, viewed.index});
    }
    ListChosenRequests(found);
  } else if (!stopped() && pools_->has_invalid) {
    outcome_ = AllocationOutcome::kInvalidPools;
    error_ = kInvalidPoolsMessage;
  }
  while (!taken_.empty()) PutBack();
  found.outcome = outcome_;
  found.error = error_;
}

void Search::ListChosenRequests(NodeAllocation& found) const {
  std::vector<size_t>& chosen = found.chosen_requests;
  for (const ClaimToAllocate& claim : claims_->claims)
    for (const ClaimToAllocate::Request& request : claim.requests) chosen.push_back(request.first);
  size_t first_of_claim = 0;
  size_t claim = 0;
  for (const Frame& frame : frames_) {
    if (frame.kind != Frame::Kind::kSubRequests) continue;
    for (; claim < frame.position.claim; ++claim)
      first_of_claim += claims_->claims[claim].requests.size();
    const size_t subrequest = frame.next - 1;
    size_t& request = chosen[first_of_claim + frame.position.request];
    request += subrequest;
    if (requests_[request].num_devices > 0)
      found.score += kMostSubRequests - static_cast<int64_t>(subrequest);
  }
}

bool Search::Step(uint64_t steps) {
  steps_ += steps;
  if (steps_ <= max_steps_) return true;
  outcome_ = AllocationOutcome::kOutOfSteps;
  return false;
}

bool Search::StopForBudget() {
  outcome_ = AllocationOutcome::kOutOfSteps;
  return false;
}

bool Search::Fail(std::string error) {
  outcome_ = AllocationOutcome::kError;
  error_ = std::move(error);
  return false;
}

}  // namespace berth::plugins::dra
