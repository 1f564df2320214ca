// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/executor.h"

namespace berth::client {

enum class Verb { kGet, kList, kWatch, kCreate, kUpdate, kPatch, kDelete };

// What a request is for; decides whose rate it counts against and who goes first when the rate is
// short. Watches and leases count against none.
enum class Priority {
  kBind,         // main bucket, first
  kEviction,     // main bucket, in turn with binds, before all else
  kStatusPatch,  // main bucket, after binds, but waits at most 5 s for its turn
  kOther,        // main bucket, last: reads
  kEvent,        // the events' own bucket; waits at most 10 s
  kUnlimited,    // leases, lists and watches
};

// One call to the API server.
struct Request {
  Verb verb = Verb::kGet;
  Priority priority = Priority::kOther;
  // Path and query below the server's address, already escaped: "/api/v1/namespaces/a/pods/b".
  std::string path{};
  std::string_view content_type{};  // of `body`; a literal
  std::string accept{};             // "" means application/json
  std::string body{};
  // How long it has waited for its turn already, before it was handed over.
  Duration waited{};
  // From the first byte sent to the last received; zero: none (watches).
  Duration timeout = std::chrono::seconds(30);
  // How often to try again where an answer says nothing was done: 429 always (Retry-After
  // honoured), connection refused and 503 for reads. Never after a write may have been executed,
  // but where `repeats_5xx`.
  int max_retries = 10;
  // A write that does no harm when it is executed twice: also tried again after a 5xx with
  // Retry-After.
  bool repeats_5xx = false;
  // Called at most once, before the answer, when that is late: none has come kLateAfter after the
  // request's turn, over all its tries; or the request waits for its turn because its namespace has
  // its share of requests under way, and one of those is late. May be empty. Executor's thread.
  std::function<void()> on_late{};
};

// When an answer is late. Far longer than a server takes that is well.
inline constexpr Duration kLateAfter = std::chrono::seconds(1);

// ApiError::reason where no server gave one (code 0).
inline constexpr std::string_view kReasonCancelled = "Cancelled";
inline constexpr std::string_view kReasonTimeout = "Timeout";          // also: a stream fell silent
inline constexpr std::string_view kReasonUnreachable = "Unreachable";  // no connection was made
inline constexpr std::string_view kReasonCredentials = "Credentials";  // there are none to send
inline constexpr std::string_view kReasonConnectionLost = "ConnectionLost";
// The answer was longer than any that such a request may have.
inline constexpr std::string_view kReasonTooLarge = "ResponseTooLarge";
inline constexpr std::string_view kReasonNotLeader = "NotLeader";  // see ClientOptions::may_write

// The error of a request, by what the caller may conclude.
struct ApiError {
  // HTTP status, or 0 when no complete answer came.
  int code = 0;
  // Status.reason and Status.message of the body, where it was a Status; else a summary.
  std::string reason{};
  std::string message{};
  std::optional<Duration> retry_after{};
  // No byte of the request can have reached the server (refused, unresolved, cancelled in line).
  bool never_sent = false;

  // Whether the server may or may not have done what was asked: no answer, or 5xx.
  bool unknown_outcome() const { return !never_sent && (code == 0 || code >= 500); }
  // Whether there is no object of the name, or another one by now, whose UID the request does not
  // name. The server calls a patch of the other one invalid, and all else a conflict; both may have
  // other reasons, such as a webhook's, that say nothing of the object.
  bool object_is_gone() const;
  // "pods \"web\" not found (404 NotFound)" or the transport's text.
  std::string ToString() const;
};

struct Response {
  int code = 0;
  std::string content_type{};
  std::string body{};
};

using ResponseResult = tl::expected<Response, ApiError>;
using OnResponse = std::function<void(ResponseResult)>;

// A request under way; destroying it changes nothing.
class Call {
 public:
  virtual ~Call() = default;
  // The done function is still called, with an error. Any thread.
  virtual void Cancel() = 0;
};

// A response read as it arrives.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  // A 2xx answer begins.
  virtual void OnStart(const Response& head) = 0;
  // More of the body. false ends the stream; OnEnd() then gets kReasonCancelled.
  virtual bool OnData(std::string_view data) = 0;
  // Exactly once, last. nullopt: the server ended the body in an orderly way.
  virtual void OnEnd(std::optional<ApiError> error) = 0;
};

// Talks to one API server over HTTPS.
//
// Thread safety: any thread. Callbacks run on executor()'s thread, never inside the call.
class ApiClient {
 public:
  virtual ~ApiClient() = default;

  // Calls `done` exactly once. The answer's body is bounded by what the request is for; a longer
  // one is no answer (kReasonTooLarge).
  virtual std::shared_ptr<Call> Send(Request request, OnResponse done) = 0;
  // Like Send, for lists and watches; the connection counts as dead after `silence` without a
  // byte (zero: never). No retries: the caller resumes where it stood.
  virtual std::shared_ptr<Call> Stream(Request request, Duration silence,
                                       std::shared_ptr<StreamHandler> handler) = 0;

  // Whether writes are let through now; see kReasonNotLeader. For what changes the cluster by
  // another road than this one.
  virtual bool MayWrite() const { return true; }

  // Whether bodies are to be protobuf. Not before the server has answered in it: what stands in a
  // server's place may know JSON only.
  virtual bool ReadsProtobuf() const { return false; }

  // The thread that I/O and asynchronous work runs on.
  virtual base::Executor& executor() = 0;
};

// Lets reads through to another client. A write is not sent: it is answered with success on the
// executor's next turn, so that the caller goes on as if it was done; an update with what was sent,
// else without a body.
//
// Thread safety: any thread, as ApiClient.
class ReadOnlyClient final : public ApiClient {
 public:
  // `client` must outlive this.
  explicit ReadOnlyClient(ApiClient& client) : client_(client) {}

  std::shared_ptr<Call> Send(Request request, OnResponse done) override;
  std::shared_ptr<Call> Stream(Request request, Duration silence,
                               std::shared_ptr<StreamHandler> handler) override;
  base::Executor& executor() override { return client_.executor(); }

 private:
  ApiClient& client_;
};

}  // namespace berth::client
