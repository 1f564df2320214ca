// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/gang_search.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "src/framework/pod_group_runtime.h"

namespace berth::scheduler {
namespace {

using AttemptResult = MemberAttempt::Result;

// What the pods ask for most of, as a part of what the largest node has of it.
class Shares {
 public:
  Shares(const cache::Cache& cache, const NodeSet* placement)
      : cache_(cache), nodes_(placement == nullptr ? cache.nodes() : *placement) {}

  double Of(const PodInfo& pod) {
    const Resources& requests = pod.requests;
    double share = std::max({Share(kCpu, requests.milli_cpu), Share(kMemory, requests.memory),
                             Share(kEphemeralStorage, requests.ephemeral_storage)});
    for (const auto& [id, amount] : requests.scalars) share = std::max(share, Share(id, amount));
    return share;
  }

 private:
  double Share(ResourceId id, int64_t amount) {
    if (amount <= 0) return 0;
    const auto [known, is_new] = largest_.try_emplace(id, 0);
    if (is_new) {
      const Column allocatable = cache_.allocatable(id);
      nodes_.ForEach(
          [&](NodeRow row) { known->second = std::max(known->second, allocatable[row]); });
    }
    // What no node has is asked for first.
    return known->second == 0 ? 2.0
                              : static_cast<double>(amount) / static_cast<double>(known->second);
  }

  const cache::Cache& cache_;
  const NodeSet& nodes_;
  std::map<ResourceId, int64_t> largest_;
};

}  // namespace

bool GangSearch::MayHelp(const PodGroupAttempt& group) {
  const auto tried = [](const MemberAttempt& member) {
    return member.result != AttemptResult::kUntried;
  };
  if (!group.object->spec.scheduling_policy.gang || std::ranges::none_of(group.members, tried)) {
    return false;
  }
  const PodInfo& first = *group.members.front().attempt.info();
  return std::ranges::any_of(group.members, [&](const MemberAttempt& member) {
    const PodInfo& pod = *member.attempt.info();
    return pod.pod_class == kNoPodClass || pod.pod_class != first.pod_class;
  });
}

GroupVerdict GangSearch::Run(PodGroupAttempt& group, const NodeSet* placement) {
  size_ = group.members.size();
  SortBySize(group, placement);
  std::set<std::vector<size_t>> tried;
  Outcome outcome = Outcome::kDoesNotFit;
  while (outcome == Outcome::kDoesNotFit && tried.insert(order_).second) {
    outcome = Try(group, placement, false);
    if (outcome != Outcome::kDoesNotFit) break;
    // Who found no node comes first the next time.
    const auto failed = std::ranges::find(order_, failed_);
    std::rotate(order_.begin(), failed, failed + 1);
  }
  if (outcome == Outcome::kDoesNotFit) outcome = Try(group, placement, true);
  if (outcome == Outcome::kFits) return {};
  if (outcome == Outcome::kError) return {.code = Code::kError, .reasons = {error_}};
  return {.code = Code::kUnschedulable, .reasons = {}};
}

GangSearch::Outcome GangSearch::Try(PodGroupAttempt& group, const NodeSet* placement, bool back) {
  framework::Cycle cycle;
  if (!group.preview) cycle.observer = &state_.observer;
  const api::ObjectMeta& metadata = group.object->metadata;
  const PodGroupState* known = state_.pod_groups.Find(metadata.namespace_, metadata.name);
  const size_t before = known == nullptr ? 0 : known->scheduled;
  members_.Begin(group);
  ruled_.assign(order_.size(), std::nullopt);
  depth_ = 0;
  Status status;
  while (depth_ < order_.size()) {
    if (steps_ == 0) {
      members_.TakeBack(group);
      return Outcome::kOutOfSteps;
    }
    --steps_;
    MemberAttempt& member = group.members[order_[depth_]];
    const NodeSet* nodes = placement;
    if (ruled_[depth_]) {
      left_ = placement == nullptr ? state_.cache.nodes() : *placement;
      left_ -= *ruled_[depth_];
      nodes = &left_;
    }
    members_.TryMember(group, order_[depth_], nodes);
    ++depth_;
    if (member.result == AttemptResult::kError) {
      error_ = "failed to schedule other pod from a pod group: " + member.failure.message;
      members_.TakeBack(group);
      return Outcome::kError;
    }
    const size_t placed = static_cast<size_t>(
        std::ranges::count(group.members, AttemptResult::kPlaced, &MemberAttempt::result));
    status = framework::RunPlacementFeasible(*group.profile, cycle, {.pod_group = group.object},
                                             {before + placed, order_.size() - depth_});
    if (status.ok() || status.wait()) continue;
    if (status.code() == Code::kError) {
      error_ = "failed to evaluate placement feasibility: " + status.message();
      members_.TakeBack(group);
      return Outcome::kError;
    }
    if (!ruled_[depth_ - 1]) Note(placed, member);
    failed_ = order_[depth_ - 1];
    if (!back || !StepBack(group)) {
      members_.TakeBack(group);
      return Outcome::kDoesNotFit;
    }
  }
  if (status.ok()) return Outcome::kFits;
  members_.TakeBack(group);
  return Outcome::kDoesNotFit;
}

bool GangSearch::StepBack(PodGroupAttempt& group) {
  while (depth_ > 0) {
    --depth_;
    const MemberAttempt& member = group.members[order_[depth_]];
    const bool placed = member.result == AttemptResult::kPlaced;
    const NodeRow row = placed ? state_.cache.FindNode(member.node_name) : kNoRow;
    members_.TakeBackLast(group);
    if (depth_ + 1 < ruled_.size()) ruled_[depth_ + 1].reset();
    if (!placed) continue;
    if (!ruled_[depth_]) ruled_[depth_].emplace(state_.cache.num_rows());
    ruled_[depth_]->Set(row);
    return true;
  }
  return false;
}

void GangSearch::SortBySize(const PodGroupAttempt& group, const NodeSet* placement) {
  Shares shares(state_.cache, placement);
  std::vector<double> size;
  for (const MemberAttempt& member : group.members) {
    size.push_back(shares.Of(*member.attempt.info()));
  }
  order_.resize(group.members.size());
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::ranges::stable_sort(order_, [&size](size_t a, size_t b) { return size[a] > size[b]; });
}

void GangSearch::Note(size_t placed, const MemberAttempt& missing) {
  if (!missing_.empty() && placed <= best_) return;
  best_ = placed;
  missing_ = missing.attempt.pod().metadata.Key() + ": " + missing.failure.message;
}

std::string GangSearch::NearestMiss() const {
  if (missing_.empty()) return "";
  return "in other orders at most " + std::to_string(best_) + " of " + std::to_string(size_) +
         " pods fit, but not " + missing_;
}

}  // namespace berth::scheduler
