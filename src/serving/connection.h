// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/event_loop.h"
#include "src/serving/http_head.h"
#include "src/serving/http_server.h"

struct ssl_st;

namespace berth::serving {

// One client's connection:
//
//   handshake -> reading -> handling -> writing -> closing -> closed
//                   ^                      |
//                   +----- keep alive -----+
//
// After its last answer it closes its own end and throws away what the client still sends, until
// the client has closed, too: a socket that is closed with bytes unread resets the connection, and
// the client may lose the answer (RFC 9112, 9.6).
//
// Without TLS the handshake is done as soon as it begins.
//
// While a request is handled nothing more is read, so that a client that asks without reading holds
// up only itself; a client that closes its end meanwhile has gone.
//
// Thread safety: the loop's thread.
class Connection final : public base::FdListener {
 public:
  // Takes the socket over.
  Connection(HttpServer& server, uint64_t id, int fd);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void OnReady(int fd, uint32_t events) override;
  // The handler's answer to request number `number`; later ones are ignored.
  void Answer(uint64_t number, const Response& response);
  // Its time is up: 504 where an answer is due; else, and where that cannot be sent, false: it is
  // to be closed.
  bool TimeOut();
  // When it is to be timed out, if nothing happens before.
  Time deadline() const { return deadline_; }
  // Since when it has been waiting for an answer, or for a request.
  Time waiting_since() const { return waiting_since_; }
  bool has_request() const { return state_ == State::kHandling || state_ == State::kWriting; }

 private:
  enum class State { kHandshake, kReading, kHandling, kWriting, kClosing };
  enum class Progress { kBlocked, kDone, kClosed };

  // Goes as far as it can without waiting. false: the connection is to be closed.
  bool Drive();
  Progress Handshake();
  // OpenSSL tells of each part of a record.
  static void CountRecord(int sent, int version, int content, const void* data, size_t size,
                          ssl_st* session, void* self);
  Progress Read();
  Progress Write();
  Progress Discard();
  // As read(2) and write(2), over TLS where that is spoken.
  int Receive(std::span<char> buffer);
  int Send(std::string_view data);
  // What is waited for after one of these, or the handshake, returned `result`.
  Progress Blocked(int result);
  // Looks for a whole request in what has been read, and handles or refuses it. false: there is
  // none yet.
  bool TakeRequest();
  bool TakeHead();
  // Whether the body may come; otherwise refuses the request.
  bool AdmitBody(const RequestHead& head);
  void ReleaseBody();
  void Handle(RequestHead head);
  // The client waits no longer for the answer to the request.
  void GiveUp();
  void Refuse(int code);
  void Enqueue(const Response& response, Persistence persistence);
  // Of its own end.
  void CloseEnd();
  void Enter(State state, Duration limit);

  HttpServer& server_;
  const uint64_t id_;
  const int fd_;
  ssl_st* session_ = nullptr;  // of TLS: from the first byte on
  State state_ = State::kHandshake;
  uint32_t wanted_;  // epoll's events
  Time deadline_;
  Time waiting_since_;
  std::vector<std::string> client_chain_;
  int records_ = 0;  // read since the last that brought data
  std::string in_;
  size_t searched_ = 0;              // of in_, for the end of the head
  std::optional<RequestHead> head_;  // of the request whose body is being read
  size_t large_body_ = 0;            // bytes that count as those of a large body
  std::string out_;
  size_t written_ = 0;
  size_t discarded_ = 0;  // bytes, while closing
  Parts parts_ = Parts::kHeadAndBody;
  Persistence persistence_ = Persistence::kClose;
  uint64_t number_ = 0;
  std::shared_ptr<Departure> departure_;  // of the request that is handled
};

}  // namespace berth::serving
