// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "src/base/event_loop.h"
#include "src/serving/http.h"
#include "src/serving/http_server.h"
#include "src/serving/request_log.h"

struct ssl_st;

// HTTP/1.1 as bytes (RFC 9112).
//
// Thread safety: any thread.

namespace berth::serving {

// What stands before a request's body.
struct RequestHead {
  Request request;
  size_t content_length = 0;
  bool keep_alive = true;
};

// Reads a request's head, from its first byte to the empty line that ends it, both included. An
// error is the status to refuse the request with. Strict: a body comes with Content-Length or not
// at all, no header may be folded over lines, and a target begins with '/' and is no longer than
// 2 KiB. There are at most 100 headers, and as many pairs in the query.
tl::expected<RequestHead, int> ParseRequestHead(std::string_view text);

// What of a response is sent: without its body where the request was HEAD.
enum class Parts { kHeadAndBody, kHead };
enum class Persistence { kKeepAlive, kClose };

// As bytes; a shared body is to be sent after them.
std::string Serialize(const Response& response, Parts parts, Persistence persistence);

// Whose the other end of a connected socket is, as far as its address tells: of IPv4 the address,
// of IPv6 the network of 64 bits, of which one machine may take any address. "" where it has none.
std::string PeerOf(int fd);

// One client's connection:
//
//   handshake -> reading -> handling -> writing -> closing -> closed
//                ^ |  ^                    |
//                | v  +---- keep alive ----+
//             admitting
//
// Between head and body it asks whether the body may come.
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
  // Takes the socket over. `peer`: whom it counts for.
  Connection(HttpServer& server, uint64_t id, int fd, std::string peer);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void OnReady(int fd, uint32_t events) override;
  // It is its turn to go on with the handshake. To be the caller's last use of it.
  void HaveTurn() {
    if (!Drive()) server_.Close(id_);
  }
  uint64_t id() const { return id_; }
  const std::string& peer() const { return peer_; }
  // The handler's answer to request number `number`; later ones are ignored.
  void Answer(uint64_t number, const Response& response);
  // Likewise the decision whether the body of request number `number` may come.
  void Decided(uint64_t number, const std::optional<Response>& refused);
  // Its time is up: 504 where an answer is due; else, and where that cannot be sent, false: it is
  // to be closed.
  bool TimeOut();
  // When it is to be timed out, if nothing happens before.
  Time deadline() const { return deadline_; }
  // Since when it has been waiting for an answer, or for a request.
  Time waiting_since() const { return waiting_since_; }
  bool has_request() const { return waits_for_others() || state_ == State::kWriting; }
  // Of the response that is being written: the bytes that the server counts besides the shared
  // body, that body (may be nullptr), and how many of both the client has taken.
  size_t reserved() const { return reserved_; }
  const std::string* shared_body() const { return shared_out_.get(); }
  size_t written() const { return written_; }
  // Bytes of a large body that is there or on its way.
  size_t large_body() const { return large_body_; }
  // It takes a response that the server counts more slowly than others must wait for.
  bool lags() const;

 private:
  enum class State { kHandshake, kReading, kAdmitting, kHandling, kWriting, kClosing };
  enum class Progress { kBlocked, kDone, kClosed };

  bool waits_for_others() const {
    return state_ == State::kAdmitting || state_ == State::kHandling;
  }
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
  // Whether the path takes a body so large.
  bool TakesBody(const RequestHead& head) const;
  void AskForBody();
  // Whether there is room for the body.
  bool ReserveBody(size_t bytes);
  void ReleaseBody();
  void Handle(RequestHead head);
  // The client waits no longer for the answer to the request.
  void GiveUp();
  void Refuse(int code);
  // Where the log tells of requests: once there is an answer.
  void LogLater(const Request& request);
  void Enqueue(const Response& response, Persistence persistence);
  // What is being written is written no more.
  void ReleaseResponse();
  // Of its own end.
  void CloseEnd();
  void Enter(State state, Duration limit);

  HttpServer& server_;
  const uint64_t id_;
  const int fd_;
  const std::string peer_;
  ssl_st* session_ = nullptr;  // of TLS: from the first byte on
  State state_ = State::kHandshake;
  uint32_t wanted_;           // epoll's events
  bool awaits_turn_ = false;  // and watches for nothing until then
  Time deadline_;
  Time waiting_since_;
  std::vector<std::string> client_chain_;
  int records_ = 0;  // read since the last that brought data
  std::string in_;
  size_t searched_ = 0;              // of in_, for the end of the head
  std::optional<RequestHead> head_;  // of the request whose body is being read
  size_t large_body_ = 0;            // bytes that count as those of a large body
  std::string out_;
  std::shared_ptr<const std::string> shared_out_;  // after out_; may be nullptr
  size_t written_ = 0;                             // of both
  Time writing_since_;
  Time took_last_;        // when some of it went out
  size_t reserved_ = 0;   // bytes of out_ that the server counts
  size_t discarded_ = 0;  // bytes, while closing
  Parts parts_ = Parts::kHeadAndBody;
  Persistence persistence_ = Persistence::kClose;
  uint64_t number_ = 0;
  std::shared_ptr<Departure> departure_;  // of the request that is handled
  std::optional<RequestLog> logged_;      // of that, too
};

}  // namespace berth::serving
