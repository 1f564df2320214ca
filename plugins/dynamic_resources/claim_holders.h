// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "berth/in_tree/claim_tracker.h"

namespace berth::plugins {

// Follows which claims hold devices, for one that counts them.
//
// Thread safety: the scheduling thread.
class ClaimHolders {
 public:
  // Called for an allocated claim once when it begins to hold its devices, and once, in the same
  // version, when it holds them no more.
  using Change = std::function<void(const api::ResourceClaim& claim, bool holds)>;
  explicit ClaimHolders(Change change) : change_(std::move(change)) {}
  ClaimHolders(const ClaimHolders&) = delete;
  ClaimHolders& operator=(const ClaimHolders&) = delete;

  // Tells of all that has changed since the last call.
  void Update(const ClaimTracker& claims);

 private:
  void Hold(const ClaimPtr& claim);
  void Release(const ClaimPtr& claim);

  const Change change_;
  std::optional<uint64_t> generation_;
  absl::flat_hash_map<std::string, ClaimPtr> holders_;  // by uid
};

}  // namespace berth::plugins
