// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/in_tree/async.h"
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
//              BeginRemoval    the pod's reservation goes, too; EndRemoval once that is answered
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

  // A write is to take the consumer out of the claim's status.reservedFor. Until that is answered
  // no pod may count on the reservation, even where the latest version still has it. False: it is
  // so already.
  virtual bool BeginRemoval(std::string_view uid, std::string_view consumer_uid) = 0;
  // The write is answered, or not to be sent after all.
  virtual void EndRemoval(std::string_view uid, std::string_view consumer_uid) = 0;
  virtual bool IsBeingRemoved(std::string_view uid, std::string_view consumer_uid) const = 0;

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

// What became of a request about a claim.
struct ClaimAnswer {
  enum class Outcome : uint8_t {
    kDone,
    // The claim is no longer of the version that the write was made for. Nothing was done.
    kConflict,
    kNotFound,
    // Anything else, in the API server's words where it answered.
    kFailed,
    // No answer came, or one that leaves it open: the write may have been carried out.
    kUnknown,
  };

  Outcome outcome = Outcome::kDone;
  // kDone: the claim as it is now; nullptr where it was deleted.
  ClaimPtr claim = nullptr;
  std::string error = {};

  bool ok() const { return outcome == Outcome::kDone; }
};
using ClaimDone = std::function<void(ClaimAnswer)>;

// Reads and writes ResourceClaims; `done` is called on the binding thread, never inside the call.
// Nothing is tried again once it may have been carried out. A claim that is written is named by its
// namespace, name, uid and resourceVersion: where another version is there by now, the answer is
// kConflict. What of it is not changed keeps its bytes, whether it is read or not: a write sends
// the claim whole, from api::ResourceClaim::stored, and reads that first where the claim has none.
//
// Thread safety: any thread.
class ClaimWriter {
 public:
  virtual ~ClaimWriter() = default;

  virtual void Read(std::string_view namespace_, std::string_view name, ClaimDone done) = 0;
  // Adds kClaimFinalizer, or takes it away; nothing is sent where that is so already. It is taken
  // away whatever the claim's version is: after a conflict the claim is read and written again, up
  // to five times in all.
  virtual void AddFinalizer(const api::ResourceClaim& claim, ClaimDone done) = 0;
  virtual void RemoveFinalizer(const api::ResourceClaim& claim, ClaimDone done) = 0;
  // Makes the allocation and the consumers what they are in `claim`. An allocation that is there
  // does not become another one, but may get its timestamp; what drivers say of devices stays as
  // it is. Either goes where `claim` has none.
  virtual void WriteStatus(const api::ResourceClaim& claim, ClaimDone done) = 0;
  // Takes one consumer out of status.reservedFor, whatever the claim's version is: reads it, and
  // again after a conflict.
  virtual void RemoveReservation(const api::ResourceClaim& claim, std::string_view consumer_uid,
                                 ClaimDone done) = 0;
  // Makes a claim with these metadata and this spec, under a name that begins with `generate_name`.
  virtual void Create(const api::ResourceClaim& claim, std::string_view generate_name,
                      ClaimDone done) = 0;
  virtual void Delete(const api::ResourceClaim& claim, ClaimDone done) = 0;
  // Writes pod.status.extendedResourceClaimStatus.
  virtual void WriteExtendedResourceClaimStatus(const api::Pod& pod,
                                                const api::PodExtendedResourceClaimStatus& status,
                                                AsyncDone done) = 0;
  // Writes pod.status.nodeAllocatableResourceClaimStatuses: all of it, in place of what is there.
  virtual void WriteNodeAllocatableClaimStatuses(
      const api::Pod& pod, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses,
      AsyncDone done) = 0;
};

}  // namespace berth::inline in_tree
