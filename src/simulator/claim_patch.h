// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "berth/api/resource_claim.h"
#include "berth/config_value.h"
#include "berth/result.h"

namespace berth::simulator {

// What a patch says of a ResourceClaim, as src/api/claim_patches.h writes them: a JSON patch that
// sets the status, or a strategic merge patch that takes consumers out of status.reservedFor.
// Finalizers are passed over.
struct ClaimPatch {
  // Of the claim that it is for; "": any.
  std::string uid;
  std::string resource_version;
  std::optional<api::ResourceClaimStatus> status;
  // By uid.
  std::vector<std::string> removed_consumers;

  void Apply(api::ResourceClaim& claim) const;
};

// Errors: another operation, or a status that cannot be read.
//
// Thread safety: any thread.
Result<ClaimPatch> ReadClaimPatch(const ConfigValue& body);

}  // namespace berth::simulator
