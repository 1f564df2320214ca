// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "src/api/writes.h"

namespace berth::api {

inline const Time kEventTime(std::chrono::nanoseconds(1'700'000'000'123'456'789));

// What the tests of both encodings write.
inline Event ScheduledEvent() {
  Event event;
  event.namespace_ = "shop";
  event.name = "web-0.17f";
  event.event_time = kEventTime;
  event.reporting_controller = "default-scheduler";
  event.reporting_instance = "default-scheduler-host";
  event.action = "Binding";
  event.reason = "Scheduled";
  event.type = "Normal";
  event.note = "Successfully assigned shop/web-0 to n1";
  event.regarding = {.kind = "Pod",
                     .namespace_ = "shop",
                     .name = "web-0",
                     .uid = "u-1",
                     .api_version = "v1",
                     .resource_version = "417"};
  return event;
}

}  // namespace berth::api
