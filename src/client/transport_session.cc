// SPDX-License-Identifier: Apache-2.0
#include <curl/curl.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <utility>

#include "src/client/transport.h"
#include "src/client/transport_attempt.h"

namespace berth::client {
namespace {

// From one connection for a session to the next: meanwhile libcurl carries the requests.
constexpr Duration kDialPause = std::chrono::seconds(10);
// Connections of libcurl's that stay when they are idle, once there are sessions. Without a bound,
// each request of a crowd that met trouble may leave one.
constexpr long kMostIdle = 4;

// OpenSSL tells what was negotiated when it happens, before libcurl sends anything.
void OnTlsInfo(const SSL* ssl, int where, int) {
  if ((where & SSL_CB_HANDSHAKE_DONE) == 0) return;
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &protocol, &size);
  auto* http2 = static_cast<bool*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  *http2 = std::string_view(reinterpret_cast<const char*>(protocol), size) == "h2";
}

CURLcode OnTlsContext(CURL*, void* context, void* http2) {
  auto* ctx = static_cast<SSL_CTX*>(context);
  SSL_CTX_set_app_data(ctx, http2);
  SSL_CTX_set_info_callback(ctx, &OnTlsInfo);
  return CURLE_OK;
}

// For a connection that libcurl opens and nothing more.
CURLcode OnDialTlsContext(CURL* easy, void* context, void* http2) {
  constexpr unsigned char kProtocols[] = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(static_cast<SSL_CTX*>(context), kProtocols, sizeof kProtocols);
  return OnTlsContext(easy, context, http2);
}

}  // namespace

void SetTlsCallback(void* easy, bool* speaks_http2) {
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &OnTlsContext);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, speaks_http2);
}

// The connection that a dialling transport has opened.
class Transport::CurlBytes final : public ByteStream {
 public:
  explicit CurlBytes(std::unique_ptr<Transport> dialer) : dialer_(std::move(dialer)) {}

  Moved Send(const uint8_t* data, size_t size) override {
    Moved moved;
    Judge(curl_easy_send(easy(), data, size, &moved.bytes), moved);
    return moved;
  }
  Moved Receive(uint8_t* data, size_t size) override {
    Moved moved;
    const CURLcode code = curl_easy_recv(easy(), data, size, &moved.bytes);
    Judge(code, moved);
    if (code == CURLE_OK && moved.bytes == 0) {
      moved.closed = true;
      moved.error = "the server closed the connection";
    }
    return moved;
  }

 private:
  CURL* easy() { return dialer_->connector_->easy; }
  static void Judge(CURLcode code, Moved& moved) {
    if (code == CURLE_OK) return;
    moved.bytes = 0;
    if (code == CURLE_AGAIN) return;
    moved.closed = true;
    moved.error = curl_easy_strerror(code);
  }

  std::unique_ptr<Transport> dialer_;
};

Http2Session* Transport::Session() {
  if (session_ != nullptr && session_->over()) RetireSession();
  if (session_ != nullptr || !IsForSession() || dialling_) return session_.get();
  next_dial_ = loop_.Now() + kDialPause;
  dialling_ = true;
  // A multi handle of its own: libcurl closes idle connections of its pool that have something to
  // read, and this one is idle in its eyes.
  dialer_ = std::make_unique<Transport>(loop_, config_, identity_);
  dialer_->Dial([this](int fd, const std::string& error) { OnDialled(fd, error); });
  return nullptr;
}

bool Transport::IsForSession() const {
  return server_speaks_http2_ && (session_ != nullptr || dialling_ || loop_.Now() >= next_dial_);
}

void Transport::MoveToSession() {
  curl_multi_setopt(static_cast<CURLM*>(multi_), CURLMOPT_MAXCONNECTS, kMostIdle);
  Http2Session* session = Session();
  for (const auto& one : attempts_) {
    Attempt* attempt = one.get();
    if (attempt->place != Attempt::Place::kCurl || attempt->result.sent) continue;
    TakeFromCurl(attempt);
    if (session != nullptr) {
      StartOnSession(attempt, *session);
    } else if (dialling_) {
      Await(attempt);
    } else {
      StartOnCurl(attempt);  // the session was lost in this moment
    }
  }
}

void Transport::Await(Attempt* attempt) {
  attempt->place = Attempt::Place::kWaiting;
  waiting_.push_back(attempt);
  if (attempt->deadline == Time{}) return;
  const Duration left = std::max(attempt->deadline - loop_.Now(), Duration::zero());
  attempt->deadline_timer = loop_.PostAfter(left, [this, attempt] {
    attempt->deadline_timer = 0;
    FailWaiting(attempt, {.timed_out = true, .error = "no connection in time"});
  });
}

void Transport::FailWaiting(Attempt* attempt, const AttemptResult& result) {
  std::erase(waiting_, attempt);
  AttemptListener* listener = attempt->listener;
  Release(attempt);
  listener->OnDone(result);
}

void Transport::Dial(OnDial dialled) {
  dialled_ = std::move(dialled);
  connector_ = MakeAttempt();
  CURL* easy = connector_->easy;
  curl_easy_setopt(easy, CURLOPT_URL, base_url_.c_str());
  curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
  // Else libcurl would speak HTTP/2 itself on what it opens.
  curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &OnDialTlsContext);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, &connector_->negotiated_http2);
  const CURLMcode code = curl_multi_add_handle(static_cast<CURLM*>(multi_), easy);
  BERTH_CHECK(code == CURLM_OK, curl_multi_strerror(code));
}

void Transport::OnConnected(int curl_code) {
  if (curl_code != CURLE_OK) {
    dialled_(-1, ErrorOf(*connector_, curl_code));
    return;
  }
  curl_socket_t fd = CURL_SOCKET_BAD;
  curl_easy_getinfo(connector_->easy, CURLINFO_ACTIVESOCKET, &fd);
  const bool usable = connector_->negotiated_http2 && fd != CURL_SOCKET_BAD;
  dialled_(usable ? fd : -1, "the server does not speak HTTP/2 any more");
}

void Transport::OnDialled(int fd, const std::string& error) {
  dialling_ = false;
  if (fd < 0) {
    // The dialer is calling us: it lives on until the next one is made.
    while (!waiting_.empty()) FailWaiting(waiting_.front(), {.error = error});
    return;
  }
  auto bytes = std::make_unique<CurlBytes>(std::move(dialer_));
  // The session tells its news only after this has been set.
  auto self = std::make_shared<Http2Session*>(nullptr);
  session_ = std::make_unique<Http2Session>(
      loop_, fd, std::move(bytes), config_.address.HostPort(), config_.user_agent,
      [this, self] { OnSessionNews(**self); }, config_.may_write);
  *self = session_.get();
  for (Attempt* attempt : std::exchange(waiting_, {})) {
    loop_.Cancel(attempt->deadline_timer);
    attempt->deadline_timer = 0;
    StartOnSession(attempt, *session_);
  }
}

void Transport::StartOnSession(Attempt* attempt, Http2Session& session) {
  const AttemptRequest& request = attempt->request;
  attempt->place = Attempt::Place::kSession;
  attempt->session = &session;
  attempt->url.assign(config_.address.path);
  attempt->url.append(request.path);
  // At least a moment: zero would be for ever.
  const Duration left = attempt->deadline == Time{}
                            ? Duration::zero()
                            : std::max(attempt->deadline - loop_.Now(), Duration(1));
  attempt->stream = session.Submit({.method = request.method,
                                    .path = attempt->url,
                                    .headers = &request.headers->fields(),
                                    .body = request.body,
                                    .fenced = request.fenced},
                                   left, *attempt);
  by_stream_[attempt->stream] = attempt;
}

void Transport::OnSessionNews(Http2Session& session) {
  for (const Http2End& end : session.TakeEnds()) FinishOnSession(session, end);
  if (session_.get() == &session && session.over()) RetireSession();
  SweepSessions();
}

void Transport::FinishOnSession(Http2Session& session, const Http2End& end) {
  const auto found = by_stream_.find(end.stream);
  session.Recycle(end.stream);
  if (found == by_stream_.end()) return;
  Attempt* attempt = found->second;
  by_stream_.erase(found);
  AttemptResult result = std::move(attempt->result);
  result.complete = end.complete;
  result.sent = end.sent;
  result.timed_out = end.timed_out;
  result.not_leader = end.not_leader;
  result.http2 = true;
  result.error = end.error;
  AttemptListener* listener = attempt->listener;
  Release(attempt);
  listener->OnDone(result);
}

// It finishes what it has under way.
void Transport::RetireSession() {
  if (session_ != nullptr) ending_.push_back(std::move(session_));
  SweepSessions();
}

void Transport::SweepSessions() {
  const auto has_ended = [](const auto& one) { return one->active() == 0; };
  if (ending_timer_ != 0 || std::none_of(ending_.begin(), ending_.end(), has_ended)) return;
  ending_timer_ = loop_.PostAfter(Duration::zero(), [this, has_ended] {
    ending_timer_ = 0;
    std::erase_if(ending_, has_ended);
  });
}

}  // namespace berth::client
