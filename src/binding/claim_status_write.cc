// SPDX-License-Identifier: Apache-2.0
#include "src/binding/claim_status_write.h"

#include <utility>

#include "src/api/claim_bodies.h"
#include "src/binding/paths.h"
#include "src/binding/status_write.h"

namespace berth::binding {

void WriteClaimStatuses(client::ApiClient& api, const api::Pod& pod,
                        const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses,
                        AsyncDone done) {
  std::string body = api::NodeAllocatableClaimStatusesPatch(pod, statuses);
  if (!statuses.empty()) {
    PatchPodBeingBound(api, pod, std::move(body), api::kMergePatchContentType, std::move(done));
    return;
  }
  // Sent once: later it might take back what the pod's next attempt has written.
  client::Request request;
  request.verb = client::Verb::kPatch;
  request.priority = client::Priority::kBind;
  request.path = PodPath(pod.metadata.namespace_, pod.metadata.name, "/status");
  request.content_type = api::kMergePatchContentType;
  request.body = std::move(body);
  api.Send(std::move(request), [done = std::move(done)](const client::ResponseResult& result) {
    done(result ? AsyncStatus() : AsyncStatus{Code::kError, Text(result.error())});
  });
}

}  // namespace berth::binding
