// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "berth/api/pod.h"
#include "src/api/writes.h"
#include "src/client/api_client.h"

namespace berth::binding {

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

  // nullopt: done, also where there was nothing to do. On the executor's thread, once.
  using Done = std::function<void(std::optional<client::ApiError>)>;

  // `pod` is the newest version known: the change is sent as a difference to its status. `done`
  // may be empty.
  void Patch(std::shared_ptr<const api::Pod> pod, api::PodStatusChange change, Done done = nullptr);
  Counts counts() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::binding
