// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/result.h"

namespace berth::inline in_tree {

using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;

// ResourceClaims as the decisions and writes made so far leave them. All profiles share them, so
// that no device is given away twice.
//
//   Reserve:  AddPending       the claim is going to be allocated so; its devices are taken
//   PreBind:  Assume           the API server has accepted a write; its answer is newer than what
//                              has been shown, and counts until that has caught up
//             RemovePending    the devices stay taken by the claim as it is now
//   Unreserve: RemovePending   the devices are free again, unless the claim as it is now has them
//
// A claim is *latest* as it was assumed, if it was and nothing newer has been shown, else as shown.
//
// Thread safety: the scheduling thread.
class ClaimTracker {
 public:
  virtual ~ClaimTracker() = default;

  // The latest version; nullptr: there is no such claim.
  virtual ClaimPtr Find(std::string_view namespace_, std::string_view name) const = 0;
  // The latest version of the claim that stands for the pod's extended resources, or nullptr.
  virtual ClaimPtr FindExtendedResourceClaim(const api::Pod& pod) const = 0;

  // What the claim is being allocated, or nullptr. Good until the next call that changes something.
  virtual const api::AllocationResult* FindPending(std::string_view uid) const = 0;
  // `claim` is what the claim of its uid will be once it is written, with an allocation. Where that
  // uid is pending already, one more pod shares what is pending, and `claim` is passed over;
  // nothing becomes pending where the latest version is allocated. kToBeMade: there is no such
  // claim yet, and the uid is the caller's own. Error: there is no such claim.
  enum class Existence : uint8_t { kExists, kToBeMade };
  virtual Result<void> AddPending(ClaimPtr claim, Existence existence) = 0;
  // One pod no longer shares what is pending; kAll: it is written. Whether that ended it.
  enum class Sharers : uint8_t { kOne, kAll };
  virtual bool RemovePending(std::string_view uid, Sharers sharers) = 0;

  // `claim` is what the API server answered to a write. Error: there is no such claim, or what has
  // been shown is newer.
  virtual Result<void> Assume(ClaimPtr claim) = 0;

  // What holds devices: of each claim the latest version, or what is pending where that has no
  // allocation. The number grows with each change of that.
  virtual uint64_t generation() const = 0;
  using Change = std::function<void(const ClaimPtr& before, const ClaimPtr& after)>;
  // Calls visit for what has changed after `generation`, in order: `before` held devices that it
  // holds no more, `after` holds them since; either may be nullptr. False, without a call: it is
  // not known any more.
  virtual bool ChangedSince(uint64_t generation, const Change& visit) const = 0;
  virtual void ForEachHolder(const std::function<void(const ClaimPtr&)>& visit) const = 0;
};

}  // namespace berth::inline in_tree
