// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/api/pod.h"
#include "berth/in_tree/async.h"
#include "src/client/api_client.h"

namespace berth::binding {

// Writes pod.status.nodeAllocatableResourceClaimStatuses: all of it, in place of what is there,
// unless the pod's uid is another by now. As kube-scheduler does, what is not empty is tried again
// where a StatusWrite is. `done` is called on the binding thread; the Code is
// kError where it failed, in the API server's words. Any thread.
void WriteClaimStatuses(client::ApiClient& api, const api::Pod& pod,
                        const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses,
                        AsyncDone done);

}  // namespace berth::binding
