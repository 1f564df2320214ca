// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "berth/in_tree/async.h"
#include "berth/time.h"
#include "src/informers/informer_event.h"

namespace berth::scheduler {

// What plugins wait for outside of scheduling cycles: see Handle::WaitFor.
//
//   Add --no verdict yet--> waiting --an object changed: a verdict, time is up, Cancel--> answered
//    |                                                                                        ^
//    +------------------------------------- a verdict ----------------------------------------+
//
// A change costs a look-up for each object that it is about, and a check for each wait that names
// one; what does not change costs nothing, however many wait.
//
// Thread safety: the scheduling thread.
class ObjectWaits {
 public:
  using Id = uint64_t;

  // Asks wait.check, and keeps the wait if there is no verdict yet. `done` may be called within.
  // Returns what Cancel() takes; nullopt when `done` was called.
  std::optional<Id> Add(ObjectWait wait, AsyncDone done, Time now);
  // Answers with ObjectWait::cancelled. Does nothing when the wait is over.
  void Cancel(Id id);
  // Asks those again that wait for what the event is about; call once the change is taken in.
  void Notify(const informers::InformerEvent& event);
  // Answers those whose time is up.
  void Expire(Time now);
  // When the next one's time is up.
  std::optional<Time> NextExpiry() const;

  size_t size() const { return waits_.size(); }

 private:
  using Key = std::pair<EventResource, std::string>;
  struct Waiting {
    ObjectWait wait;
    AsyncDone done;
    Time deadline;
  };
  using Waits = absl::btree_map<Id, Waiting>;

  void Ask(const Key& key);
  void End(Waits::iterator it, AsyncStatus verdict);

  Id last_id_ = 0;
  Waits waits_;
  absl::btree_map<Key, absl::btree_set<Id>> by_object_;
  absl::btree_set<std::pair<Time, Id>> by_deadline_;
};

}  // namespace berth::scheduler
