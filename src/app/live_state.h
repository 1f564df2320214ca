// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "src/explain/fix.h"
#include "src/explain/standing.h"
#include "src/scheduler/scheduler.h"

// What a scheduler knows, as JSON.
//
// Thread safety: the thread that owns the scheduler.
namespace berth::app {

// Every node, or the one of that name: what it can hold, what is requested of it, and its pods.
// Errors: no such node.
Result<std::string> CacheJson(scheduler::Scheduler& scheduler, std::string_view node_name);

// Every pod that waits, in the order in which they will leave, with what is known of its attempts.
std::string QueueJson(scheduler::Scheduler& scheduler);

// What a verdict shows besides, and how.
struct ExplainOptions {
  bool preemption = false;  // whom an eviction would hit
  bool claims = false;      // which volumes each node would give
  bool table = false;       // for people to read, not as a document
};

// Where a pod of ours without a confirmed node stands; nullopt: there is no such pod. Looks up, and
// goes through nothing.
std::optional<explain::Standing> StandingOf(scheduler::Scheduler& scheduler,
                                            std::string_view pod_key);

// The verdict of a pod that the scheduler knows as pending, as `berth explain` prints it; `fixes`
// may be nullptr.
std::string ExplainPending(scheduler::Scheduler& scheduler,
                           const std::shared_ptr<const api::Pod>& pod,
                           const ExplainOptions& options, const explain::Standing& standing,
                           const explain::Fixes* fixes = nullptr);

}  // namespace berth::app
