// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/btree_map.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/random.h"
#include "src/base/event_loop.h"
#include "src/base/mutex.h"
#include "src/client/credentials.h"
#include "src/client/curl_client.h"
#include "src/client/exchange.h"
#include "src/client/rate_limiter.h"
#include "src/client/retry.h"
#include "src/client/transport.h"

namespace berth::client {

// The connections of one kind of traffic over time. New attempts use the newest transport; an
// older one finishes what it has under way and is dropped.
//
// Thread safety: the I/O thread.
class Channel {
 public:
  Channel(base::EventLoop& loop, TransportConfig config)
      : loop_(loop), config_(std::move(config)) {}

  // The transport for a new attempt with this identity.
  Transport& For(const IdentityPtr& identity);
  // The connection of `transport` is suspect: later attempts get another one.
  void Distrust(const Transport* transport) {
    if (current_.get() == transport) Retire();
  }
  // Later attempts get another connection, though this one is well.
  void Renew() { Retire(); }
  // What older connections carry ends, as if they had been cut.
  void EndOld();
  // Drops old transports that have nothing under way. Not from inside a transport's callback.
  void Sweep();
  bool needs_sweep() const;
  // Drops all, with what is under way. Not from inside a transport's callback.
  void Clear();

 private:
  void Retire() {
    if (current_ != nullptr) old_.push_back(std::move(current_));
  }

  base::EventLoop& loop_;
  const TransportConfig config_;
  std::unique_ptr<Transport> current_;
  std::vector<std::unique_ptr<Transport>> old_;
};

// What of CurlClient lives on the I/O thread.
//
// Thread safety: loop(), NextId(), Submit(), Cancel(), Close() from any thread, the rest from the
// I/O thread.
class CurlClient::Core {
 public:
  Core(ClientOptions options, ServerAddress address, const Clock& clock);

  base::EventLoop& loop() { return loop_; }
  const Clock& clock() const { return clock_; }
  uint64_t NextId() { return ++last_id_; }
  void Submit(std::shared_ptr<Exchange> exchange);
  void Cancel(uint64_t id);
  bool MayWrite() const { return !options_.may_write || options_.may_write(); }
  bool ReadsProtobuf() const {
    return speaks_protobuf_ && !refuses_protobuf_ && !options_.writes_json;
  }
  // Returns once every exchange has ended.
  void Close();
  // Drops connections and credentials; the last task of the loop.
  void TearDown();

 private:
  using Exchanges = absl::btree_map<uint64_t, std::shared_ptr<Exchange>>;

  void Begin(std::shared_ptr<Exchange> exchange);
  // To the line, or past it.
  void Enter(Exchange& exchange);
  // Lets go whom rate and connections allow.
  void Pump();
  void Authorize(Exchange& exchange);
  // Of another TLS identity than before: new attempts use new connections, and old ones end soon.
  void Adopt(const IdentityPtr& identity);
  void WatchFilesLater();
  bool MaySend(const Request& request) const;
  void RefuseToSend(uint64_t id);
  void Launch(Exchange& exchange, const IdentityPtr& identity);
  void WatchSilence(Exchange& exchange, Duration wait);
  void OnAttemptDone(Exchange& exchange, const AttemptResult& result);
  void Judge(Exchange& exchange, ApiError error);
  void Retry(Exchange& exchange, Duration wait);
  // Takes the exchange out of everything it is in; its callback is still owed.
  std::shared_ptr<Exchange> Remove(uint64_t id);
  void FailCancelled(uint64_t id);
  void DropAttempt(Exchange& exchange);
  void FreeSlot(Exchange& exchange);
  void PostSweep();
  // Tells callers of late answers, and looks again as long as there are some to tell.
  void TellLate();
  void TellLateLater();

  Channel& ChannelOf(const Exchange& exchange);
  std::shared_ptr<const HeaderList> HeadersFor(const Request& request, const IdentityPtr& identity);
  // For the observer: an answer or, with code 0, that there will be none; a wait; the end.
  void ReportAttempt(const Exchange& exchange, int code) const;
  void ReportWait(const Exchange& exchange, Duration waited) const;
  void ReportEnd(const Exchange& exchange) const;
  void Log(const Exchange& exchange, const AttemptResult& result) const;
  void NoteEncoding(const Exchange& exchange, const AttemptResult& result);

  const ClientOptions options_;
  const ServerAddress address_;
  const std::string host_;
  const Clock& clock_;
  std::atomic<uint64_t> last_id_ = 0;
  // What the server's answers have shown; both stay once they are set.
  std::atomic<bool> speaks_protobuf_ = false;
  std::atomic<bool> refuses_protobuf_ = false;

  base::EventLoop loop_;
  Random random_;
  RequestSlots slots_;
  RequestQueue queue_;
  Availability availability_;
  std::unique_ptr<Credentials> credentials_;
  Channel streams_;
  Channel leases_;
  Channel writes_;
  Exchanges exchanges_;
  absl::btree_map<std::pair<std::string, std::string>, std::shared_ptr<const HeaderList>> headers_;
  IdentityPtr headers_identity_;
  IdentityPtr identity_;
  base::Executor::TimerId turn_timer_ = 0;
  base::Executor::TimerId files_timer_ = 0;
  base::Executor::TimerId renewal_timer_ = 0;
  base::Executor::TimerId late_timer_ = 0;
  bool sweep_posted_ = false;
  bool closed_ = false;

  base::Mutex close_mutex_;
  base::CondVar close_done_;
};

}  // namespace berth::client
