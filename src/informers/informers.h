// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "src/client/api_client.h"
#include "src/informers/informer_event.h"
#include "src/informers/kinds.h"

namespace berth::informers {

class Reflector;

struct InformerOptions {
  // Ask for JSON instead of protobuf.
  bool json = false;
  // Of these kinds, JSON whatever `json` says.
  KeptText kept_text = {};
  // Called, on the executor's thread and in place of lines of the log, with the error after which a
  // list or a watch is tried again, each time, and with nullptr once the server then answers. May
  // be empty.
  std::function<void(Kind, const client::ApiError*)> on_watch = {};
  // Logs which kinds the server does not serve.
  bool tells_absent = true;
};

// What an informer has seen; for metrics and dumps.
struct InformerStats {
  bool synced = false;
  bool watching = false;     // the server has answered the watch that is open
  uint64_t objects = 0;      // known now
  uint64_t lists = 0;        // completed initial lists and relists
  uint64_t watches = 0;      // watches started or resumed
  uint64_t errors = 0;       // failed requests
  uint64_t undecodable = 0;  // object versions that could not be decoded
};

// Watches the kinds it was given and hands every change to one sink.
//
// The sink sees, for each object, a sequence of kAdded, kUpdated..., kDeleted without gaps, also
// across relists, and kSynced once for each kind.
//
// Thread safety: any thread, except Stats(), which belongs to the executor's thread.
class Informers {
 public:
  // `api` and `clock` must outlive the informers.
  Informers(client::ApiClient& api, const Clock& clock, uint64_t seed, EventSink sink,
            const InformerOptions& options = {});
  // On the executor's thread, or once that has stopped.
  ~Informers();
  Informers(const Informers&) = delete;
  Informers& operator=(const Informers&) = delete;

  // Begins to watch the kinds that are not watched yet.
  void Start(std::vector<Kind> kinds);
  // Has every informer ask the server again, whatever it waits for, and calls `done` on the
  // executor's thread once each has been answered and what the answers begin with is likely to be
  // in, or after 10 s: who has waited while another wrote then sees what that wrote. Not at all
  // once the informers are stopped.
  void CatchUp(std::function<void()> done);
  // Ends every request; the sink is not called once this has run on the executor's thread.
  void Stop();

  InformerStats Stats(Kind kind) const;
  // Calls `done` on the executor's thread with all objects of the kind, in no particular order; not
  // at all once the informers are gone.
  using OnObjects = std::function<void(std::vector<api::ObjectPtr>)>;
  void CollectObjects(Kind kind, OnObjects done) const;
  // From then on `sink`, too, sees what the informers' own sink sees, right before that; for each
  // kind of `kinds` it begins with a kAdded for each object there is, and a kSynced after these
  // (not at the watch's own). In place of an earlier follower. Undecodable objects that are there
  // already are left out.
  void Follow(std::vector<Kind> kinds, EventSink sink) const;
  // The follower is not called once this has run on the executor's thread.
  void Unfollow() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::informers
