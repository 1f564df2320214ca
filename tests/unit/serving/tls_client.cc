// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/serving/tls_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace berth::test {

struct TlsClient::Impl {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* session = nullptr;
  int fd = -1;
};

int ConnectTcp(int port, const std::string& source, int receive_buffer) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{20, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  if (receive_buffer > 0) {
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, source.c_str(), &address.sin_addr);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    close(fd);
    return -1;
  }
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

TlsClient::TlsClient(int port, const Options& options) : impl_(std::make_unique<Impl>()) {
  // A server that has closed is an error of Send(), as in the daemon.
  std::signal(SIGPIPE, SIG_IGN);
  if (options.max_version != 0) {
    SSL_CTX_set_max_proto_version(impl_->context, options.max_version);
  }
  if (options.identity != nullptr) {
    BIO* bio = BIO_new_mem_buf(options.identity->certificate_pem.data(), -1);
    X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    bio = BIO_new_mem_buf(options.identity->key_pem.data(), -1);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    SSL_CTX_use_certificate(impl_->context, certificate);
    SSL_CTX_use_PrivateKey(impl_->context, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  if (!options.ciphers.empty()) {
    SSL_CTX_set_cipher_list(impl_->context, options.ciphers.c_str());
  }
  if (!options.groups.empty()) SSL_CTX_set1_groups_list(impl_->context, options.groups.c_str());
  impl_->session = SSL_new(impl_->context);
  if (!options.server_name.empty()) {
    SSL_set_tlsext_host_name(impl_->session, options.server_name.c_str());
  }
  if (!options.protocols.empty()) {
    SSL_set_alpn_protos(impl_->session,
                        reinterpret_cast<const unsigned char*>(options.protocols.data()),
                        static_cast<unsigned int>(options.protocols.size()));
  }
  impl_->fd = ConnectTcp(port, options.source, options.receive_buffer);
  if (impl_->fd < 0) return;
  SSL_set_fd(impl_->session, impl_->fd);
  connected_ = SSL_connect(impl_->session) == 1;
}

TlsClient::~TlsClient() {
  SSL_free(impl_->session);
  SSL_CTX_free(impl_->context);
  if (impl_->fd >= 0) close(impl_->fd);
}

std::string TlsClient::server_name() const {
  X509* certificate = SSL_get0_peer_certificate(impl_->session);
  if (certificate == nullptr) return "";
  std::array<char, 256> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  return name.data();
}

std::string TlsClient::protocol() const {
  const unsigned char* chosen = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(impl_->session, &chosen, &size);
  return std::string(reinterpret_cast<const char*>(chosen), size);
}

std::string TlsClient::suite() const { return SSL_get_cipher_name(impl_->session); }

bool TlsClient::Send(std::string_view bytes) {
  return connected_ && SSL_write(impl_->session, bytes.data(), static_cast<int>(bytes.size())) > 0;
}

bool TlsClient::SendKeyUpdates(int count) {
  // Made first and sent then: making one takes the client as long as reading it takes the server.
  BIO* made = BIO_new(BIO_s_mem());
  BIO_up_ref(SSL_get_wbio(impl_->session));
  BIO* socket = SSL_get_wbio(impl_->session);
  SSL_set0_wbio(impl_->session, made);
  BIO_up_ref(made);
  for (int i = 0; i < count; ++i) {
    SSL_key_update(impl_->session, SSL_KEY_UPDATE_REQUESTED);
    SSL_do_handshake(impl_->session);
  }
  SSL_set0_wbio(impl_->session, socket);
  char* data = nullptr;
  const long size = BIO_get_mem_data(made, &data);
  long sent = 0;
  while (sent < size) {
    const ssize_t put = write(impl_->fd, data + sent, static_cast<size_t>(size - sent));
    if (put <= 0) break;
    sent += put;
  }
  BIO_free(made);
  return sent == size;
}

std::string TlsClient::ReadAnswer() {
  std::string answer;
  std::array<char, 16384> buffer;
  while (connected_) {
    const size_t end = answer.find("\r\n\r\n");
    const size_t length = answer.find("Content-Length: ");
    if (end != std::string::npos && length != std::string::npos &&
        answer.size() >= end + 4 + std::stoul(answer.substr(length + 16))) {
      break;
    }
    const int got = SSL_read(impl_->session, buffer.data(), static_cast<int>(buffer.size()));
    if (got <= 0) break;
    answer.append(buffer.data(), static_cast<size_t>(got));
  }
  return answer;
}

bool TlsClient::Read(size_t bytes) {
  std::array<char, 16384> buffer;
  while (bytes > 0) {
    const size_t most = std::min(bytes, buffer.size());
    const int got = SSL_read(impl_->session, buffer.data(), static_cast<int>(most));
    if (got <= 0) return false;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool TlsClient::AtEnd() {
  char byte = 0;
  return SSL_read(impl_->session, &byte, 1) <= 0;
}

std::string TlsClient::Get(std::string_view path) {
  Send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n");
  return ReadAnswer();
}

}  // namespace berth::test
