// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "berth/api/pod.h"
#include "src/client/api_client.h"

namespace berth::binding {

// What is to change in a pod's status.
struct PodStatusChange {
  // The newest known version; the change is sent as a difference to its status.
  std::shared_ptr<const api::Pod> pod;
  // lastTransitionTime is filled in: the old one when the condition's status stays the same.
  std::optional<api::PodCondition> condition;
  // nullopt leaves it alone, "" clears it.
  std::optional<std::string> nominated_node_name;
  // Optional. Called once on the executor's thread: nullopt when done, also with nothing to do.
  std::function<void(std::optional<client::ApiError>)> done;
};

// Patches pods/status, as kube-scheduler does: a strategic merge patch of what differs, nothing
// when nothing does; 409, 500, 503 and a refused connection are tried four times in all.
//
// For each pod at most one patch is in flight, and what is asked for meanwhile is merged into one
// more: of two values for one condition, or for the nominated node, the newest counts. At most
// 10,000 pods have a patch in hand; beyond that changes are dropped and counted.
//
// Thread safety: any thread; the work is done on the executor's.
class PodStatusPatcher {
 public:
  struct Counts {
    uint64_t sent = 0;
    uint64_t unchanged = 0;
    uint64_t failed = 0;
    uint64_t dropped = 0;
  };

  // `api` and `clock` must outlive the patcher.
  PodStatusPatcher(client::ApiClient& api, const Clock& clock, uint64_t seed);
  // Forgets what is in hand; a patch in flight is left to itself. On the executor's thread, or
  // once that has stopped.
  ~PodStatusPatcher();
  PodStatusPatcher(const PodStatusPatcher&) = delete;
  PodStatusPatcher& operator=(const PodStatusPatcher&) = delete;

  void Patch(PodStatusChange change);
  Counts counts() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::binding
