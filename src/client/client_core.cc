// SPDX-License-Identifier: Apache-2.0
#include "src/client/client_core.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "src/api/decode.h"
#include "src/base/logging.h"
#include "src/base/string_map.h"
#include "src/base/text.h"

namespace berth::client {
namespace {

// Requests of the line that may be under way at once. With HTTP/2 they share a connection, below
// the 100 streams that kube-apiserver allows: for each one more, libcurl would open a connection.
// With HTTP/1.1, or as long as the version is not known, each may need one of its own.
constexpr size_t kSlotsHttp2 = 96;
constexpr size_t kSlotsHttp1 = 16;
// From one look for late answers to the next.
constexpr Duration kLateLook = std::chrono::milliseconds(250);
// Lists come in large pieces.
constexpr size_t kStreamBuffer = 65536;

TransportConfig TransportConfigOf(const ClientOptions& options, const ServerAddress& address,
                                  size_t receive_buffer) {
  const ClusterConfig& cluster = options.server.cluster;
  return {.address = address,
          .tls_server_name = cluster.tls_server_name,
          .insecure = cluster.insecure_skip_tls_verify,
          .proxy_url = cluster.proxy_url,
          .user_agent = options.user_agent,
          .receive_buffer = receive_buffer,
          .may_write = options.may_write};
}

ApiError Cancelled(bool never_sent) {
  ApiError error;
  error.reason = kReasonCancelled;
  error.message = "the request was cancelled";
  error.never_sent = never_sent;
  return error;
}

bool IsWrite(Verb verb) {
  return verb != Verb::kGet && verb != Verb::kList && verb != Verb::kWatch;
}

// What only a process that may write sends.
bool IsFenced(const Request& request) {
  return IsWrite(request.verb) && request.priority != Priority::kUnlimited &&
         request.priority != Priority::kEvent;
}

}  // namespace

CurlClient::Core::Core(ClientOptions options, ServerAddress address, const Clock& clock)
    : options_(std::move(options)),
      address_(std::move(address)),
      host_(address_.HostPort()),
      clock_(clock),
      loop_(clock),
      random_(options_.seed),
      slots_(kSlotsHttp1),
      queue_(options_.qps, options_.burst, &slots_),
      streams_(loop_, TransportConfigOf(options_, address_, kStreamBuffer)),
      leases_(loop_, TransportConfigOf(options_, address_, 16384)),
      writes_(loop_, TransportConfigOf(options_, address_, 16384)) {
  const ServerConfig& server = options_.server;
  std::unique_ptr<ExecPlugin> exec;
  if (server.user.exec) exec = MakeExecPlugin(*server.user.exec, server.cluster, loop_);
  credentials_ = std::make_unique<Credentials>(server, clock, std::move(exec));
  if (credentials_->watches_files()) WatchFilesLater();
}

void CurlClient::Core::Submit(std::shared_ptr<Exchange> exchange) {
  loop_.Post([this, exchange = std::move(exchange)]() mutable { Begin(std::move(exchange)); });
}

void CurlClient::Core::Cancel(uint64_t id) {
  loop_.Post([this, id] { FailCancelled(id); });
}

void CurlClient::Core::Close() {
  bool done = false;
  loop_.Post([this, &done] {
    closed_ = true;
    while (!exchanges_.empty()) FailCancelled(exchanges_.begin()->first);
    base::MutexLock lock(close_mutex_);
    done = true;
    close_done_.NotifyAll();
  });
  base::MutexLock lock(close_mutex_);
  while (!done) close_done_.Wait(close_mutex_);
}

void CurlClient::Core::TearDown() {
  for (const auto timer : {turn_timer_, files_timer_, renewal_timer_, late_timer_})
    loop_.Cancel(timer);
  credentials_.reset();
  for (Channel* channel : {&streams_, &leases_, &writes_}) channel->Clear();
}

void CurlClient::Core::Begin(std::shared_ptr<Exchange> exchange) {
  if (closed_) {
    exchange->Fail(Cancelled(/*never_sent=*/true));
    return;
  }
  Exchange& one = *exchange;
  one.submitted = clock_.Now();
  one.answered = [this](const Exchange& answered, int code) { ReportAttempt(answered, code); };
  one.attempt_done = [this](Exchange& ended, const AttemptResult& result) {
    OnAttemptDone(ended, result);
  };
  exchanges_.emplace(one.id, std::move(exchange));
  if (one.request.on_late != nullptr) TellLateLater();
  Enter(one);
}

void CurlClient::Core::Enter(Exchange& exchange) {
  if (exchange.request.priority == Priority::kUnlimited) {
    ReportWait(exchange, Duration::zero());
    Authorize(exchange);
    return;
  }
  exchange.in_line = true;
  exchange.in_line_since = clock_.Now();
  queue_.Push(exchange.id, exchange.request.priority,
              exchange.in_line_since - exchange.request.waited, exchange.owner);
  Pump();
}

void CurlClient::Core::Pump() {
  if (closed_) return;
  const Time now = clock_.Now();
  while (slots_.free() > 0) {
    const std::optional<uint64_t> id = queue_.Pop(now);
    if (!id) break;
    Exchange& exchange = *exchanges_.at(*id);
    exchange.in_line = false;
    exchange.holds_slot = true;
    slots_.Take(exchange.owner);
    if (exchange.first_turn == Time{}) exchange.first_turn = now;
    ReportWait(exchange, now - exchange.in_line_since);
    Authorize(exchange);
  }
  loop_.Cancel(turn_timer_);
  turn_timer_ = 0;
  if (slots_.free() == 0) return;  // the next slot that becomes free pumps
  if (const auto next = queue_.NextTurn(now)) {
    turn_timer_ = loop_.PostAfter(*next - now, [this] {
      turn_timer_ = 0;
      Pump();
    });
  }
}

bool CurlClient::Core::MaySend(const Request& request) const {
  return !IsFenced(request) || MayWrite();
}

void CurlClient::Core::RefuseToSend(uint64_t id) {
  // Later: the caller is still busy with the exchange.
  loop_.Post([this, id] {
    if (!exchanges_.contains(id)) return;
    ApiError error;
    error.reason = kReasonNotLeader;
    error.message = "not sent: this process does not hold the lease";
    error.never_sent = true;
    Remove(id)->Fail(std::move(error));
    Pump();
  });
}

void CurlClient::Core::Launch(Exchange& exchange, const IdentityPtr& identity) {
  if (!MaySend(exchange.request)) {
    RefuseToSend(exchange.id);
    return;
  }
  exchange.BeginAttempt();
  exchange.identity = identity;
  exchange.transport = &ChannelOf(exchange).For(identity);
  AttemptRequest attempt{.method = exchange.method(),
                         .path = exchange.request.path,
                         .body = exchange.request.body,
                         .is_write = IsWrite(exchange.request.verb),
                         .fenced = IsFenced(exchange.request),
                         .headers = HeadersFor(exchange.request, identity),
                         .timeout = exchange.request.timeout};
  exchange.attempt = exchange.transport->Start(std::move(attempt), exchange);
  if (exchange.silence > Duration::zero()) WatchSilence(exchange, exchange.silence);
}

void CurlClient::Core::WatchSilence(Exchange& exchange, Duration wait) {
  exchange.silence_timer = loop_.PostAfter(wait, [this, id = exchange.id] {
    Exchange& quiet = *exchanges_.at(id);
    quiet.silence_timer = 0;
    const Duration left = quiet.last_data + quiet.silence - clock_.Now();
    if (left > Duration::zero()) {
      WatchSilence(quiet, left);
      return;
    }
    ChannelOf(quiet).Distrust(quiet.transport);
    const std::shared_ptr<Exchange> ended = Remove(id);
    ApiError error;
    error.reason = kReasonTimeout;
    error.message =
        base::Concat(ended->method(), " ", ended->request.path, ": the stream fell silent");
    ended->Fail(std::move(error));
  });
}

void CurlClient::Core::OnAttemptDone(Exchange& exchange, const AttemptResult& result) {
  const std::shared_ptr<Exchange> keep = exchanges_.at(exchange.id);  // it is calling us
  // libcurl has ended the attempt by itself.
  exchange.attempt = nullptr;
  DropAttempt(exchange);
  if (exchange.head_came == Time{}) ReportAttempt(exchange, result.code);
  Log(exchange, result);
  NoteEncoding(exchange, result);
  if (result.code != 0) {
    availability_.OnAnswer(clock_.Now(), host_);
    slots_.Resize(result.http2 ? kSlotsHttp2 : kSlotsHttp1);
  }
  FreeSlot(exchange);
  if (result.timed_out && result.sent) ChannelOf(exchange).Distrust(exchange.transport);
  PostSweep();
  std::optional<ApiError> error = exchange.ErrorOf(result);
  exchange.was_read = result.complete && (!error || exchange.received > 0);
  if (error) {
    Judge(exchange, std::move(*error));
  } else {
    Remove(exchange.id)->Succeed(result);
  }
  Pump();
}

void CurlClient::Core::NoteEncoding(const Exchange& exchange, const AttemptResult& result) {
  constexpr int kUnsupportedMediaType = 415;
  const auto is_protobuf = [](std::string_view content_type) {
    return api::EncodingOf(content_type) == api::Encoding::kProtobuf;
  };
  if (is_protobuf(result.content_type)) speaks_protobuf_ = true;
  if (result.code == kUnsupportedMediaType && is_protobuf(exchange.request.content_type)) {
    refuses_protobuf_ = true;
  }
}

void CurlClient::Core::Judge(Exchange& exchange, ApiError error) {
  if (error.code == 401 && !exchange.reauthorized && credentials_->Reject(exchange.identity)) {
    exchange.reauthorized = true;
    Retry(exchange, Duration::zero());
    return;
  }
  Duration at_least{};
  // A request that is sent but once has its answer to tell of it.
  const bool tries_again = exchange.is_stream() || exchange.request.max_retries > 0;
  if (error.reason == kReasonUnreachable && tries_again && !options_.quiet) {
    at_least = availability_.OnUnreachable(clock_.Now(), host_, error.message, random_);
  }
  const std::optional<Duration> wait =
      exchange.is_stream() ? std::nullopt
                           : RetryDelay(exchange.request, error, exchange.retries, random_);
  if (!wait) {
    Remove(exchange.id)->Fail(std::move(error));
    return;
  }
  ++exchange.retries;
  Retry(exchange, std::max(*wait, at_least));
}

void CurlClient::Core::Retry(Exchange& exchange, Duration wait) {
  exchange.was_read = false;
  exchange.retry_timer = loop_.PostAfter(wait, [this, id = exchange.id] {
    Exchange& waiting = *exchanges_.at(id);
    waiting.retry_timer = 0;
    Enter(waiting);
  });
}

void CurlClient::Core::DropAttempt(Exchange& exchange) {
  loop_.Cancel(exchange.silence_timer);
  exchange.silence_timer = 0;
  if (exchange.attempt == nullptr) return;
  exchange.transport->Abort(exchange.attempt);
  exchange.attempt = nullptr;
  if (exchange.head_came == Time{}) ReportAttempt(exchange, 0);
}

void CurlClient::Core::FreeSlot(Exchange& exchange) {
  if (!exchange.holds_slot) return;
  exchange.holds_slot = false;
  slots_.Free(exchange.owner);
}

std::shared_ptr<Exchange> CurlClient::Core::Remove(uint64_t id) {
  const auto found = exchanges_.find(id);
  std::shared_ptr<Exchange> exchange = std::move(found->second);
  exchanges_.erase(found);
  loop_.Cancel(exchange->retry_timer);
  if (exchange->in_line) queue_.Remove(id);
  DropAttempt(*exchange);
  FreeSlot(*exchange);
  PostSweep();
  ReportEnd(*exchange);
  return exchange;
}

void CurlClient::Core::FailCancelled(uint64_t id) {
  const auto found = exchanges_.find(id);
  if (found == exchanges_.end()) return;
  const Exchange& exchange = *found->second;
  const bool sent = exchange.attempt != nullptr && exchange.transport->WasSent(exchange.attempt);
  Remove(id)->Fail(Cancelled(!sent));
  Pump();
}

void CurlClient::Core::TellLateLater() {
  if (late_timer_ != 0) return;
  late_timer_ = loop_.PostAfter(kLateLook, [this] {
    late_timer_ = 0;
    TellLate();
  });
}

// A request that waits for others of its namespace is as late as they are, at once: else a crowd of
// them would be reported by as many at a time as their callers hand over within kLateAfter.
void CurlClient::Core::TellLate() {
  const Time now = clock_.Now();
  const auto is_late = [now](const Exchange& one) {
    return one.first_turn != Time{} && now - one.first_turn >= kLateAfter;
  };
  absl::flat_hash_set<std::string_view, base::StringHash> held_up;  // namespaces
  for (const auto& [id, one] : exchanges_) {
    if (is_late(*one) && queue_.HoldsBack(one->owner)) held_up.insert(one->owner);
  }
  std::vector<std::shared_ptr<Exchange>> late;
  bool others = false;
  for (const auto& [id, one] : exchanges_) {
    if (one->request.on_late == nullptr || one->told_late) continue;
    if (is_late(*one) || (one->first_turn == Time{} && held_up.contains(one->owner))) {
      late.push_back(one);
    } else {
      others = true;
    }
  }
  if (others) TellLateLater();
  for (const auto& one : late) {
    one->told_late = true;
    one->request.on_late();
  }
}

void CurlClient::Core::PostSweep() {
  const Channel* channels[] = {&streams_, &leases_, &writes_};
  const bool needed = std::any_of(std::begin(channels), std::end(channels),
                                  [](const Channel* one) { return one->needs_sweep(); });
  if (!needed || sweep_posted_) return;
  sweep_posted_ = true;
  loop_.Post([this] {
    sweep_posted_ = false;
    for (Channel* channel : {&streams_, &leases_, &writes_}) channel->Sweep();
  });
}

Channel& CurlClient::Core::ChannelOf(const Exchange& exchange) {
  if (exchange.is_stream()) return streams_;
  return exchange.request.priority == Priority::kUnlimited ? leases_ : writes_;
}

void CurlClient::Core::ReportAttempt(const Exchange& exchange, int code) const {
  if (options_.observer == nullptr) return;
  options_.observer->OnAttempt({.verb = exchange.request.verb,
                                .host = address_.authority,
                                .code = code,
                                .request_bytes = exchange.request.body.size(),
                                .is_retry = exchange.attempts > 1});
}

void CurlClient::Core::ReportWait(const Exchange& exchange, Duration waited) const {
  if (options_.observer == nullptr || exchange.request.verb == Verb::kWatch) return;
  options_.observer->OnRateLimited(exchange.request.verb, address_.authority, waited);
}

void CurlClient::Core::ReportEnd(const Exchange& exchange) const {
  if (options_.observer == nullptr || exchange.attempts == 0) return;
  RequestObserver::End end{.verb = exchange.request.verb,
                           .host = address_.authority,
                           .duration = clock_.Now() - exchange.submitted,
                           .response_bytes = {}};
  if (exchange.was_read) end.response_bytes = exchange.received;
  options_.observer->OnEnd(end);
}

void CurlClient::Core::Log(const Exchange& exchange, const AttemptResult& result) const {
  constexpr int kVerbosity = 6;
  if (base::LogVerbosity() < kVerbosity) return;
  const bool began = exchange.is_stream() && exchange.head_came != Time{};
  const Duration took = (began ? exchange.head_came : clock_.Now()) - exchange.attempt_began;
  base::LogV(kVerbosity, "Request",
             {{"method", exchange.method()},
              {"path", exchange.request.path},
              {"code", result.code},
              {"ms", std::chrono::duration_cast<std::chrono::milliseconds>(took).count()}});
}

Transport& Channel::For(const IdentityPtr& identity) {
  if (current_ != nullptr && !current_->identity()->SameTls(*identity)) Retire();
  if (current_ == nullptr) current_ = std::make_unique<Transport>(loop_, config_, identity);
  return *current_;
}

void Channel::EndOld() {
  for (const auto& one : old_) one->EndAll("the connection was renewed: certificates have changed");
}

bool Channel::needs_sweep() const {
  return std::any_of(old_.begin(), old_.end(), [](const auto& one) { return one->active() == 0; });
}

void Channel::Sweep() {
  std::erase_if(old_, [](const auto& one) { return one->active() == 0; });
}

void Channel::Clear() {
  current_.reset();
  old_.clear();
}

}  // namespace berth::client
