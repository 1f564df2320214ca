// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "berth/api/pod.h"
#include "berth/plugin.h"
#include "src/binding/pod_status.h"
#include "src/client/api_client.h"

namespace berth::binding {

// Evicts pods as kube-scheduler's preemption does: sets the condition DisruptionTarget, then
// deletes the pod with its own grace period. The deletion names the UID, so that a pod recreated
// under the same name is spared.
//
// Thread safety: any thread.
class PodEvictor {
 public:
  // Both must outlive the evictor, and every eviction in hand.
  PodEvictor(client::ApiClient& api, PodStatusPatcher& status_patcher)
      : api_(api), status_patcher_(status_patcher) {}

  // `message` is the condition's. `done` gets Success once the pod is being deleted, and also when
  // there is no such pod; it is called on the executor's thread.
  void Evict(std::shared_ptr<const api::Pod> pod, std::string message, AsyncDone done);

 private:
  client::ApiClient& api_;
  PodStatusPatcher& status_patcher_;
};

}  // namespace berth::binding
