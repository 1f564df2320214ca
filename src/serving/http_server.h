// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
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
  // IPv4 or IPv6; "0.0.0.0" and "::" both stand for all of this machine's, of both families.
  std::string address = "0.0.0.0";
  int port = 0;             // 0: any free one
  bool share_port = false;  // SO_REUSEPORT
};

// What one client may take, so that no client can take the others' share.
struct ServerLimits {
  // When one more comes, the connection goes that has gone longest without an answer, of those of
  // the address that has most.
  size_t connections = 256;
  size_t head_bytes = 32 * 1024;
  size_t body_bytes = 4 * 1024;  // of PUT /debug/flags/v, a number
  // Paths that take larger bodies. All that are there at a time, being read or answered, share
  // `large_bodies_bytes`, those of one address three quarters of it; what comes beyond is refused
  // with 429.
  std::map<std::string, size_t, std::less<>> body_bytes_of = {};
  size_t large_bodies_bytes = 16 * 1024 * 1024;
  // Of all responses above 4 KiB that are being written, a shared body counted once, and three
  // quarters of it for those to one address. One more than that closes the readers that lag, and is
  // a 429 where that does not make room.
  size_t responses_bytes = 64 * 1024 * 1024;
  // Of each connection, in the kernel, which may double it: beside `responses_bytes`.
  int send_buffer_bytes = 128 * 1024;
  Duration handshake = std::chrono::seconds(10);
  Duration head = std::chrono::seconds(32);  // from its first byte to the end of the body
  Duration idle = std::chrono::seconds(90);
  Duration answer = std::chrono::seconds(30);                   // from the handler; then 504
  std::map<std::string, Duration, std::less<>> answer_of = {};  // of these paths, in its place
  Duration write = std::chrono::seconds(60);                    // of one answer
  // A reader lags that has taken nothing for so long, or that had so long and at its pace would not
  // have all of the answer within `write`. Less than what the send buffer frees at once counts as
  // nothing.
  Duration lag = std::chrono::seconds(5);
  // After the last answer, until the client closes its end, too.
  Duration closing = std::chrono::seconds(1);
  size_t closing_bytes = size_t{4} * 1024 * 1024;  // that it may still send
};

// HTTP/1.1 over TLS, on one thread and without a thread for any connection: a client that is slow,
// idle or hostile costs a file descriptor and, once it has spoken TLS, some 30 KiB. Without TLS
// only for clients of this machine. The process must ignore SIGPIPE.
//
// Handshakes cost most, and strangers may ask for them. One step of one handshake is made in a turn
// of the loop, the addresses that wait for one in turn: others are answered in between, and the
// kubelet's probes do not wait for those of a pod that asks for many.
//
// Thread safety: the loop's thread, but for Listen(); the destructor, too, once started.
class HttpServer final : public base::FdListener {
 public:
  // Binds the socket; connections wait until Start(). `tls` (nullptr: in the clear) and `loop`
  // outlive the server. `admit` (nullptr: any may) is asked before a body is read. Errors: the
  // address is taken or is none, or is not of this machine alone (127.0.0.0/8, ::1) and there is no
  // TLS.
  static Result<std::unique_ptr<HttpServer>> Listen(const ListenOptions& options,
                                                    const ServerLimits& limits,
                                                    const TlsContext* tls, base::EventLoop& loop,
                                                    Handler handler, Admit admit = nullptr);
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
             Handler handler, Admit admit);

  Result<void> Open(const ListenOptions& options);
  // `peer` says whom the connection counts for: an IPv4 address, or the first 64 bits of an IPv6
  // one, which a machine has all to itself.
  void Accept(int fd, std::string peer);
  void EvictOldest();
  // Lets the connection, whose handshake can go on, wait for its turn.
  void AwaitTurn(const Connection& connection);
  void TakeTurn();
  void PostTurn();
  // Times out what is overdue; once a second.
  void Sweep();
  // To be the last call of a connection's method: destroys it.
  void Close(uint64_t id);
  void FinishIfDrained();
  bool HasRoomForBody(const std::string& peer, size_t bytes) const;
  // Whether there is room for a response to `peer` of `own` bytes besides its shared body (may be
  // nullptr); then it counts until Release() with the same. Closes those who lag where that helps.
  bool Reserve(const std::string& peer, size_t own, const std::string* shared);
  void Release(size_t own, const std::string* shared);
  // Whose part of the budget has no room for a response.
  enum class Lacks { kNothing, kAll, kPeer };
  Lacks WhatLacks(const std::string& peer, size_t own, const std::string* shared) const;
  // Closes, of those who lag, the one that has taken least; false: none does. `peer`: only its own;
  // nullptr: anyone's. Left alone is who shares a body with one that does not lag, as nothing would
  // be free.
  bool CloseLaggard(const std::string* peer);

  const ServerLimits limits_;
  const TlsContext* const tls_;
  base::EventLoop& loop_;
  Handler handler_;
  Admit admit_;
  int listener_ = -1;
  int port_ = 0;
  bool paused_ = false;  // there was no descriptor left; until the next sweep
  uint64_t last_id_ = 0;
  size_t large_bodies_ = 0;                             // bytes
  size_t responses_ = 0;                                // bytes, shared bodies included
  std::map<const std::string*, size_t> shared_bodies_;  // how many connections write each
  std::map<uint64_t, std::unique_ptr<Connection>> connections_;
  // The connections that await a turn, by address; and the addresses, the next to have one first.
  std::map<std::string, std::deque<uint64_t>, std::less<>> awaiting_;
  std::deque<std::string> turns_;
  base::Executor::TimerId sweep_ = 0;
  base::Executor::TimerId drain_ = 0;
  std::function<void()> drained_;
  // Answers come from other threads, perhaps after the server is gone.
  std::shared_ptr<HttpServer*> self_ = std::make_shared<HttpServer*>(this);
};

}  // namespace berth::serving
