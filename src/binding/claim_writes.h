// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "berth/in_tree/claim_tracker.h"
#include "src/binding/claim_status_write.h"
#include "src/client/api_client.h"

namespace berth::binding {

// The ClaimWriter of all profiles.
//
// Thread safety: any thread.
class ClaimWrites final : public ClaimWriter {
 public:
  // `api` must outlive it.
  explicit ClaimWrites(client::ApiClient& api) : api_(api) {}

  void Read(std::string_view namespace_, std::string_view name, ClaimDone done) override;
  void AddFinalizer(const api::ResourceClaim& claim, ClaimDone done) override;
  void RemoveFinalizer(const api::ResourceClaim& claim, ClaimDone done) override;
  void WriteStatus(const api::ResourceClaim& claim, ClaimDone done) override;
  void RemoveReservation(const api::ResourceClaim& claim, std::string_view consumer_uid,
                         ClaimDone done) override;
  void Create(const api::ResourceClaim& claim, std::string_view generate_name,
              ClaimDone done) override;
  void Delete(const api::ResourceClaim& claim, ClaimDone done) override;
  void WriteExtendedResourceClaimStatus(const api::Pod& pod,
                                        const api::PodExtendedResourceClaimStatus& status,
                                        AsyncDone done) override;
  void WriteNodeAllocatableClaimStatuses(
      const api::Pod& pod, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses,
      AsyncDone done) override {
    WriteClaimStatuses(api_, pod, statuses, std::move(done));
  }

 private:
  client::ApiClient& api_;
};

}  // namespace berth::binding
