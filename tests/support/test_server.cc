// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "berth/check.h"

namespace berth::test {
namespace {

SSL_CTX* MakeContext(const TestAuthority& authority, const std::vector<std::string>& names) {
  const CertifiedKey own = authority.Issue("server", names);
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  const auto read = [](const std::string& pem) { return BIO_new_mem_buf(pem.data(), -1); };
  BIO* bio = read(own.certificate_pem);
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  bio = read(own.key_pem);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  bio = read(authority.certificate_pem());
  X509* root = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  BERTH_CHECK(SSL_CTX_use_certificate(context, certificate) == 1, "bad certificate");
  BERTH_CHECK(SSL_CTX_use_PrivateKey(context, key) == 1, "bad key");
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), root);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  // Without one, OpenSSL refuses to resume sessions of clients that it verifies.
  const unsigned char session_id[] = "test";
  SSL_CTX_set_session_id_context(context, session_id, sizeof session_id);
  X509_free(certificate);
  X509_free(root);
  EVP_PKEY_free(key);
  return context;
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

class TestServer::Connection final : public ServerPeer {
 public:
  Connection(int fd, int number, SSL_CTX* context) : fd_(fd), number_(number) {
    if (context == nullptr) return;
    ssl_ = SSL_new(context);
    SSL_set_fd(ssl_, fd_);
  }
  ~Connection() override {
    if (ssl_ != nullptr) SSL_free(ssl_);
    if (fd_ >= 0) close(fd_);
  }

  bool Handshake() { return ssl_ == nullptr || SSL_accept(ssl_) == 1; }

  void Send(std::string_view bytes) override {
    while (!bytes.empty() && !closed_) {
      const auto size = static_cast<int>(bytes.size());
      const auto sent = ssl_ != nullptr
                            ? SSL_write(ssl_, bytes.data(), size)
                            : static_cast<int>(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  void Close() override {
    if (!closed_ && ssl_ != nullptr) SSL_shutdown(ssl_);
    closed_ = true;
    shutdown(fd_, SHUT_RDWR);
  }

  void Reset() override {
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    closed_ = true;
    reset_ = true;
  }

  void WaitForPeer() override {
    char ignored[256];
    while (Receive(ignored, sizeof ignored) > 0) {
    }
    closed_ = true;
  }

  // From another thread: every read and write ends.
  void Interrupt() { shutdown(fd_, SHUT_RDWR); }

  // The next request; nullopt when the client has closed.
  std::optional<ServedRequest> Read() {
    size_t head_end = std::string::npos;
    while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Fill()) return std::nullopt;
    }
    ServedRequest request;
    ParseHead(buffer_.substr(0, head_end), request);
    buffer_.erase(0, head_end + 4);
    const std::string length = request.header("content-length");
    const size_t size = length.empty() ? 0 : std::stoul(length);
    while (buffer_.size() < size) {
      if (!Fill()) return std::nullopt;
    }
    request.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    request.connection = number_;
    if (ssl_ != nullptr) Identify(request);
    return request;
  }

  bool closed() const { return closed_; }
  // On the connection's thread, when nothing is to be said any more. Interrupt() may still come.
  void Finish() {
    if (!reset_) {
      shutdown(fd_, SHUT_RDWR);
      return;
    }
    // Only the last close of a lingering socket resets.
    const int spare = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    dup2(spare, fd_);
    close(spare);
  }

 private:
  int Receive(char* into, size_t size) {
    if (ssl_ != nullptr) return SSL_read(ssl_, into, static_cast<int>(size));
    return static_cast<int>(recv(fd_, into, size, 0));
  }
  bool Fill() {
    char chunk[4096];
    const int got = Receive(chunk, sizeof chunk);
    if (got <= 0) return false;
    buffer_.append(chunk, static_cast<size_t>(got));
    return true;
  }

  static void ParseHead(const std::string& head, ServedRequest& out) {
    size_t begin = 0;
    bool first = true;
    while (begin <= head.size()) {
      const size_t end = std::min(head.find("\r\n", begin), head.size());
      const std::string line = head.substr(begin, end - begin);
      begin = end + 2;
      if (first) {
        const size_t space = line.find(' ');
        out.method = line.substr(0, space);
        out.target = line.substr(space + 1, line.rfind(' ') - space - 1);
        first = false;
        continue;
      }
      const size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const size_t value = line.find_first_not_of(' ', colon + 1);
      out.headers[Lower(line.substr(0, colon))] =
          value == std::string::npos ? "" : line.substr(value);
    }
  }

  void Identify(ServedRequest& out) const {
    const char* name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
    if (name != nullptr) out.server_name = name;
    X509* certificate = SSL_get_peer_certificate(ssl_);
    if (certificate == nullptr) return;
    char text[256] = {};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, text,
                              sizeof text);
    out.client_subject = text;
    X509_free(certificate);
  }

  const int fd_;
  const int number_;
  SSL* ssl_ = nullptr;
  std::string buffer_;
  bool closed_ = false;
  bool reset_ = false;
};

void ServerPeer::Answer(int code, std::string_view body, std::string_view content_type,
                        std::string_view headers) {
  std::string text = "HTTP/1.1 " + std::to_string(code) + " x\r\n";
  text.append("Content-Type: ").append(content_type).append("\r\n").append(headers);
  text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  text.append(body);
  Send(text);
}

TestServer::TestServer(Script script, Options options)
    : script_(std::move(script)), options_(std::move(options)) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  if (options_.tls) tls_context_ = MakeContext(authority_, options_.names);
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(options_.port));
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  BERTH_CHECK(bind(listener_, generic, size) == 0, "bind failed");
  BERTH_CHECK(listen(listener_, 128) == 0, "listen failed");
  getsockname(listener_, generic, &size);
  port_ = ntohs(address.sin_port);
  accepter_ = std::thread([this] { Accept(); });
}

TestServer::~TestServer() {
  Stop();
  SSL_CTX_free(static_cast<SSL_CTX*>(tls_context_));
}

std::string TestServer::url() const {
  return (options_.tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
}

void TestServer::Accept() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0 || stopping_) {
      if (fd >= 0) close(fd);
      return;
    }
    const std::lock_guard lock(mutex_);
    auto made =
        std::make_unique<Connection>(fd, ++connections_, static_cast<SSL_CTX*>(tls_context_));
    Connection& connection = *made;
    open_.push_back(std::move(made));
    threads_.emplace_back([this, &connection] { Serve(connection); });
  }
}

void TestServer::Serve(Connection& connection) {
  if (connection.Handshake()) {
    while (!connection.closed()) {
      const auto request = connection.Read();
      if (!request) break;
      script_(*request, connection);
    }
  }
  connection.Finish();
}

void TestServer::Stop() {
  if (stopping_.exchange(true)) return;
  shutdown(listener_, SHUT_RDWR);
  accepter_.join();
  close(listener_);
  for (const auto& connection : open_) connection->Interrupt();
  for (std::thread& thread : threads_) thread.join();
  open_.clear();
}

}  // namespace berth::test
