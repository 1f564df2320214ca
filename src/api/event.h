// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "berth/api/boxed.h"
#include "berth/api/meta.h"
#include "berth/time.h"

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

}  // namespace berth::api
