// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "berth/api/pod.h"
#include "berth/in_tree/async.h"
#include "src/client/api_client.h"

namespace berth::binding {

// Evicts pods as kube-scheduler's preemption does: sets the condition DisruptionTarget, then
// deletes the pod with its own grace period. The deletion names the UID, so that a pod recreated
// under the same name is spared.
//
// All requests have the priority of evictions, and none is dropped: another pod waits for them.
//
// Thread safety: any thread.
class PodEvictor {
 public:
  // `api` and `clock` must outlive the evictor.
  PodEvictor(client::ApiClient& api, const Clock& clock, uint64_t seed);
  // Evictions in hand end without an answer. On the executor's thread, or once that has stopped.
  ~PodEvictor();

  // `message` is the condition's. `done` gets Success once the pod is being deleted, and also when
  // there is no such pod; it is called on the executor's thread.
  void Evict(std::shared_ptr<const api::Pod> pod, std::string message, AsyncDone done);
  // By the Eviction subresource, with which the API server asks the pod's PodDisruptionBudgets and
  // sets the condition itself. `done` as above; Unschedulable where a budget allows it not now.
  void Ask(std::shared_ptr<const api::Pod> pod, AsyncDone done);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::binding
