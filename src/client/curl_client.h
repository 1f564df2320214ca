// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/thread.h"
#include "src/client/api_client.h"
#include "src/client/kubeconfig.h"

namespace berth::client {

// Called for every request, for metrics (rest_client_*), on the I/O thread; must not block.
class RequestObserver {
 public:
  // A request sent once.
  struct Attempt {
    Verb verb = Verb::kGet;
    std::string_view host;  // "10.0.0.1:6443", as the server is configured
    int code = 0;           // 0: no answer
    size_t request_bytes = 0;
    bool is_retry = false;  // the request had been sent before
  };
  // A request that was sent, with all its attempts.
  struct End {
    Verb verb = Verb::kGet;
    std::string_view host;
    Duration duration{};  // waits for turns and between attempts included
    // Of the last answer; nullopt where that was not read to its end, or is an error without one.
    std::optional<size_t> response_bytes;
  };

  virtual ~RequestObserver() = default;
  // The head of its answer has come, or none will.
  virtual void OnAttempt(const Attempt& attempt) = 0;
  virtual void OnEnd(const End& end) = 0;
  // How long a request, but no watch, waited for its turn.
  virtual void OnRateLimited(Verb verb, std::string_view host, Duration waited) = 0;
};

struct ClientOptions {
  ServerConfig server;
  // Of the main bucket and of the events' bucket, each; a negative qps means no limit.
  double qps = 50;
  int burst = 100;
  std::string user_agent = "berth";
  // Seeds the jitter of backoffs.
  uint64_t seed = 0;
  // Outlives the client; nullptr: none.
  RequestObserver* observer = nullptr;
  // Bodies are JSON, also where the server answers in protobuf.
  bool writes_json = false;
  // Credentials go to an http:// address, too, where others may read them. Off: only over TLS.
  bool credentials_in_clear = false;
  // The caller tells of a server that cannot be reached; else the log does.
  bool quiet = false;
  // Asked on the I/O thread each time before a write, leases and events apart, or a part of it is
  // handed to the kernel. false: it fails with kReasonNotLeader, as never sent where it is not, and
  // nothing more of it goes out. What shares its connection is lost with it. May be empty.
  std::function<bool()> may_write;
};

// "berth/0.1.0 (linux/amd64) kubernetes/1.37/scheduler", in the form of Kubernetes' own clients.
std::string UserAgent(std::string_view version, std::string_view kubernetes_version,
                      std::string_view component);

// The real ApiClient: libcurl in one I/O thread, "berth-io".
//
// Streams, leases and everything else have connections of their own, so that a watch's backlog
// delays no write and a write's no lease. A request that fell silent makes the next ones use a new
// connection, since the old one may be dead without a sign of it.
//
// Way of a request: its turn and a slot (RequestQueue) -> an identity (Credentials) -> an attempt
// (Transport)
// -> done, or after a wait (RetryDelay) from the beginning. A 401 is tried again once, at once,
// with credentials read again.
//
// Thread safety: any thread; the destructor from a thread that is not the client's own.
class CurlClient final : public ApiClient {
 public:
  // Errors: a server address that is none. Files and the server are not touched yet. `clock`
  // outlives the client.
  static Result<std::unique_ptr<CurlClient>> Make(ClientOptions options, const Clock& clock);
  ~CurlClient() override;  // closes, then ends the thread

  std::shared_ptr<Call> Send(Request request, OnResponse done) override;
  std::shared_ptr<Call> Stream(Request request, Duration silence,
                               std::shared_ptr<StreamHandler> handler) override;
  bool MayWrite() const override;
  bool ReadsProtobuf() const override;
  base::Executor& executor() override;

  // Cancels all calls and returns once each has ended. Later calls are cancelled at once;
  // the executor goes on until the destructor. Not from the client's own thread.
  void Close();

 private:
  class Core;
  explicit CurlClient(std::shared_ptr<Core> core);
  std::shared_ptr<Call> MakeCall(uint64_t id);

  std::shared_ptr<Core> core_;
  base::NamedThread thread_;
};

}  // namespace berth::client
