// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tests/support/test_certificates.h"

namespace berth::test {

// A client's end of a TLS connection to 127.0.0.1, which believes any server. Calls wait; none for
// longer than 20 s.
//
// Thread safety: one owner.
class TlsClient {
 public:
  struct Options {
    const CertifiedKey* identity = nullptr;
    std::string server_name{};         // SNI; "" for none
    int max_version = 0;               // of TLS; 0: the newest
    std::string protocols{};           // ALPN, as on the wire
    std::string ciphers{};             // up to TLS 1.2, OpenSSL's names; "": OpenSSL's choice
    std::string groups{};              // likewise
    std::string source = "127.0.0.1";  // its own address
    int receive_buffer = 0;            // bytes, which the kernel doubles; 0: its choice
  };

  explicit TlsClient(int port) : TlsClient(port, Options()) {}
  TlsClient(int port, const Options& options);
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // The handshake went well.
  bool connected() const { return connected_; }
  // CN of the server's certificate.
  std::string server_name() const;
  std::string protocol() const;
  // OpenSSL's name.
  std::string suite() const;
  // false: the server has gone.
  bool Send(std::string_view bytes);
  // Messages that change the client's key and ask for a change of the server's, `count` of them at
  // once. false: the server has gone.
  bool SendKeyUpdates(int count);
  // One answer, head and body; what came before the server closed, if it did so earlier.
  std::string ReadAnswer();
  // Reads so many bytes, of whatever; false: the server closed before.
  bool Read(size_t bytes);
  // true: the server has closed.
  bool AtEnd();
  // A GET and its answer.
  std::string Get(std::string_view path);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  bool connected_ = false;
};

// A TCP connection from `source` to 127.0.0.1 that says nothing. Returns the descriptor.
int ConnectTcp(int port, const std::string& source = "127.0.0.1", int receive_buffer = 0);

}  // namespace berth::test
