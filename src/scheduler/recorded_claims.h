// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "berth/in_tree/claim_tracker.h"

namespace berth::scheduler {

class Tape;

// The ClaimTracker of plugins: a tape gets what they change within a query that cannot be
// repeated.
//
// Thread safety: the scheduling thread.
class RecordedClaims final : public ClaimTracker {
 public:
  // All must outlive it; `tape` may be nullptr.
  RecordedClaims(ClaimTracker& claims, Tape* tape, const bool& in_query)
      : claims_(claims), tape_(tape), in_query_(in_query) {}

  ClaimPtr Find(std::string_view namespace_, std::string_view name) const override {
    return claims_.Find(namespace_, name);
  }
  ClaimPtr FindExtendedResourceClaim(const api::Pod& pod) const override {
    return claims_.FindExtendedResourceClaim(pod);
  }
  const api::AllocationResult* FindPending(std::string_view uid) const override {
    return claims_.FindPending(uid);
  }
  Result<void> AddPending(ClaimPtr claim, Existence existence) override {
    return claims_.AddPending(std::move(claim), existence);
  }
  bool RemovePending(std::string_view uid, Sharers sharers) override;
  Result<void> Assume(ClaimPtr claim) override;
  void Restore(std::string_view namespace_, std::string_view name) override {
    claims_.Restore(namespace_, name);
  }
  uint64_t generation() const override { return claims_.generation(); }
  bool ChangedSince(uint64_t generation, const Change& visit) const override {
    return claims_.ChangedSince(generation, visit);
  }
  void ForEachHolder(const std::function<void(const ClaimPtr&)>& visit) const override {
    claims_.ForEachHolder(visit);
  }

 private:
  ClaimTracker& claims_;
  Tape* const tape_;
  const bool& in_query_;
};

}  // namespace berth::scheduler
