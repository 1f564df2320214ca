// SPDX-License-Identifier: Apache-2.0
#include "src/api/pod_group_writes.h"

#include <algorithm>

#include "src/api/time_format.h"
#include "src/base/json.h"

namespace berth::api {
namespace {

using base::JsonList;
using base::JsonObject;

void WriteType(std::string_view type, std::string& out) {
  JsonObject object(out);
  object.Add("type", type);
  object.Close();
}

void WriteCondition(const Condition& condition, std::string& out) {
  JsonObject object(out);
  object.Add("type", condition.type);
  object.Add("status", condition.status);
  object.Add("reason", condition.reason);
  object.Add("message", condition.message);
  if (condition.last_transition_time) {
    object.Add("lastTransitionTime", FormatTime(*condition.last_transition_time));
  }
  object.Add("observedGeneration", condition.observed_generation);
  object.Close();
}

}  // namespace

std::optional<std::string> PodGroupStatusPatch(const std::vector<Condition>& old,
                                               Condition condition, std::string_view uid) {
  const auto known = std::ranges::find(old, condition.type, &Condition::type);
  if (known != old.end()) {
    if (known->status == condition.status) {
      condition.last_transition_time = known->last_transition_time;
    }
    if (*known == condition) return std::nullopt;
  }
  std::string body;
  JsonObject patch(body);
  JsonObject metadata(patch.Key("metadata"));
  metadata.Add("uid", uid);
  metadata.Close();
  JsonObject status(patch.Key("status"));
  JsonList order(status.Key("$setElementOrder/conditions"));
  for (const Condition& other : old) WriteType(other.type, order.Next());
  if (known == old.end()) WriteType(condition.type, order.Next());
  order.Close();
  JsonList conditions(status.Key("conditions"));
  WriteCondition(condition, conditions.Next());
  conditions.Close();
  status.Close();
  patch.Close();
  return body;
}

}  // namespace berth::api
