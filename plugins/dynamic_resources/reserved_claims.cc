// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/reserved_claims.h"

namespace berth::plugins {

void ClaimHolders::Update(const ClaimTracker& claims) {
  const uint64_t generation = claims.generation();
  if (generation_ == generation) return;
  const auto change = [this](const ClaimPtr& before, const ClaimPtr& after) {
    if (before != nullptr) Release(before);
    if (after != nullptr) Hold(after);
  };
  if (!generation_ || !claims.ChangedSince(*generation_, change)) {
    for (const auto& [uid, claim] : holders_) change_(*claim, false);
    holders_.clear();
    claims.ForEachHolder([this](const ClaimPtr& claim) { Hold(claim); });
  }
  generation_ = generation;
}

void ClaimHolders::Hold(const ClaimPtr& claim) {
  change_(*claim, true);
  holders_[claim->metadata.uid] = claim;
}

void ClaimHolders::Release(const ClaimPtr& claim) {
  // The claim that was reported before: the one given now may be a copy.
  const auto held = holders_.find(claim->metadata.uid);
  if (held == holders_.end()) return;
  change_(*held->second, false);
  holders_.erase(held);
}

}  // namespace berth::plugins
