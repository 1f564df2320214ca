// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/client/http2_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <nghttp2/nghttp2.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>

#include "berth/check.h"

namespace berth::test {
namespace {

int SelectHttp2(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
                unsigned in_size, void*) {
  static constexpr unsigned char kOurs[] = {2, 'h', '2'};
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, size, kOurs, sizeof kOurs, in, in_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

SSL_CTX* MakeContext(const CertifiedKey& own) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  BIO* bio = BIO_new_mem_buf(own.certificate_pem.data(), -1);
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  bio = BIO_new_mem_buf(own.key_pem.data(), -1);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  BERTH_CHECK(SSL_CTX_use_certificate(context, certificate) == 1, "bad certificate");
  BERTH_CHECK(SSL_CTX_use_PrivateKey(context, key) == 1, "bad key");
  X509_free(certificate);
  EVP_PKEY_free(key);
  SSL_CTX_set_alpn_select_cb(context, &SelectHttp2, nullptr);
  return context;
}

nghttp2_nv Field(std::string_view name, std::string_view value) {
  nghttp2_nv field{};
  field.name = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data()));
  field.namelen = name.size();
  field.value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data()));
  field.valuelen = value.size();
  return field;
}

}  // namespace

class Http2Server::Impl {
 public:
  Impl() : context_(MakeContext(authority_.Issue("server", {"IP:127.0.0.1"}))) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    BERTH_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                    listen(listener_, 16) == 0 &&
                    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0,
                "no port");
    port_ = ntohs(address.sin_port);
    accepter_ = std::thread([this] { Accept(); });
  }
  ~Impl() {
    shutdown(listener_, SHUT_RDWR);
    accepter_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    for (const int fd : open_) close(fd);
    close(listener_);
    SSL_CTX_free(context_);
  }

  const TestAuthority authority_;
  SSL_CTX* context_ = nullptr;
  int listener_ = -1;
  int port_ = 0;
  std::thread accepter_;
  std::vector<std::thread> threads_;  // the accepter's

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> open_;
  std::vector<std::string> requests_;
  bool silent_ = false;
  int hang_from_ = 1000;
  int unanswered_pings_ = 0;

 private:
  struct Connection {
    Impl* server = nullptr;
    int number = 0;
    std::map<int32_t, std::string> paths;
    std::map<int32_t, std::string> bodies;
  };

  void Accept() {
    for (int number = 1;; ++number) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const std::lock_guard lock(mutex_);
      open_.push_back(fd);
      threads_.emplace_back([this, fd, number] { Serve(fd, number); });
    }
  }

  void Serve(int fd, int number) {
    SSL* ssl = SSL_new(context_);
    SSL_set_fd(ssl, fd);
    Connection connection{.server = this, .number = number, .paths = {}, .bodies = {}};
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
    nghttp2_session* session = nullptr;
    nghttp2_session_server_new(&session, callbacks, &connection);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
    if (HangsFor(number)) {
      char ignored[1024];
      while (recv(fd, ignored, sizeof ignored, 0) > 0) continue;
    } else if (SSL_accept(ssl) == 1) {
      Pump(ssl, session);
    }
    nghttp2_session_del(session);
    SSL_free(ssl);
    shutdown(fd, SHUT_RDWR);
  }

  void Pump(SSL* ssl, nghttp2_session* session) {
    uint8_t buffer[16384];
    for (;;) {
      const uint8_t* out = nullptr;
      for (ssize_t size = 0; (size = nghttp2_session_mem_send(session, &out)) > 0;) {
        if (!Silent() && SSL_write(ssl, out, static_cast<int>(size)) <= 0) return;
      }
      const int got = SSL_read(ssl, buffer, sizeof buffer);
      if (got <= 0) return;
      if (nghttp2_session_mem_recv(session, buffer, static_cast<size_t>(got)) < 0) return;
    }
  }

  bool HangsFor(int number) {
    const std::lock_guard lock(mutex_);
    return number >= hang_from_;
  }
  bool Silent() {
    const std::lock_guard lock(mutex_);
    return silent_;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user) {
    if (std::string_view(reinterpret_cast<const char*>(name), name_size) == ":path") {
      static_cast<Connection*>(user)->paths[frame->hd.stream_id] =
          std::string(reinterpret_cast<const char*>(value), value_size);
    }
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    auto& connection = *static_cast<Connection*>(user);
    const int32_t id = frame->hd.stream_id;
    if (frame->hd.type == NGHTTP2_PING) connection.server->OnPing();
    if (id == 0 || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    const std::string& path = connection.paths[id];
    connection.server->OnRequest(connection.number, path);
    connection.bodies[id] = path == "/watch" ? "line\n" : "{}";
    const nghttp2_nv fields[] = {Field(":status", "200"),
                                 Field("content-type", "application/json")};
    nghttp2_data_provider provider{};
    provider.source.ptr = &connection.bodies[id];
    provider.read_callback = path == "/watch" ? &ReadEndless : &ReadBody;
    nghttp2_submit_response(session, id, fields, 2, &provider);
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session*, int32_t, uint8_t* out, size_t size, uint32_t* flags,
                          nghttp2_data_source* source, void*) {
    auto* body = static_cast<std::string*>(source->ptr);
    const size_t count = body->copy(reinterpret_cast<char*>(out), size);
    body->erase(0, count);
    if (body->empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }
  static ssize_t ReadEndless(nghttp2_session*, int32_t, uint8_t* out, size_t size, uint32_t*,
                             nghttp2_data_source* source, void*) {
    auto* body = static_cast<std::string*>(source->ptr);
    if (body->empty()) return NGHTTP2_ERR_DEFERRED;
    const size_t count = body->copy(reinterpret_cast<char*>(out), size);
    body->erase(0, count);
    return static_cast<ssize_t>(count);
  }

  void OnPing() {
    const std::lock_guard lock(mutex_);
    if (silent_) ++unanswered_pings_;
    changed_.notify_all();
  }
  void OnRequest(int number, const std::string& path) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::to_string(number) + " " + path);
  }
};

Http2Server::Http2Server() : impl_(std::make_unique<Impl>()) {}
Http2Server::~Http2Server() = default;

std::string Http2Server::url() const { return "https://127.0.0.1:" + std::to_string(impl_->port_); }

const TestAuthority& Http2Server::authority() const { return impl_->authority_; }

std::vector<std::string> Http2Server::requests() const {
  const std::lock_guard lock(impl_->mutex_);
  return impl_->requests_;
}

void Http2Server::HangFrom(int connection) {
  const std::lock_guard lock(impl_->mutex_);
  impl_->hang_from_ = connection;
}

void Http2Server::FallSilent() {
  const std::lock_guard lock(impl_->mutex_);
  impl_->silent_ = true;
}

void Http2Server::SpeakAgain() {
  const std::lock_guard lock(impl_->mutex_);
  impl_->silent_ = false;
}

void Http2Server::AwaitUnansweredPing() {
  std::unique_lock lock(impl_->mutex_);
  impl_->changed_.wait(lock, [this] { return impl_->unanswered_pings_ > 0; });
}

}  // namespace berth::test
