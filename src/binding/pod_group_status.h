// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "berth/api/scheduling.h"
#include "berth/time.h"
#include "src/client/api_client.h"

namespace berth::binding {

// Patches podgroups/status, as kube-scheduler does: a strategic merge patch of one condition,
// nothing when it says what is said already, and nothing that takes back a condition that became
// True.
//
// For each group at most one patch is under way; of those asked for meanwhile the newest is sent
// after it, but no failure in place of one that makes the condition True. What was sent counts as
// shown, until a newer version of the group has had time to show it: then that counts.
//
// Thread safety: any thread; the work is done on the executor's.
class PodGroupStatusPatcher {
 public:
  // `api` and `clock` must outlive the patcher.
  PodGroupStatusPatcher(client::ApiClient& api, const Clock& clock, uint64_t seed);
  // On the executor's thread, or once that has stopped.
  ~PodGroupStatusPatcher();
  PodGroupStatusPatcher(const PodGroupStatusPatcher&) = delete;
  PodGroupStatusPatcher& operator=(const PodGroupStatusPatcher&) = delete;

  // `group` is the newest version known. Without a last_transition_time the condition gets the
  // present one.
  void Patch(std::shared_ptr<const api::PodGroup> group, api::Condition condition);
  // The group is gone.
  void Forget(std::string uid);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::binding
