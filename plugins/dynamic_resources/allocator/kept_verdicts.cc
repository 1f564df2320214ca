// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/kept_verdicts.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace berth::plugins::dra {
namespace {

// How many sets of claims verdicts are kept for; the one used longest ago goes first.
constexpr size_t kMostKept = 64;

bool AreAlike(const RequestToAllocate& a, const RequestToAllocate& b) {
  const auto same_selector = [](const auto& x, const auto& y) {
    return x.expression == y.expression;
  };
  const auto same_constraint = [](const auto& x, const auto& y) {
    return x.constraint == y.constraint && x.derived == y.derived;
  };
  const bool same_capacity = a.capacity == nullptr || b.capacity == nullptr
                                 ? a.capacity == b.capacity
                                 : *a.capacity == *b.capacity;
  return a.all == b.all && a.count == b.count && a.admin_access == b.admin_access &&
         same_capacity && std::ranges::equal(a.tolerations, b.tolerations) &&
         std::ranges::equal(a.selectors, b.selectors, same_selector) &&
         std::ranges::equal(a.constraints, b.constraints, same_constraint);
}

bool AreAlike(const ClaimToAllocate& a, const ClaimToAllocate& b) {
  return std::ranges::equal(a.requests, b.requests, [](const auto& x, const auto& y) {
    return x.first == y.first && x.count == y.count && x.first_available == y.first_available;
  });
}

// Whether every node has the same verdict for both. Neither HasError().
bool AreAlike(const ClaimsToAllocate& a, const ClaimsToAllocate& b) {
  const auto alike = [](const auto& x, const auto& y) { return AreAlike(x, y); };
  const auto same_constraint = [](const auto& x, const auto& y) {
    return x.distinct == y.distinct && x.attribute == y.attribute;
  };
  return std::ranges::equal(a.claims, b.claims, alike) &&
         std::ranges::equal(a.requests, b.requests, alike) &&
         std::ranges::equal(a.constraints, b.constraints, same_constraint);
}

bool HasError(const ClaimsToAllocate& claims) {
  const auto of_claim = [](const ClaimToAllocate& claim) {
    return !claim.constraint_error.empty() ||
           std::ranges::any_of(claim.requests,
                               [](const auto& request) { return !request.error.empty(); });
  };
  return std::ranges::any_of(claims.claims, of_claim) ||
         std::ranges::any_of(claims.requests,
                             [](const auto& request) { return !request.error.empty(); });
}

}  // namespace

const NodeVerdicts& KeptVerdicts::Find(const ClaimsToAllocate& claims, const Snapshot& snapshot,
                                       const Steps& steps) {
  steps_left_ = steps.all_nodes;
  last_steps_ = 0;
  const bool has_error = HasError(claims);
  Kept* kept = has_error ? nullptr : &FindKept(claims);
  NodeVerdicts& verdicts = has_error ? not_kept_ : kept->verdicts;
  const ClaimsToAllocate& to_search = has_error ? claims : kept->prepared;
  bool complete = true;
  if (kept != nullptr && FindChanged(*kept, snapshot)) {
    for (const NodeRow row : changed_)
      complete &= Search(to_search, row, snapshot, steps, verdicts);
  } else {
    verdicts.allocated.Assign(snapshot.num_rows(), false);
    verdicts.failed.Assign(snapshot.num_rows(), false);
    verdicts.scores.assign(snapshot.num_rows(), 0);
    snapshot.nodes().ForEach(
        [&](NodeRow row) { complete &= Search(to_search, row, snapshot, steps, verdicts); });
  }
  if (kept != nullptr) {
    kept->is_filled = complete;
    kept->snapshot_generation = snapshot.generation();
    kept->slices_version = inventory_.slices_version();
    kept->held_version = inventory_.held_version();
  }
  return verdicts;
}

size_t KeptVerdicts::kept_bytes() const {
  size_t bytes = 0;
  for (const auto& kept : kept_) {
    bytes += sizeof(Kept) + kept->verdicts.scores.capacity() * sizeof(uint32_t) +
             kept->verdicts.allocated.size() / 8 + kept->verdicts.failed.size() / 8 +
             kept->prepared.requests.capacity() * sizeof(RequestToAllocate);
  }
  return bytes;
}

KeptVerdicts::Kept& KeptVerdicts::FindKept(const ClaimsToAllocate& claims) {
  ++uses_;
  for (const auto& kept : kept_) {
    if (!AreAlike(kept->prepared, claims)) continue;
    kept->last_use = uses_;
    return *kept;
  }
  if (kept_.size() >= kMostKept) {
    kept_.erase(
        std::ranges::min_element(kept_, {}, [](const auto& kept) { return kept->last_use; }));
  }
  auto made = std::make_unique<Kept>();
  made->last_use = uses_;
  made->prepared = claims;
  // Spans and pointers into the pod's claims would outlive them.
  made->tolerations.reserve(claims.requests.size());
  made->capacities.reserve(claims.requests.size());
  for (RequestToAllocate& request : made->prepared.requests) {
    request.device_class = nullptr;
    request.tolerations =
        made->tolerations.emplace_back(request.tolerations.begin(), request.tolerations.end());
    if (request.capacity != nullptr)
      request.capacity = &made->capacities.emplace_back(*request.capacity);
  }
  for (ClaimToAllocate& claim : made->prepared.claims) claim.claim = nullptr;
  return *kept_.emplace_back(std::move(made));
}

// Fills changed_ with the nodes whose verdict may be another; false: any may be.
bool KeptVerdicts::FindChanged(Kept& kept, const Snapshot& snapshot) {
  changed_.clear();
  if (!kept.is_filled) return false;
  const auto add = [&](std::string_view node) {
    if (const NodeRow row = snapshot.FindNode(node); row != kNoRow) changed_.push_back(row);
  };
  if (!inventory_.SlicesChangedSince(kept.slices_version, add)) return false;
  if (!snapshot.NodesChangedSince(kept.snapshot_generation, changed_)) return false;
  if (!inventory_.HeldChangedSince(kept.held_version, changed_)) return false;
  kept.verdicts.allocated.Resize(snapshot.num_rows());
  kept.verdicts.failed.Resize(snapshot.num_rows());
  kept.verdicts.scores.resize(snapshot.num_rows(), 0);
  std::ranges::sort(changed_);
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  return true;
}

// False: there are no steps left for the node.
bool KeptVerdicts::Search(const ClaimsToAllocate& claims, NodeRow row, const Snapshot& snapshot,
                          const Steps& steps, NodeVerdicts& verdicts) {
  if (row >= snapshot.num_rows()) return true;
  verdicts.allocated.Clear(row);
  verdicts.failed.Clear(row);
  verdicts.scores[row] = 0;
  if (!snapshot.nodes().Test(row)) return true;
  const uint64_t limit = std::min(steps.each_node, steps_left_);
  ++num_searches_;
  allocator_.Allocate(claims, row, snapshot.node(row), limit, found_);
  steps_left_ -= std::min(found_.steps, steps_left_);
  last_steps_ += found_.steps;
  switch (found_.outcome) {
    case AllocationOutcome::kAllocated:
      verdicts.allocated.Set(row);
      verdicts.scores[row] = static_cast<uint32_t>(found_.score);
      return true;
    case AllocationOutcome::kOutOfSteps:
      verdicts.failed.Set(row);
      return limit == steps.each_node;
    case AllocationOutcome::kError:
      verdicts.failed.Set(row);
      return true;
    case AllocationOutcome::kNone:
    case AllocationOutcome::kInvalidPools:
      return true;
  }
  return true;
}

}  // namespace berth::plugins::dra
