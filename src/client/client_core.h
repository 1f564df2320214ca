// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/btree_map.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "berth/random.h"
#include "src/base/event_loop.h"
#include "src/base/mutex.h"
#include "src/client/channel.h"
#include "src/client/credentials.h"
#include "src/client/curl_client.h"
#include "src/client/exchange.h"
#include "src/client/rate_limiter.h"
#include "src/client/retry.h"

namespace berth::client {

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
  bool ReadsProtobuf() const { return speaks_protobuf_ && !refuses_protobuf_; }
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
  void Retry(Exchange& exchange, Duration wait, int code);
  // Takes the exchange out of everything it is in; its callback is still owed.
  std::shared_ptr<Exchange> Remove(uint64_t id);
  void FailCancelled(uint64_t id);
  void DropAttempt(Exchange& exchange);
  void FreeSlot(Exchange& exchange);
  void PostSweep();

  Channel& ChannelOf(const Exchange& exchange);
  std::shared_ptr<const HeaderList> HeadersFor(const Request& request, const IdentityPtr& identity);
  void Report(const Exchange& exchange, const AttemptResult& result) const;
  void NoteEncoding(const Exchange& exchange, const AttemptResult& result);

  const ClientOptions options_;
  const ServerAddress address_;
  const std::string host_;
  const Clock& clock_;
  std::atomic<uint64_t> last_id_ = 0;
  // What the server's answers have told; both stay once they are set.
  std::atomic<bool> speaks_protobuf_ = false;
  std::atomic<bool> refuses_protobuf_ = false;

  base::EventLoop loop_;
  Random random_;
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
  size_t slots_taken_ = 0;
  size_t slots_ = 0;
  bool sweep_posted_ = false;
  bool closed_ = false;

  base::Mutex close_mutex_;
  base::CondVar close_done_;
};

}  // namespace berth::client
