// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/random.h"
#include "berth/time.h"
#include "src/binding/event_recorder.h"

namespace berth::binding {

// What makes two events the same: everything but the note and the time.
std::string SeriesKey(const EventRecord& record);

// Turns a record into the object to create. `unique` is no earlier than `when` and differs for any
// two events of a process: it ends the name, `<regarding>.<unix nanoseconds in hex>`. Where that is
// no valid name, the name is a random UUID.
api::Event MakeEvent(EventRecord&& record, Time when, Time unique, const std::string& hostname,
                     Random& random);

}  // namespace berth::binding
