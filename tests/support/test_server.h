// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/test_certificates.h"

namespace berth::test {

// A request as the server read it.
struct ServedRequest {
  std::string method;
  std::string target;                          // path and query
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  int connection = 0;          // counts from 1
  std::string server_name;     // SNI; "" for none
  std::string client_subject;  // CN of the client's certificate; "" for none

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

// The server's end of a connection, as a script uses it.
class ServerPeer {
 public:
  virtual ~ServerPeer() = default;
  // Bytes as they are.
  virtual void Send(std::string_view bytes) = 0;
  // An answer with Content-Length; `headers` are lines that end in CRLF.
  void Answer(int code, std::string_view body, std::string_view content_type = "application/json",
              std::string_view headers = "");
  // Orderly end, with TLS's farewell.
  virtual void Close() = 0;
  // TCP reset.
  virtual void Reset() = 0;
  // Returns once the client has closed or the server stops.
  virtual void WaitForPeer() = 0;
};

// An HTTP/1.1 server on 127.0.0.1 that does with each request what a script says: answers, cuts,
// resets, or stays silent. Each connection has its own thread, which the script runs on.
//
// Thread safety: all methods from any thread.
class TestServer {
 public:
  using Script = std::function<void(const ServedRequest&, ServerPeer&)>;
  struct Options {
    bool tls = true;
    std::vector<std::string> names = {"IP:127.0.0.1", "DNS:localhost"};
    int port = 0;  // 0: any free one
  };

  explicit TestServer(Script script) : TestServer(std::move(script), Options()) {}
  TestServer(Script script, Options options);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  int port() const { return port_; }
  std::string url() const;
  const TestAuthority& authority() const { return authority_; }
  int connections() const { return connections_; }
  // Resets every connection and accepts none.
  void Stop();

 private:
  class Connection;
  void Accept();
  void Serve(Connection& connection);

  const Script script_;
  const Options options_;
  TestAuthority authority_;
  void* tls_context_ = nullptr;  // SSL_CTX
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> open_;  // all ever accepted
  std::vector<std::thread> threads_;
  std::thread accepter_;
};

}  // namespace berth::test
