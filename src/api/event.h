// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "berth/time.h"

namespace berth::api {

struct ObjectReference {
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string api_version;
  std::string resource_version;

  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
};

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
  std::optional<ObjectReference> related;
  std::optional<EventSeries> series;

  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace berth::api
