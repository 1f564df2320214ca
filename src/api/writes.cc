// SPDX-License-Identifier: Apache-2.0
#include "src/api/writes.h"

#include <algorithm>

#include "src/api/time_format.h"
#include "src/base/json.h"

namespace berth::api {
namespace {

using base::JsonList;
using base::JsonObject;

void WriteReference(const ObjectReference& reference, std::string& out) {
  JsonObject object(out);
  object.AddIfNotEmpty("kind", reference.kind);
  object.AddIfNotEmpty("namespace", reference.namespace_);
  object.AddIfNotEmpty("name", reference.name);
  object.AddIfNotEmpty("uid", reference.uid);
  object.AddIfNotEmpty("apiVersion", reference.api_version);
  object.AddIfNotEmpty("resourceVersion", reference.resource_version);
  object.Close();
}

void WriteSeries(int32_t count, Time last_observed_time, std::string& out) {
  JsonObject series(out);
  series.Add("count", count);
  series.Add("lastObservedTime", FormatMicroTime(last_observed_time));
  series.Close();
}

// A string member of a merge patch; null takes an old value away.
void SetOrClear(JsonObject& object, std::string_view name, const std::string& value,
                const std::string& old) {
  if (!value.empty()) {
    object.Add(name, value);
  } else if (!old.empty()) {
    object.AddNull(name);
  }
}

void WriteType(std::string_view type, std::string& out) {
  JsonObject object(out);
  object.Add("type", type);
  object.Close();
}

void WriteCondition(const PodCondition& condition, const PodCondition& old, std::string& out) {
  JsonObject object(out);
  object.Add("type", condition.type);
  object.Add("status", condition.status);
  SetOrClear(object, "reason", condition.reason, old.reason);
  SetOrClear(object, "message", condition.message, old.message);
  if (condition.last_transition_time)
    object.Add("lastTransitionTime", FormatTime(*condition.last_transition_time));
  if (condition.observed_generation != old.observed_generation)
    object.Add("observedGeneration", condition.observed_generation);
  object.Close();
}

// Adds the condition to the patch's status, unless it says nothing new.
void PatchCondition(const PodStatus& old, PodCondition condition, JsonObject& status) {
  const auto same_type =
      std::find_if(old.conditions.begin(), old.conditions.end(),
                   [&](const PodCondition& other) { return other.type == condition.type; });
  const bool is_new = same_type == old.conditions.end();
  if (!is_new) {
    if (same_type->status == condition.status)
      condition.last_transition_time = same_type->last_transition_time;
    if (*same_type == condition) return;
  }
  JsonList order(status.Key("$setElementOrder/conditions"));
  for (const PodCondition& other : old.conditions) WriteType(other.type, order.Next());
  if (is_new) WriteType(condition.type, order.Next());
  order.Close();
  JsonList conditions(status.Key("conditions"));
  WriteCondition(condition, is_new ? PodCondition() : *same_type, conditions.Next());
  conditions.Close();
}

}  // namespace

std::string BindingBody(std::string_view namespace_name, std::string_view pod_name,
                        std::string_view pod_uid, std::string_view node_name) {
  std::string body;
  body.reserve(256 + namespace_name.size() + pod_name.size() + node_name.size());
  JsonObject binding(body);
  binding.Add("apiVersion", "v1");
  binding.Add("kind", "Binding");
  JsonObject metadata(binding.Key("metadata"));
  metadata.Add("name", pod_name);
  metadata.Add("namespace", namespace_name);
  metadata.AddIfNotEmpty("uid", pod_uid);
  metadata.Close();
  JsonObject target(binding.Key("target"));
  target.Add("kind", "Node");
  target.Add("name", node_name);
  target.Close();
  binding.Close();
  return body;
}

std::string EventBody(const Event& event) {
  std::string body;
  body.reserve(1024);
  JsonObject object(body);
  object.Add("apiVersion", "events.k8s.io/v1");
  object.Add("kind", "Event");
  JsonObject metadata(object.Key("metadata"));
  metadata.Add("name", event.name);
  metadata.Add("namespace", event.namespace_);
  metadata.Close();
  object.Add("eventTime", FormatMicroTime(event.event_time));
  if (event.series) {
    WriteSeries(event.series->count, event.series->last_observed_time, object.Key("series"));
  }
  object.AddIfNotEmpty("reportingController", event.reporting_controller);
  object.AddIfNotEmpty("reportingInstance", event.reporting_instance);
  object.AddIfNotEmpty("action", event.action);
  object.AddIfNotEmpty("reason", event.reason);
  WriteReference(event.regarding, object.Key("regarding"));
  if (event.related) WriteReference(*event.related, object.Key("related"));
  object.AddIfNotEmpty("note", event.note);
  object.AddIfNotEmpty("type", event.type);
  object.Close();
  return body;
}

std::string EventSeriesPatch(int32_t count, Time last_observed_time) {
  std::string body;
  JsonObject patch(body);
  WriteSeries(count, last_observed_time, patch.Key("series"));
  patch.Close();
  return body;
}

std::optional<std::string> PodStatusPatch(const PodStatus& old, const PodStatusChange& change,
                                          std::string_view uid) {
  std::string text;
  JsonObject status(text);
  if (change.condition) PatchCondition(old, *change.condition, status);
  if (change.nominated_node_name && *change.nominated_node_name != old.nominated_node_name)
    SetOrClear(status, "nominatedNodeName", *change.nominated_node_name, old.nominated_node_name);
  status.Close();
  if (status.empty()) return std::nullopt;
  std::string body;
  JsonObject patch(body);
  if (!uid.empty()) {
    JsonObject metadata(patch.Key("metadata"));
    metadata.Add("uid", uid);
    metadata.Close();
  }
  patch.Key("status") += text;
  patch.Close();
  return body;
}

std::string DeleteBody(std::string_view uid) {
  std::string body;
  JsonObject options(body);
  options.Add("apiVersion", "v1");
  options.Add("kind", "DeleteOptions");
  JsonObject preconditions(options.Key("preconditions"));
  preconditions.Add("uid", uid);
  preconditions.Close();
  options.Close();
  return body;
}

}  // namespace berth::api
