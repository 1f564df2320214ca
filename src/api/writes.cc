// SPDX-License-Identifier: Apache-2.0
#include "src/api/writes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/api/time_format.h"

namespace berth::api {
namespace {

using nlohmann::ordered_json;

std::string Dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void SetIfNotEmpty(ordered_json& object, const char* name, std::string_view value) {
  if (!value.empty()) object[name] = value;
}

ordered_json ReferenceJson(const ObjectReference& reference) {
  ordered_json json = ordered_json::object();
  SetIfNotEmpty(json, "kind", reference.kind);
  SetIfNotEmpty(json, "namespace", reference.namespace_);
  SetIfNotEmpty(json, "name", reference.name);
  SetIfNotEmpty(json, "uid", reference.uid);
  SetIfNotEmpty(json, "apiVersion", reference.api_version);
  SetIfNotEmpty(json, "resourceVersion", reference.resource_version);
  return json;
}

ordered_json SeriesJson(int32_t count, Time last_observed_time) {
  return {{"count", count}, {"lastObservedTime", FormatMicroTime(last_observed_time)}};
}

// A string member of a merge patch; null takes an old value away.
void SetOrClear(ordered_json& object, const char* name, const std::string& value,
                const std::string& old) {
  if (!value.empty()) {
    object[name] = value;
  } else if (!old.empty()) {
    object[name] = nullptr;
  }
}

ordered_json ConditionJson(const PodCondition& condition, const PodCondition& old) {
  ordered_json json = {{"type", condition.type}, {"status", condition.status}};
  SetOrClear(json, "reason", condition.reason, old.reason);
  SetOrClear(json, "message", condition.message, old.message);
  if (condition.last_transition_time)
    json["lastTransitionTime"] = FormatTime(*condition.last_transition_time);
  if (condition.observed_generation != old.observed_generation)
    json["observedGeneration"] = condition.observed_generation;
  return json;
}

// Adds the condition to the patch's status, unless it says nothing new.
void PatchCondition(const PodStatus& old, PodCondition condition, ordered_json& status) {
  const auto same_type =
      std::find_if(old.conditions.begin(), old.conditions.end(),
                   [&](const PodCondition& other) { return other.type == condition.type; });
  const bool is_new = same_type == old.conditions.end();
  if (!is_new) {
    if (same_type->status == condition.status)
      condition.last_transition_time = same_type->last_transition_time;
    if (*same_type == condition) return;
  }
  ordered_json order = ordered_json::array();
  for (const PodCondition& other : old.conditions) order.push_back({{"type", other.type}});
  if (is_new) order.push_back({{"type", condition.type}});
  status["$setElementOrder/conditions"] = std::move(order);
  status["conditions"] = ordered_json::array();
  status["conditions"].push_back(ConditionJson(condition, is_new ? PodCondition() : *same_type));
}

}  // namespace

std::string BindingBody(std::string_view namespace_name, std::string_view pod_name,
                        std::string_view pod_uid, std::string_view node_name) {
  ordered_json metadata = {{"name", pod_name}, {"namespace", namespace_name}};
  SetIfNotEmpty(metadata, "uid", pod_uid);
  return Dump({{"apiVersion", "v1"},
               {"kind", "Binding"},
               {"metadata", std::move(metadata)},
               {"target", {{"kind", "Node"}, {"name", node_name}}}});
}

std::string EventBody(const Event& event) {
  ordered_json json = {{"apiVersion", "events.k8s.io/v1"},
                       {"kind", "Event"},
                       {"metadata", {{"name", event.name}, {"namespace", event.namespace_}}},
                       {"eventTime", FormatMicroTime(event.event_time)}};
  if (event.series)
    json["series"] = SeriesJson(event.series->count, event.series->last_observed_time);
  SetIfNotEmpty(json, "reportingController", event.reporting_controller);
  SetIfNotEmpty(json, "reportingInstance", event.reporting_instance);
  SetIfNotEmpty(json, "action", event.action);
  SetIfNotEmpty(json, "reason", event.reason);
  json["regarding"] = ReferenceJson(event.regarding);
  if (event.related) json["related"] = ReferenceJson(*event.related);
  SetIfNotEmpty(json, "note", event.note);
  SetIfNotEmpty(json, "type", event.type);
  return Dump(json);
}

std::string EventSeriesPatch(int32_t count, Time last_observed_time) {
  return Dump({{"series", SeriesJson(count, last_observed_time)}});
}

std::optional<std::string> PodStatusPatch(const PodStatus& old, const PodStatusChange& change,
                                          std::string_view uid) {
  ordered_json status = ordered_json::object();
  if (change.condition) PatchCondition(old, *change.condition, status);
  if (change.nominated_node_name && *change.nominated_node_name != old.nominated_node_name)
    SetOrClear(status, "nominatedNodeName", *change.nominated_node_name, old.nominated_node_name);
  if (status.empty()) return std::nullopt;
  ordered_json patch = ordered_json::object();
  if (!uid.empty()) patch["metadata"] = {{"uid", uid}};
  patch["status"] = std::move(status);
  return Dump(patch);
}

std::string DeleteBody(std::string_view uid) {
  return Dump({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", uid}}}});
}

}  // namespace berth::api
