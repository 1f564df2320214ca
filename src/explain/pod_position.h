// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/time.h"
#include "src/base/json.h"

namespace berth::explain {

// Where a pod stands with the scheduler that runs: what no picture of a cluster tells.
struct PodPosition {
  // activeQ, backoffQ, unschedulable or gated; of a pod that has a node, what it waits for: Permit,
  // PreBind, Bind, or BindUnconfirmed. "": it is in none of them.
  std::string_view place;
  // Off: another replica leads, and knows where the pod stands; nothing else is known of it.
  bool leads = true;
  int attempts = 0;
  std::optional<Duration> backoff_left{};
  std::string gating_plugin{};
  // Who rejected the last attempt.
  std::vector<std::string> unschedulable_plugins{};
  std::vector<std::string> pending_plugins{};
  // The event that last took it from the unschedulable pods, and how long ago; "": none has.
  std::string woken_by{};
  Duration woken_ago{};
  std::string nominated_node{};
  // Of a pod that waits for Permit or its bind.
  std::string node{};
  std::vector<std::string> objectors{};  // the plugins that Permit waits for
};

// Adds the members of the document (docs/explain.md) that tell of it.
void AddPosition(const PodPosition& position, base::JsonObject& out);
// Appends it for people to read.
void AppendPositionTable(const PodPosition& position, std::string& out);

}  // namespace berth::explain
