// SPDX-License-Identifier: Apache-2.0
#include <curl/curl.h>
#include <openssl/ssl.h>

#include <utility>

#include "src/base/logging.h"
#include "src/client/transport.h"
#include "src/client/transport_attempt.h"

namespace berth::client {
namespace {

// From one connection for a session to the next: meanwhile libcurl carries the requests.
constexpr Duration kDialPause = std::chrono::seconds(10);

// libcurl shows the TLS session only while a transfer uses it, which this one never does; OpenSSL
// tells what was negotiated when it happens.
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
  constexpr unsigned char kProtocols[] = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(ctx, kProtocols, sizeof kProtocols);
  return CURLE_OK;
}

}  // namespace

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
  if (!config_.many_requests || !server_speaks_http2_) return nullptr;
  if (session_ != nullptr && session_->over()) RetireSession();
  if (session_ != nullptr) return session_.get();
  if (loop_.Now() < next_dial_) return nullptr;
  next_dial_ = loop_.Now() + kDialPause;
  // A multi handle of its own: libcurl closes idle connections of its pool that have something to
  // read, and this one is idle in its eyes.
  TransportConfig config = config_;
  config.many_requests = false;
  dialer_ = std::make_unique<Transport>(loop_, std::move(config), identity_);
  dialer_->Dial([this](int fd) { OnDialled(fd); });
  return nullptr;
}

void Transport::Dial(std::function<void(int fd)> dialled) {
  dialled_ = std::move(dialled);
  connector_ = MakeAttempt();
  CURL* easy = connector_->easy;
  curl_easy_setopt(easy, CURLOPT_URL, base_url_.c_str());
  curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
  // Else libcurl would speak HTTP/2 itself on what it opens.
  curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &OnTlsContext);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, &connector_->negotiated_http2);
  const CURLMcode code = curl_multi_add_handle(static_cast<CURLM*>(multi_), easy);
  BERTH_CHECK(code == CURLM_OK, curl_multi_strerror(code));
}

void Transport::OnConnected(int curl_code) {
  curl_socket_t fd = CURL_SOCKET_BAD;
  const bool usable = curl_code == CURLE_OK && connector_->negotiated_http2 &&
                      curl_easy_getinfo(connector_->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK;
  dialled_(usable ? fd : -1);
}

void Transport::OnDialled(int fd) {
  // It is calling us: it lives on in the session, or until the next one is dialled.
  if (fd < 0) return;
  auto bytes = std::make_unique<CurlBytes>(std::move(dialer_));
  // The session tells its news only after this has been set.
  auto self = std::make_shared<Http2Session*>(nullptr);
  session_ =
      std::make_unique<Http2Session>(loop_, fd, std::move(bytes), config_.address.HostPort(),
                                     config_.user_agent, [this, self] { OnSessionNews(**self); });
  *self = session_.get();
}

Transport::Attempt* Transport::StartOnSession(Http2Session& session, AttemptRequest request,
                                              AttemptListener& listener) {
  if (idle_on_session_.empty()) {
    attempts_.push_back(std::make_unique<Attempt>());
    idle_on_session_.push_back(attempts_.back().get());
  }
  Attempt* attempt = idle_on_session_.back();
  idle_on_session_.pop_back();
  attempt->listener = &listener;
  attempt->headers = std::move(request.headers);
  attempt->result = AttemptResult();
  attempt->session = &session;
  attempt->url.assign(config_.address.path);
  attempt->url.append(request.path);
  attempt->stream = session.Submit({.method = request.method,
                                    .path = attempt->url,
                                    .headers = &attempt->headers->fields(),
                                    .body = request.body},
                                   request.timeout, *attempt);
  by_stream_[attempt->stream] = attempt;
  ++active_;
  return attempt;
}

void Transport::OnSessionNews(Http2Session& session) {
  for (const Http2End& end : session.TakeEnds()) FinishOnSession(session, end);
  if (session_.get() == &session && session.over()) RetireSession();
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
  result.http2 = true;
  result.error = end.error;
  AttemptListener* listener = attempt->listener;
  Release(attempt);
  listener->OnDone(result);
}

// It finishes what it has under way. It may be calling us, so it is destroyed later.
void Transport::RetireSession() {
  if (session_ != nullptr) ending_.push_back(std::move(session_));
  if (ending_timer_ != 0) return;
  ending_timer_ = loop_.PostAfter(std::chrono::milliseconds(100), [this] {
    ending_timer_ = 0;
    std::erase_if(ending_, [](const auto& one) { return one->active() == 0; });
    if (!ending_.empty()) RetireSession();
  });
}

}  // namespace berth::client
