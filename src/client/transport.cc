// SPDX-License-Identifier: Apache-2.0
#include "src/client/transport.h"

#include <absl/strings/ascii.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <system_error>

#include "berth/check.h"
#include "src/base/text.h"
#include "src/client/transport_attempt.h"

namespace berth::client {
namespace {

constexpr long kConnectTimeoutMs = 10'000;
constexpr unsigned kUserTimeoutMs = 30'000;
// libcurl takes the smaller of this and what the server says (kube-apiserver: 100 by default).
constexpr long kMostStreams = 1000;
// Rounds of due transfers before other descriptors get their turn.
constexpr int kMostRounds = 8;

// Once in a process; libcurl counts no references that would matter to us.
void InitLibrary() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  BERTH_CHECK(code == CURLE_OK, "libcurl cannot be initialised");
}

bool IsLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

}  // namespace

// libcurl's callbacks.
struct TransportCallbacks {
  static int OnSocket(CURL*, curl_socket_t fd, int what, void* user, void*) {
    auto* self = static_cast<Transport*>(user);
    if (what == CURL_POLL_REMOVE) {
      self->loop_.Unwatch(fd, *self);
      return 0;
    }
    uint32_t events = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
    self->loop_.Watch(fd, events, *self);
    return 0;
  }

  static int OnTimer(CURLM*, long timeout_ms, void* user) {
    static_cast<Transport*>(user)->SetTimer(timeout_ms);
    return 0;
  }

  static int OnNewSocket(void*, curl_socket_t fd, curlsocktype) {
    const unsigned timeout = kUserTimeoutMs;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
    return CURL_SOCKOPT_OK;
  }

  static int BeforeSending(void* user, char*, char*, int, int) {
    auto* attempt = static_cast<Transport::Attempt*>(user);
    if (attempt->result.sent && attempt->request.is_write) return CURL_PREREQFUNC_ABORT;
    if (attempt->owner->IsFenced(*attempt) && !attempt->owner->config_.may_write()) {
      attempt->result.not_leader = true;
      return CURL_PREREQFUNC_ABORT;
    }
    if (!attempt->result.sent && attempt->owner->IsForSession()) {
      attempt->for_session = true;
      return CURL_PREREQFUNC_ABORT;
    }
    attempt->result.sent = true;
    return CURL_PREREQFUNC_OK;
  }

  static void ReportHead(Transport::Attempt& attempt) {
    long code = 0;
    char* type = nullptr;
    curl_easy_getinfo(attempt.easy, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_getinfo(attempt.easy, CURLINFO_CONTENT_TYPE, &type);
    attempt.head_reported = true;
    attempt.result.code = static_cast<int>(code);
    if (type != nullptr) attempt.result.content_type = type;
    attempt.listener->OnHead(attempt.result.code, attempt.result.content_type);
  }

  static size_t OnHeader(char* data, size_t size, size_t count, void* user) {
    auto& attempt = *static_cast<Transport::Attempt*>(user);
    const std::string_view line(data, size * count);
    if (line != "\r\n" && line != "\n") return line.size();
    long code = 0;
    curl_easy_getinfo(attempt.easy, CURLINFO_RESPONSE_CODE, &code);
    if (code >= 200 && !attempt.head_reported) ReportHead(attempt);
    return line.size();
  }

  static size_t OnBody(char* data, size_t size, size_t count, void* user) {
    auto& attempt = *static_cast<Transport::Attempt*>(user);
    const std::string_view chunk(data, size * count);
    if (!attempt.head_reported) ReportHead(attempt);
    if (attempt.listener->OnBody(chunk)) return chunk.size();
    attempt.result.stopped_by_listener = true;
    return 0;
  }
};

Transport::Transport(base::EventLoop& loop, TransportConfig config, IdentityPtr identity)
    : loop_(loop), config_(std::move(config)), identity_(std::move(identity)) {
  InitLibrary();
  const ServerAddress& address = config_.address;
  base_url_ = base::Concat(address.scheme, "://", address.HostPort(), address.path);
  if (!config_.tls_server_name.empty()) {
    // The URL's host is what is asked for (SNI) and verified; the connection goes elsewhere.
    const ServerAddress named{.scheme = address.scheme,
                              .host = config_.tls_server_name,
                              .port = address.port,
                              .path = address.path};
    base_url_ = base::Concat(named.scheme, "://", named.HostPort(), named.path);
    connect_to_ = curl_slist_append(nullptr, base::Concat("::", address.HostPort()).c_str());
  }
  OpenMulti();
}

void Transport::OpenMulti() {
  CURLM* multi = curl_multi_init();
  BERTH_CHECK(multi != nullptr, "out of memory");
  multi_ = multi;
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &TransportCallbacks::OnSocket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &TransportCallbacks::OnTimer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, kMostStreams);
}

Transport::~Transport() {
  session_.reset();
  ending_.clear();
  loop_.Cancel(ending_timer_);
  if (connector_ != nullptr) curl_multi_remove_handle(multi_, connector_->easy);
  for (const auto& attempt : attempts_) {
    loop_.Cancel(attempt->deadline_timer);
    if (attempt->place == Attempt::Place::kCurl) curl_multi_remove_handle(multi_, attempt->easy);
  }
  // Closes the kept connections, which calls OnSocket.
  curl_multi_cleanup(static_cast<CURLM*>(multi_));
  loop_.Cancel(timer_);
  curl_slist_free_all(static_cast<curl_slist*>(connect_to_));
}

std::unique_ptr<Transport::Attempt> Transport::MakeAttempt() {
  auto attempt = std::make_unique<Attempt>(curl_easy_init());
  attempt->owner = this;
  CURL* easy = attempt->easy;
  const auto set = [easy](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(easy, option, value);
    BERTH_CHECK(code == CURLE_OK, curl_easy_strerror(code));
  };
  set(CURLOPT_PRIVATE, attempt.get());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // A request waits for the connection of another where that may speak HTTP/2. Without TLS it does
  // not, and libcurl would wait for an answer that, of a watch, does not end.
  set(CURLOPT_PIPEWAIT, base_url_.starts_with("https:") ? 1L : 0L);
  // Names are looked up in a thread of libcurl's, which it joins when the request ends early: that
  // would hold the I/O thread up for as long as the name server is silent. The thread is let go.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, 15L);
  set(CURLOPT_TCP_KEEPINTVL, 10L);
  set(CURLOPT_SOCKOPTFUNCTION, &TransportCallbacks::OnNewSocket);
  set(CURLOPT_PREREQFUNCTION, &TransportCallbacks::BeforeSending);
  set(CURLOPT_PREREQDATA, attempt.get());
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_HEADERFUNCTION, &TransportCallbacks::OnHeader);
  set(CURLOPT_HEADERDATA, attempt.get());
  set(CURLOPT_WRITEFUNCTION, &TransportCallbacks::OnBody);
  set(CURLOPT_WRITEDATA, attempt.get());
  set(CURLOPT_ERRORBUFFER, attempt->error_text);
  set(CURLOPT_BUFFERSIZE, static_cast<long>(config_.receive_buffer));
  set(CURLOPT_USERAGENT, config_.user_agent.c_str());
  if (connect_to_ != nullptr) set(CURLOPT_CONNECT_TO, static_cast<curl_slist*>(connect_to_));

  if (!config_.proxy_url.empty()) {
    // client-go lets a SOCKS proxy resolve names.
    const bool socks = config_.proxy_url.starts_with("socks5://");
    const std::string proxy = socks ? "socks5h" + config_.proxy_url.substr(6) : config_.proxy_url;
    set(CURLOPT_PROXY, proxy.c_str());
    set(CURLOPT_NOPROXY, "");
  } else if (IsLoopback(config_.address.host)) {
    set(CURLOPT_PROXY, "");  // proxies of the environment are never for the own machine
  }

  SetTlsCallback(easy, &server_speaks_http2_);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (config_.insecure) {
    set(CURLOPT_SSL_VERIFYPEER, 0L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
  const auto set_blob = [&set](CURLoption option, const std::string& pem) {
    curl_blob blob{};
    blob.data = const_cast<char*>(pem.data());
    blob.len = pem.size();
    blob.flags = CURL_BLOB_NOCOPY;  // identity_ outlives the handle
    set(option, &blob);
  };
  if (!identity_->ca_pem.empty()) {
    set_blob(CURLOPT_CAINFO_BLOB, identity_->ca_pem);
    // Else the system's authorities would be trusted besides the cluster's own.
    set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
  }
  if (!identity_->client_certificate_pem.empty()) {
    set_blob(CURLOPT_SSLCERT_BLOB, identity_->client_certificate_pem);
    set_blob(CURLOPT_SSLKEY_BLOB, identity_->client_key_pem);
  }
  return attempt;
}

Transport::Attempt* Transport::TakeAttempt(bool with_handle) {
  std::vector<Attempt*>& idle = with_handle ? idle_ : idle_without_handle_;
  if (idle.empty()) {
    attempts_.push_back(with_handle ? MakeAttempt() : std::make_unique<Attempt>());
    idle.push_back(attempts_.back().get());
  }
  Attempt* attempt = idle.back();
  idle.pop_back();
  return attempt;
}

Transport::Attempt* Transport::Start(AttemptRequest request, AttemptListener& listener) {
  Http2Session* session = Session();
  Attempt* attempt = TakeAttempt(/*with_handle=*/session == nullptr && !dialling_);
  attempt->owner = this;
  attempt->listener = &listener;
  attempt->request = std::move(request);
  const Duration timeout = attempt->request.timeout;
  attempt->deadline = timeout > Duration::zero() ? loop_.Now() + timeout : Time{};
  attempt->result = AttemptResult();
  ++active_;
  if (session != nullptr) {
    StartOnSession(attempt, *session);
  } else if (dialling_) {
    Await(attempt);
  } else {
    StartOnCurl(attempt);
  }
  return attempt;
}

void Transport::StartOnCurl(Attempt* attempt) {
  const AttemptRequest& request = attempt->request;
  attempt->place = Attempt::Place::kCurl;
  attempt->for_session = false;
  attempt->head_reported = false;
  attempt->error_text[0] = '\0';
  attempt->url.assign(base_url_);
  attempt->url.append(request.path);

  CURL* easy = attempt->easy;
  curl_easy_setopt(easy, CURLOPT_URL, attempt->url.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, request.headers->raw());
  curl_easy_setopt(
      easy, CURLOPT_TIMEOUT_MS,
      static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(request.timeout).count()));
  const std::string_view method = request.method;
  if (request.body.empty() && (method == "GET" || method == "DELETE")) {
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  } else {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method == "GET" ? nullptr : request.method);
  const CURLMcode code = curl_multi_add_handle(static_cast<CURLM*>(multi_), easy);
  BERTH_CHECK(code == CURLM_OK, curl_multi_strerror(code));
  if (IsFenced(*attempt)) ++fenced_on_curl_;
}

bool Transport::IsFenced(const Attempt& attempt) const {
  return attempt.request.fenced && config_.may_write != nullptr;
}

void Transport::TakeFromCurl(Attempt* attempt) {
  curl_multi_remove_handle(static_cast<CURLM*>(multi_), attempt->easy);
  if (IsFenced(*attempt)) --fenced_on_curl_;
}

void Transport::Cut() {
  for (const auto& one : attempts_) {
    if (one->place != Attempt::Place::kCurl) continue;
    // TLS may hold the rest of a record, and closes with words of its own.
    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_easy_getinfo(one->easy, CURLINFO_ACTIVESOCKET, &fd);
    if (fd != CURL_SOCKET_BAD) shutdown(fd, SHUT_RDWR);
    TakeFromCurl(one.get());
    one->place = Attempt::Place::kCut;
  }
  curl_multi_cleanup(static_cast<CURLM*>(multi_));
  due_.reset();
  OpenMulti();
  // By index: a listener may start another attempt, or abort one of these.
  for (size_t i = 0; i < attempts_.size(); ++i) {
    Attempt* attempt = attempts_[i].get();
    if (attempt->place != Attempt::Place::kCut) continue;
    AttemptResult result = std::move(attempt->result);
    result.not_leader = true;
    result.error = "this process does not hold the lease";
    AttemptListener* listener = attempt->listener;
    Release(attempt);
    listener->OnDone(result);
  }
}

void Transport::Release(Attempt* attempt) {
  if (attempt->place == Attempt::Place::kCurl) TakeFromCurl(attempt);
  loop_.Cancel(attempt->deadline_timer);
  attempt->deadline_timer = 0;
  attempt->place = Attempt::Place::kIdle;
  attempt->listener = nullptr;
  attempt->request = AttemptRequest();
  --active_;
  (attempt->easy != nullptr ? idle_ : idle_without_handle_).push_back(attempt);
}

void Transport::Abort(Attempt* attempt) {
  if (attempt->place == Attempt::Place::kSession) {
    by_stream_.erase(attempt->stream);
    attempt->session->Cancel(attempt->stream);
    SweepSessions();
  } else if (attempt->place == Attempt::Place::kWaiting) {
    std::erase(waiting_, attempt);
  }
  Release(attempt);
}

void Transport::EndAll(const std::string& error) {
  for (const auto& one : attempts_) {
    if (one->place == Attempt::Place::kIdle) continue;
    AttemptResult result;
    result.sent = WasSent(one.get());
    result.error = error;
    AttemptListener* listener = one->listener;
    Abort(one.get());
    listener->OnDone(result);
  }
}

bool Transport::WasSent(const Attempt* attempt) {
  return attempt->place == Attempt::Place::kSession ? Http2Session::WasSent(attempt->stream)
                                                    : attempt->result.sent;
}

void Transport::SetTimer(long timeout_ms) {
  if (timeout_ms < 0) {
    due_.reset();
    return;
  }
  due_ = loop_.Now() + std::chrono::milliseconds(timeout_ms);
  if (!acting_) Arm();
}

void Transport::Arm() {
  if (!due_ || (timer_ != 0 && armed_ <= *due_)) return;
  loop_.Cancel(timer_);
  armed_ = *due_;
  timer_ = loop_.PostAfter(std::max(armed_ - loop_.Now(), Duration::zero()), [this] {
    timer_ = 0;
    if (due_ && *due_ > loop_.Now()) {
      Arm();
    } else if (due_) {
      Act(CURL_SOCKET_TIMEOUT, 0);
    }
  });
}

void Transport::Act(int fd, int mask) {
  if (MustCut()) {
    Cut();
    return;
  }
  auto* multi = static_cast<CURLM*>(multi_);
  int running = 0;
  acting_ = true;
  curl_multi_socket_action(multi, fd, mask, &running);
  // An answer that has come makes its transfer due at once: no need for another turn of the loop.
  for (int i = 0; i < kMostRounds && due_ && *due_ <= loop_.Now() && !MustCut(); ++i) {
    due_.reset();
    curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
  acting_ = false;
  Arm();
  Reap();
}

void Transport::OnReady(int fd, uint32_t events) {
  int mask = 0;
  if ((events & EPOLLIN) != 0) mask |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) mask |= CURL_CSELECT_OUT;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) mask |= CURL_CSELECT_ERR;
  Act(fd, mask);
}

void Transport::Reap() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(static_cast<CURLM*>(multi_), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    char* attempt = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &attempt);
    if (connector_ != nullptr && message->easy_handle == connector_->easy) {
      OnConnected(code);
    } else {
      Finish(reinterpret_cast<Attempt*>(attempt), code);
    }
  }
}

// libcurl does not say why a connection was not made.
std::string Transport::ErrorOf(const Attempt& attempt, int curl_code) {
  const auto known = static_cast<CURLcode>(curl_code);
  std::string text = attempt.error_text[0] != '\0' ? attempt.error_text : curl_easy_strerror(known);
  long number = 0;
  if (known == CURLE_COULDNT_CONNECT) curl_easy_getinfo(attempt.easy, CURLINFO_OS_ERRNO, &number);
  if (number != 0) text += ": " + std::generic_category().message(static_cast<int>(number));
  return text;
}

void Transport::Finish(Attempt* attempt, int curl_code) {
  if (attempt->for_session) {
    MoveToSession();
    return;
  }
  AttemptResult result = std::move(attempt->result);
  CURL* easy = attempt->easy;
  long code = 0;
  long version = 0;
  curl_off_t retry_after = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
  curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
  curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after);
  result.code = attempt->head_reported ? static_cast<int>(code) : 0;
  result.complete = curl_code == CURLE_OK;
  result.timed_out = curl_code == CURLE_OPERATION_TIMEDOUT;
  result.http2 = version == CURL_HTTP_VERSION_2_0;
  if (retry_after > 0) result.retry_after = std::chrono::seconds(retry_after);
  if (!result.complete) result.error = ErrorOf(*attempt, curl_code);
  AttemptListener* listener = attempt->listener;
  Release(attempt);
  listener->OnDone(result);
}

HeaderList::HeaderList(const std::vector<std::string>& lines) {
  curl_slist* list = nullptr;
  for (const std::string& line : lines) {
    curl_slist* longer = curl_slist_append(list, line.c_str());
    BERTH_CHECK(longer != nullptr, "out of memory");
    list = longer;
    const size_t colon = line.find(':');
    const size_t value = line.find_first_not_of(' ', colon + 1);
    std::string name = line.substr(0, colon);
    absl::AsciiStrToLower(&name);
    if (value != std::string::npos && name != "host") {
      fields_.emplace_back(std::move(name), line.substr(value));
    }
  }
  list_ = list;
}

HeaderList::~HeaderList() { curl_slist_free_all(static_cast<curl_slist*>(list_)); }

}  // namespace berth::client
