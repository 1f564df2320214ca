// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/api/resource_claim.h"
#include "berth/in_tree/async.h"
#include "berth/in_tree/claim_tracker.h"

namespace berth::inline in_tree {

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
