// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/api/pod.h"
#include "berth/in_tree/async.h"
#include "berth/in_tree/claim_tracker.h"
#include "src/client/api_client.h"

namespace berth::binding {

// Writes pod.status.nodeAllocatableResourceClaimStatuses: all of it, in place of what is there,
// unless the pod's uid is another by now. As kube-scheduler does, what is not empty is tried again
// where a StatusWrite is. `done` is called on the binding thread; the Code is
// kError where it failed, in the API server's words. Any thread.
void WriteClaimStatuses(client::ApiClient& api, const api::Pod& pod,
                        const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses,
                        AsyncDone done);

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

// What Handle::WriteAssumed needs: one PATCH, which the API server refuses unless the object is
// still of the resourceVersion that it is given with. Never tried again once it may have been
// carried out. `done` is called on the executor's thread.
//
// Thread safety: the executor's thread.
void WriteAssumed(client::ApiClient& api, const api::PersistentVolume& volume,
                  Cancellation& cancellation, AsyncDone done);
void WriteAssumed(client::ApiClient& api, const api::PersistentVolumeClaim& claim,
                  Cancellation& cancellation, AsyncDone done);

}  // namespace berth::binding
