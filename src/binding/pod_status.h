// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "berth/api/pod.h"
#include "src/api/writes.h"
#include "src/client/api_client.h"

namespace berth::binding {

// Patches pods/status, as kube-scheduler does: a strategic merge patch of what differs, nothing
// when nothing does; see StatusWrite for what is tried again.
//
//   Patch() -> waiting: one patch a pod, in the order in which the pods came -> under way (32)
//
// For each pod at most one patch is under way. What is asked for meanwhile is merged into the one
// that waits: of two values for one condition, or for the nominated node, the newest counts. None
// is dropped, since autoscalers read conditions; so there are at most as many as pods that neither
// DropCondition() nor Forget() was called for. A condition with a nomination does not wait: it is
// sent at once, with the priority of the evictions that it belongs to.
//
// A PodScheduled condition that fails because of the way, the server or our credentials, and not
// because of what it says, is kept, too: unlike kube-scheduler, where it stays unwritten until the
// pod's next attempt, it is sent again after 1, 2, 4, up to 40 seconds, ten times, unless something
// newer comes before.
//
// Thread safety: any thread; the work is done on the executor's.
class PodStatusPatcher {
 public:
  struct Counts {
    uint64_t sent = 0;
    uint64_t unchanged = 0;
    uint64_t failed = 0;
    uint64_t withdrawn = 0;  // by DropCondition() or Forget()
  };

  // `api` and `clock` must outlive the patcher.
  PodStatusPatcher(client::ApiClient& api, const Clock& clock, uint64_t seed);
  // Forgets what is in hand; a patch in flight is left to itself. On the executor's thread, or
  // once that has stopped.
  ~PodStatusPatcher();
  PodStatusPatcher(const PodStatusPatcher&) = delete;
  PodStatusPatcher& operator=(const PodStatusPatcher&) = delete;

  // nullopt: done, also where there was nothing to do, or not any more; else why the first time
  // failed. On the executor's thread, once.
  using Done = std::function<void(std::optional<client::ApiError>)>;

  // `pod` is the newest version known: the change is sent as a difference to its status. `done`
  // may be empty.
  void Patch(std::shared_ptr<const api::Pod> pod, api::PodStatusChange change, Done done = nullptr);
  // The pod's bind begins: a PodScheduled condition that is not written yet would be
  // untrue by then and is not written any more. A nomination is.
  void DropCondition(std::string_view pod_uid);
  // The pod is gone or has its node: what is not written yet is not written any more.
  void Forget(std::string_view pod_uid);
  Counts counts() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::binding
