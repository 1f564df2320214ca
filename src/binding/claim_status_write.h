// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "berth/in_tree/points.h"
#include "src/client/api_client.h"

namespace berth::binding {

// Writes pod.status.nodeAllocatableResourceClaimStatuses: all of it, in place of what is there,
// unless the pod's uid is another by now. As kube-scheduler does, what is not empty is tried again
// where a StatusWrite is. `done` is called on the binding thread; the Code is
// kError where it failed, in the API server's words. Any thread.
void WriteClaimStatuses(client::ApiClient& api, const api::Pod& pod,
                        const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses,
                        AsyncDone done);

// The scheduler's own PreBind, behind those of the plugins: writes the NodeAllocatableClaims of the
// pod's cycle, so that the kubelet finds them when the pod comes.
class ClaimStatusWrite final : public PreBindPlugin {
 public:
  // `api` must outlive it.
  explicit ClaimStatusWrite(client::ApiClient& api) : api_(&api) {}

  Status PreBindPreFlight(CycleState&, const PodInfo&, std::string_view) override {
    return Status::Success();
  }
  void PreBind(CycleState& state, const PodInfo& pod, std::string_view node_name,
               Cancellation& cancellation, AsyncDone done) override;

 private:
  client::ApiClient* api_;
};

}  // namespace berth::binding
