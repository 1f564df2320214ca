// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/boxed.h"
#include "berth/api/meta.h"
#include "berth/api/pod.h"
#include "berth/time.h"

// Bodies of the requests that berth sends, as JSON. Bytes that are not UTF-8 become U+FFFD.
//
// Thread safety: any thread.
namespace berth::api {

struct EventSeries {
  int32_t count = 0;
  Time last_observed_time;

  friend bool operator==(const EventSeries&, const EventSeries&) = default;
};

// events.k8s.io/v1.
struct Event {
  std::string namespace_;
  std::string name;
  Time event_time;
  std::string reporting_controller;
  std::string reporting_instance;
  std::string action;
  std::string reason;
  std::string type;  // Normal, Warning
  std::string note;
  ObjectReference regarding;
  Boxed<ObjectReference> related;
  std::optional<EventSeries> series;

  friend bool operator==(const Event&, const Event&) = default;
};

inline constexpr std::string_view kJsonContentType = "application/json";
// Of EventSeriesPatch and PodStatusPatch.
inline constexpr std::string_view kStrategicMergePatchContentType =
    "application/strategic-merge-patch+json";

// POST .../pods/<name>/binding.
std::string BindingBody(std::string_view namespace_name, std::string_view pod_name,
                        std::string_view pod_uid, std::string_view node_name);

// POST apis/events.k8s.io/v1/.../events.
std::string EventBody(const Event& event);
// PATCH of such an event.
std::string EventSeriesPatch(int32_t count, Time last_observed_time);

struct PodStatusChange {
  // Added, or put in the place of the condition of its type. Its last_transition_time counts only
  // when the condition's status changes.
  std::optional<PodCondition> condition;
  // nullopt: stays; "": cleared.
  std::optional<std::string> nominated_node_name;
};

// PATCH .../pods/<name>/status. nullopt when `change` would change nothing. With `uid` the server
// refuses (422: the UID is immutable) when the pod has been recreated; "" patches any pod of the
// name.
std::optional<std::string> PodStatusPatch(const PodStatus& old, const PodStatusChange& change,
                                          std::string_view uid);

// PATCH .../podgroups/<name>/status, a strategic merge patch: adds the condition to `old`, or puts
// it in the place of the one of its type, whose last_transition_time stays unless the status
// changes. nullopt when that would change nothing. The server refuses (422) when the group has been
// recreated.
std::optional<std::string> PodGroupStatusPatch(const std::vector<Condition>& old,
                                               Condition condition, std::string_view uid);

// POST .../pods/<name>/eviction, of this very pod.
std::string EvictionBody(std::string_view namespace_name, std::string_view pod_name,
                         std::string_view pod_uid);

// The body of a DELETE that must hit this very object.
std::string DeleteBody(std::string_view uid);

}  // namespace berth::api
