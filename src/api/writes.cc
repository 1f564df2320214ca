// SPDX-License-Identifier: Apache-2.0
#include "src/api/writes.h"

#include <algorithm>

#include "src/api/time_format.h"
#include "src/base/json.h"

namespace berth::api {
namespace {

using base::JsonList;
using base::JsonObject;
using base::JsonWriter;

// Binds and events are most of what is sent, so what is the same in all of them is put as it
// stands: a string member by all that comes before its value.
void Put(std::string_view before, std::string_view value, JsonWriter& out) {
  out.Put(before);
  out.PutString(value);
}
void PutIfNotEmpty(std::string_view before, std::string_view value, JsonWriter& out) {
  if (!value.empty()) Put(before, value, out);
}

void PutReference(std::string_view before, const ObjectReference& reference, JsonWriter& out) {
  out.Put(before);
  const size_t begin = out.size();
  PutIfNotEmpty(R"(,"kind":)", reference.kind, out);
  PutIfNotEmpty(R"(,"namespace":)", reference.namespace_, out);
  PutIfNotEmpty(R"(,"name":)", reference.name, out);
  PutIfNotEmpty(R"(,"uid":)", reference.uid, out);
  PutIfNotEmpty(R"(,"apiVersion":)", reference.api_version, out);
  PutIfNotEmpty(R"(,"resourceVersion":)", reference.resource_version, out);
  if (out.size() == begin) out.Put(",");
  out[begin] = '{';  // in place of the first member's comma
  out.Put("}");
}

void WriteSeries(int32_t count, Time last_observed_time, std::string& out) {
  JsonObject series(out);
  series.Add("count", count);
  series.Add("lastObservedTime", FormatMicroTime(last_observed_time));
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
}

// Adds the condition to the patch's status, unless it says nothing new. As in kube-scheduler, that
// the same was found of a newer generation is news only where something else is written, too.
void PatchCondition(const PodStatus& old, PodCondition condition, bool alone, JsonObject& status) {
  const auto same_type =
      std::find_if(old.conditions.begin(), old.conditions.end(),
                   [&](const PodCondition& other) { return other.type == condition.type; });
  const bool is_new = same_type == old.conditions.end();
  if (!is_new) {
    if (same_type->status == condition.status)
      condition.last_transition_time = same_type->last_transition_time;
    PodCondition as_before = *same_type;
    if (alone) as_before.observed_generation = condition.observed_generation;
    if (as_before == condition) return;
  }
  JsonList order(status.Key("$setElementOrder/conditions"));
  for (const PodCondition& other : old.conditions) WriteType(other.type, order.Next());
  if (is_new) WriteType(condition.type, order.Next());
  order.Close();
  JsonList conditions(status.Key("conditions"));
  WriteCondition(condition, is_new ? PodCondition() : *same_type, conditions.Next());
}

}  // namespace

std::string BindingBody(std::string_view namespace_name, std::string_view pod_name,
                        std::string_view pod_uid, std::string_view node_name) {
  JsonWriter body(256 + namespace_name.size() + pod_name.size() + node_name.size());
  Put(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":)", pod_name, body);
  Put(R"(,"namespace":)", namespace_name, body);
  PutIfNotEmpty(R"(,"uid":)", pod_uid, body);
  Put(R"(},"target":{"kind":"Node","name":)", node_name, body);
  body.Put("}}");
  return body.Take();
}

std::string EventBody(const Event& event) {
  JsonWriter body(1024);
  Put(R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":)", event.name, body);
  Put(R"(,"namespace":)", event.namespace_, body);
  Put(R"(},"eventTime":)", FormatMicroTime(event.event_time), body);
  if (event.series) {
    std::string series;
    WriteSeries(event.series->count, event.series->last_observed_time, series);
    body.Put(R"(,"series":)");
    body.Put(series);
  }
  PutIfNotEmpty(R"(,"reportingController":)", event.reporting_controller, body);
  PutIfNotEmpty(R"(,"reportingInstance":)", event.reporting_instance, body);
  PutIfNotEmpty(R"(,"action":)", event.action, body);
  PutIfNotEmpty(R"(,"reason":)", event.reason, body);
  PutReference(R"(,"regarding":)", event.regarding, body);
  if (event.related) PutReference(R"(,"related":)", *event.related, body);
  PutIfNotEmpty(R"(,"note":)", event.note, body);
  PutIfNotEmpty(R"(,"type":)", event.type, body);
  body.Put("}");
  return body.Take();
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
  const bool renominates =
      change.nominated_node_name && *change.nominated_node_name != old.nominated_node_name;
  if (change.condition) PatchCondition(old, *change.condition, !renominates, status);
  if (renominates)
    SetOrClear(status, "nominatedNodeName", *change.nominated_node_name, old.nominated_node_name);
  status.Close();
  if (status.empty()) return std::nullopt;
  std::string body;
  JsonObject patch(body);
  if (!uid.empty()) patch.Add("metadata", {{"uid", uid}});
  patch.Key("status") += text;
  patch.Close();
  return body;
}

std::string EvictionBody(std::string_view namespace_name, std::string_view pod_name,
                         std::string_view pod_uid) {
  std::string body;
  JsonObject eviction(body);
  eviction.Add("apiVersion", "policy/v1");
  eviction.Add("kind", "Eviction");
  eviction.Add("metadata", {{"namespace", namespace_name}, {"name", pod_name}});
  JsonObject options(eviction.Key("deleteOptions"));
  options.Add("preconditions", {{"uid", pod_uid}});
  options.Close();
  eviction.Close();
  return body;
}

std::string DeleteBody(std::string_view uid) {
  std::string body;
  JsonObject options(body);
  options.Add("apiVersion", "v1");
  options.Add("kind", "DeleteOptions");
  options.Add("preconditions", {{"uid", uid}});
  options.Close();
  return body;
}

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
  patch.Add("metadata", {{"uid", uid}});
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
