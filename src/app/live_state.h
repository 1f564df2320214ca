// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"
#include "berth/time.h"
#include "src/scheduler/scheduler.h"

// What the running scheduler knows, as JSON.
//
// Thread safety: the scheduling thread.
namespace berth::app {

// Every node, or the one of that name: what it can hold, what is requested of it, and its pods.
// Errors: no such node.
Result<std::string> CacheJson(scheduler::Scheduler& scheduler, std::string_view node_name);

// Every pod that waits, in the order in which they will leave, with what is known of its attempts.
std::string QueueJson(scheduler::Scheduler& scheduler);

// What a verdict document shows besides.
struct Previews {
  bool preemption = false;  // whom an eviction would hit
  bool claims = false;      // which volumes each node would give
};

// The verdict document of a pending pod ("namespace/name"), as `berth explain -o json` prints it.
// Errors: it is unknown, or has a node already.
Result<std::string> ExplainJson(scheduler::Scheduler& scheduler, std::string_view pod_key,
                                const Previews& previews);

}  // namespace berth::app
