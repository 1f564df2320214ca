// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/recorded_claims.h"

#include "src/scheduler/tape.h"

namespace berth::scheduler {

bool RecordedClaims::RemovePending(std::string_view uid, Sharers sharers) {
  if (tape_ != nullptr && in_query_) tape_->PendingClaimRemoved(uid, sharers);
  return claims_.RemovePending(uid, sharers);
}

Result<void> RecordedClaims::Assume(ClaimPtr claim) {
  if (tape_ != nullptr && in_query_) tape_->ClaimAssumed(claim);
  return claims_.Assume(std::move(claim));
}

}  // namespace berth::scheduler
