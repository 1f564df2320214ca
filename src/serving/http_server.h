// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "berth/result.h"
#include "berth/time.h"
#include "src/base/event_loop.h"
#include "src/serving/http.h"
#include "src/serving/tls_context.h"

namespace berth::serving {

class Connection;

// Where to listen.
struct ListenOptions {
  std::string address = "0.0.0.0";  // IPv4 or IPv6
  int port = 0;                     // 0: any free one
  bool share_port = false;          // SO_REUSEPORT
};

// What one client may take, so that no client can take the others' share.
struct ServerLimits {
  // When one more comes, the connection goes that has gone longest without an answer.
  size_t connections = 256;
  size_t head_bytes = 32 * 1024;
  size_t body_bytes = 4 * 1024;  // of PUT /debug/flags/v, a number
  // Paths that take larger bodies. All that are there at a time, being read or answered, share
  // `large_bodies_bytes`; what comes beyond is refused with 429.
  std::map<std::string, size_t, std::less<>> body_bytes_of = {};
  size_t large_bodies_bytes = 16 * 1024 * 1024;
  Duration handshake = std::chrono::seconds(10);
  Duration head = std::chrono::seconds(32);  // from its first byte to the end of the body
  Duration idle = std::chrono::seconds(90);
  Duration answer = std::chrono::seconds(30);  // from the handler; then 504
  Duration write = std::chrono::seconds(60);   // of one answer
  // After the last answer, until the client closes its end, too.
  Duration closing = std::chrono::seconds(1);
  size_t closing_bytes = size_t{4} * 1024 * 1024;  // that it may still send
};

// HTTP/1.1 over TLS, on one thread and without a thread for any connection: a client that is slow,
// idle or hostile costs a file descriptor and, once it has spoken TLS, some 30 KiB. Without TLS
// only for clients of this machine. The process must ignore SIGPIPE.
//
// Thread safety: the loop's thread, but for Listen(); the destructor, too, once started.
class HttpServer final : public base::FdListener {
 public:
  // Binds the socket; connections wait until Start(). `tls` (nullptr: in the clear) and `loop`
  // outlive the server. Errors: the address is taken or is none, or is not of this machine alone
  // (127.0.0.0/8, ::1) and there is no TLS.
  static Result<std::unique_ptr<HttpServer>> Listen(const ListenOptions& options,
                                                    const ServerLimits& limits,
                                                    const TlsContext* tls, base::EventLoop& loop,
                                                    Handler handler);
  ~HttpServer() override;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }
  void Start();
  // Takes no further connection and closes those without a request; calls `done` once all answers
  // are out or `grace` has passed.
  void Shutdown(Duration grace, std::function<void()> done);
  size_t num_connections() const { return connections_.size(); }

  void OnReady(int fd, uint32_t events) override;

 private:
  friend class Connection;
  HttpServer(const ServerLimits& limits, const TlsContext* tls, base::EventLoop& loop,
             Handler handler);

  Result<void> Open(const ListenOptions& options);
  void Accept(int fd);
  void EvictOldest();
  // Times out what is overdue; once a second.
  void Sweep();
  // To be the last call of a connection's method: destroys it.
  void Close(uint64_t id);
  void FinishIfDrained();

  const ServerLimits limits_;
  const TlsContext* const tls_;
  base::EventLoop& loop_;
  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  bool paused_ = false;  // there was no descriptor left; until the next sweep
  uint64_t last_id_ = 0;
  size_t large_bodies_ = 0;  // bytes
  std::map<uint64_t, std::unique_ptr<Connection>> connections_;
  base::Executor::TimerId sweep_ = 0;
  base::Executor::TimerId drain_ = 0;
  std::function<void()> drained_;
  // Answers come from other threads, perhaps after the server is gone.
  std::shared_ptr<HttpServer*> self_ = std::make_shared<HttpServer*>(this);
};

}  // namespace berth::serving
