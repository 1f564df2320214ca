// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "berth/in_tree/claim_tracker.h"
#include "berth/listers.h"
#include "src/base/string_map.h"

namespace berth::cache {

// The one ClaimTracker.
//
// Thread safety: the scheduling thread.
class ClaimTable final : public ClaimTracker {
 public:
  // Or as many as claims hold devices: who missed more reads those at no more cost. Each keeps two
  // versions of a claim alive.
  static constexpr size_t kRememberedChanges = 1u << 9;

  // `shown` has the same claims as Show() was given, and must outlive the table.
  explicit ClaimTable(const Listers& shown) : shown_(shown) {}

  // The API server has shown `claim`, or that it is gone.
  void Show(ClaimPtr claim);
  void Remove(const api::ResourceClaim& claim);

  ClaimPtr Find(std::string_view namespace_, std::string_view name) const override;
  ClaimPtr FindExtendedResourceClaim(const api::Pod& pod) const override;
  const api::AllocationResult* FindPending(std::string_view uid) const override;
  Result<void> AddPending(ClaimPtr claim, Existence existence) override;
  bool RemovePending(std::string_view uid, Sharers sharers) override;
  Result<void> Assume(ClaimPtr claim) override;
  bool BeginRemoval(std::string_view uid, std::string_view consumer_uid) override;
  void EndRemoval(std::string_view uid, std::string_view consumer_uid) override;
  bool IsBeingRemoved(std::string_view uid, std::string_view consumer_uid) const override;
  uint64_t generation() const override { return generation_; }
  bool ChangedSince(uint64_t generation, const Change& visit) const override;
  void ForEachHolder(const std::function<void(const ClaimPtr&)>& visit) const override;

  size_t assumed() const { return assumed_; }
  size_t pending() const { return pending_.size(); }

 private:
  // Both nullptr: never.
  struct Known {
    ClaimPtr shown;
    ClaimPtr assumed;

    const ClaimPtr& latest() const { return assumed != nullptr ? assumed : shown; }
  };
  struct Pending {
    ClaimPtr claim;
    int sharers = 0;
  };
  struct Step {
    uint64_t generation = 0;
    ClaimPtr before;
    ClaimPtr after;
  };

  const Known* FindKnown(std::string_view namespace_, std::string_view name) const;
  void DropAssumed(Known& known);
  // Brings `holders_` up to date for a uid, of which `latest`, which may be nullptr, is the latest
  // version.
  void Recount(const std::string& uid, const ClaimPtr& latest);

  const Listers& shown_;
  base::StringMap<Known> known_;       // by ObjectMeta::Key()
  base::StringMap<Pending> pending_;   // by uid
  base::StringMap<ClaimPtr> holders_;  // by uid: claims with an allocation, pending ones, too
  std::set<std::pair<std::string, std::string>> removals_;  // uids of claims and consumers
  size_t assumed_ = 0;
  std::deque<Step> steps_;
  uint64_t generation_ = 0;
  uint64_t forgotten_ = 0;  // the newest step that is not remembered
};

}  // namespace berth::cache
