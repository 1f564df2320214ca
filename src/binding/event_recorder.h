// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "berth/api/boxed.h"
#include "berth/api/pod.h"
#include "berth/random.h"
#include "berth/time.h"
#include "src/api/writes.h"
#include "src/client/api_client.h"

namespace berth::binding {

// What happened, in the words of operators.
struct EventRecord {
  api::ObjectReference regarding;
  api::Boxed<api::ObjectReference> related;
  std::string controller;  // the profile's schedulerName
  bool warning = false;    // type Warning, else Normal
  std::string reason;      // Scheduled, FailedScheduling, Preempted, ...
  std::string action;      // Binding, Scheduling, Preempting, ...
  std::string note;        // cut at 1024 bytes
  // Whether the same event may come again for the same version of the object. What cannot is not
  // kept for a series.
  bool may_repeat = true;
};

// What makes two events the same: everything but the note and the time.
std::string SeriesKey(const EventRecord& record);

// Turns a record into the object to create. `unique` is no earlier than `when` and differs for any
// two events of a process: it ends the name, `<regarding>.<unix nanoseconds in hex>`. Where that is
// no valid name, the name is a random UUID.
api::Event MakeEvent(EventRecord&& record, Time when, Time unique, const std::string& hostname,
                     Random& random);

// Writes events.k8s.io/v1 events, as k8s.io/client-go/tools/events does.
//
// An event that repeats (same type, action, reason, controller, objects; not the note) becomes a
// series: the first is created, the second patches `series` onto it with count 2, later ones are
// counted here. A series is sent again every 30 minutes, and for a last time once it has been idle
// for 6. Writes that get no answer are tried up to 12 times, 10 s apart; a rejection is final.
//
// Bounded: with 20,000 events awaiting their answer, further ones are dropped and counted; with as
// many kept in case they repeat, a further one is a new event each time.
//
// Thread safety: any thread; the work is done on the executor's.
class EventRecorder {
 public:
  struct Counts {
    uint64_t recorded = 0;  // asked for
    uint64_t dropped = 0;   // because too many awaited their answer
    uint64_t failed = 0;    // rejected, or tried too often
  };

  // `api` and `clock` must outlive the recorder. `hostname` ends reportingInstance.
  EventRecorder(client::ApiClient& api, const Clock& clock, uint64_t seed, std::string hostname);
  // Drops what has not been sent. On the executor's thread, or once that has stopped.
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  void Record(EventRecord&& record);
  // Before the end: calls `flushed` once every event recorded so far has been answered, but after
  // `patience` at the latest, with the number of those that have not. On the executor's thread. At
  // most one may be under way. Retries come at once, and every half second from then on.
  void Flush(Duration patience, std::function<void(size_t unsent)> flushed);
  Counts counts() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

// A reference to this version of the pod.
api::ObjectReference ReferenceTo(const api::Pod& pod);

// `note`, or about its first 1020 bytes (whole characters) and " ..." when it is longer than an
// event may carry.
std::string TruncateNote(std::string note);

}  // namespace berth::binding
