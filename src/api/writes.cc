// SPDX-License-Identifier: Apache-2.0
#include "src/api/writes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "src/api/time_format.h"

namespace berth::api {
namespace {

using nlohmann::ordered_json;

std::string Dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// Whether JSON holds the text as it is: printable ASCII without quotes and backslashes. Eight bytes
// at a time; a subtraction that borrows from the next byte found something already.
bool IsPlain(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x8080808080808080;
  const auto any_below = [](uint64_t bytes, uint64_t limit) {
    return (bytes - kOnes * limit) & ~bytes;
  };
  uint64_t found = 0;
  while (!text.empty()) {
    uint64_t bytes = kOnes * 'x';
    const size_t size = std::min(text.size(), sizeof(bytes));
    std::memcpy(&bytes, text.data(), size);
    text.remove_prefix(size);
    found |= bytes | any_below(bytes, ' ') | any_below(bytes ^ (kOnes * '"'), 1) |
             any_below(bytes ^ (kOnes * '\\'), 1) | any_below(bytes ^ (kOnes * 0x7f), 1);
  }
  return (found & kHighs) == 0;
}

// Writes the objects that every bound pod costs, member by member: a tree of values first would
// cost more than all else that is done for a bind or an event.
class ObjectWriter {
 public:
  // `size`: what the text is expected to take.
  explicit ObjectWriter(size_t size) { text_.reserve(size); }

  void Open(std::string_view name = "") {
    Name(name);
    text_ += '{';
  }
  void Close() { text_ += '}'; }
  void Member(std::string_view name, std::string_view value) {
    Name(name);
    String(value);
  }
  void MemberIfNotEmpty(std::string_view name, std::string_view value) {
    if (!value.empty()) Member(name, value);
  }
  void Member(std::string_view name, int32_t value) {
    Name(name);
    text_ += std::to_string(value);
  }
  std::string Take() { return std::move(text_); }

 private:
  // Names need no escapes.
  void Name(std::string_view name) {
    if (!text_.empty() && text_.back() != '{') text_ += ',';
    if (name.empty()) return;
    text_ += '"';
    text_.append(name).append("\":");
  }
  void String(std::string_view value) {
    if (IsPlain(value)) {
      text_ += '"';
      text_.append(value);
      text_ += '"';
    } else {
      text_ += Dump(ordered_json(value));
    }
  }

  std::string text_;
};

void WriteReference(std::string_view name, const ObjectReference& reference, ObjectWriter& body) {
  body.Open(name);
  body.MemberIfNotEmpty("kind", reference.kind);
  body.MemberIfNotEmpty("namespace", reference.namespace_);
  body.MemberIfNotEmpty("name", reference.name);
  body.MemberIfNotEmpty("uid", reference.uid);
  body.MemberIfNotEmpty("apiVersion", reference.api_version);
  body.MemberIfNotEmpty("resourceVersion", reference.resource_version);
  body.Close();
}

void WriteSeries(int32_t count, Time last_observed_time, ObjectWriter& body) {
  body.Open("series");
  body.Member("count", count);
  body.Member("lastObservedTime", FormatMicroTime(last_observed_time));
  body.Close();
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
  ObjectWriter body(256 + namespace_name.size() + pod_name.size() + node_name.size());
  body.Open();
  body.Member("apiVersion", "v1");
  body.Member("kind", "Binding");
  body.Open("metadata");
  body.Member("name", pod_name);
  body.Member("namespace", namespace_name);
  body.MemberIfNotEmpty("uid", pod_uid);
  body.Close();
  body.Open("target");
  body.Member("kind", "Node");
  body.Member("name", node_name);
  body.Close();
  body.Close();
  return body.Take();
}

std::string EventBody(const Event& event) {
  ObjectWriter body(1024);
  body.Open();
  body.Member("apiVersion", "events.k8s.io/v1");
  body.Member("kind", "Event");
  body.Open("metadata");
  body.Member("name", event.name);
  body.Member("namespace", event.namespace_);
  body.Close();
  body.Member("eventTime", FormatMicroTime(event.event_time));
  if (event.series) WriteSeries(event.series->count, event.series->last_observed_time, body);
  body.MemberIfNotEmpty("reportingController", event.reporting_controller);
  body.MemberIfNotEmpty("reportingInstance", event.reporting_instance);
  body.MemberIfNotEmpty("action", event.action);
  body.MemberIfNotEmpty("reason", event.reason);
  WriteReference("regarding", event.regarding, body);
  if (event.related) WriteReference("related", *event.related, body);
  body.MemberIfNotEmpty("note", event.note);
  body.MemberIfNotEmpty("type", event.type);
  body.Close();
  return body.Take();
}

std::string EventSeriesPatch(int32_t count, Time last_observed_time) {
  ObjectWriter body(128);
  body.Open();
  WriteSeries(count, last_observed_time, body);
  body.Close();
  return body.Take();
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
