// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "src/explain/pod_position.h"
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

// Where a pod of ours without a confirmed node stands; nullopt: there is no such pod. Looks up, and
// goes through nothing.
std::optional<explain::PodPosition> PositionOf(scheduler::Scheduler& scheduler,
                                               std::string_view pod_key);

}  // namespace berth::app
