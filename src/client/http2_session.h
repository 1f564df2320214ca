// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/event_loop.h"

namespace berth::client {

// A connected, encrypted byte stream; neither call blocks.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  struct Moved {
    size_t bytes = 0;
    bool closed = false;  // by the peer, or broken; then `error` says how
    std::string error;
  };
  // Both move what they can at once; 0 bytes and not closed: try again when the loop says so.
  virtual Moved Send(const uint8_t* data, size_t size) = 0;
  virtual Moved Receive(uint8_t* data, size_t size) = 0;
};

struct Http2Request {
  std::string_view method;
  std::string_view path;  // with the query
  // Names in lower case; without the pseudo headers.
  const std::vector<std::pair<std::string, std::string>>* headers = nullptr;
  std::string_view body;  // must live until the stream ends
  bool fenced = false;    // a write that goes out only while `may_write` says so
};

// What an HTTP/2 stream brings. None of it may call the session back.
class Http2Listener {
 public:
  virtual ~Http2Listener() = default;
  virtual void OnHead(int code, std::string_view content_type,
                      std::optional<Duration> retry_after) = 0;
  // false ends the stream.
  virtual bool OnBody(std::string_view data) = 0;
};

// How a stream ended.
struct Http2End {
  void* stream = nullptr;  // what Submit() returned
  bool complete = false;   // the whole answer has come
  bool sent = false;       // the server may have seen the request
  bool timed_out = false;
  bool not_leader = false;  // `may_write` said no
  std::string error;
};

// Many requests over one HTTP/2 connection, by nghttp2: what is submitted in one turn of the loop
// leaves in one write, and what arrives at once is read at once. That, and no object of libcurl's
// for each request, is what it is for (docs/decisions/0004).
//
// A connection on which nothing arrives for kPingAfter is asked for a sign of life; one that gives
// none within kPingTimeout is lost. Both as in client-go.
//
// While a fenced request is not sent to its end, `may_write` is asked before each byte that is
// handed to the stream. false: the session is lost there and then, with all that is under way,
// since what is sent by halves cannot be taken out of the bytes of a connection.
//
// Ends are collected and taken by the owner with TakeEnds(), after `notify` was called.
//
// Thread safety: the I/O thread.
class Http2Session final : public base::FdListener {
 public:
  static constexpr Duration kPingAfter = std::chrono::seconds(30);
  static constexpr Duration kPingTimeout = std::chrono::seconds(15);

  // `loop` must outlive the session. `notify` is called when there are ends to take or the session
  // is over; not from inside Submit() or Cancel(). `may_write` may be empty: always.
  Http2Session(base::EventLoop& loop, int fd, std::unique_ptr<ByteStream> stream,
               std::string authority, std::string user_agent, std::function<void()> notify,
               std::function<bool()> may_write = {});
  ~Http2Session() override;
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // `listener` must live until the stream's end was taken or it was cancelled. `timeout` zero:
  // none.
  void* Submit(const Http2Request& request, Duration timeout, Http2Listener& listener);
  // No end is reported.
  void Cancel(void* stream);
  static bool WasSent(const void* stream);

  std::vector<Http2End> TakeEnds() { return std::exchange(ends_, {}); }
  // The owner is done with a stream whose end it took; until then no other request is given it.
  void Recycle(void* stream);
  // Takes no further requests: the connection is lost, or the server wants it to end.
  bool over() const { return over_; }
  size_t active() const { return active_; }

  void OnReady(int fd, uint32_t events) override;
  // Ends the requests whose time is over, and the session when its peer is silent; a timer calls it
  // once a second.
  void CheckTimeouts();

 private:
  struct Stream;
  struct Callbacks;

  void Flush();
  void PostFlush();
  void Read();
  void EndOverdue(Time now);
  void CheckPeer(Time now);
  void CheckTimeoutsLater();
  void Lose(const std::string& error, bool not_leader = false);
  // Whether bytes of a fenced request may be among what is not sent yet, and may not go out.
  bool IsFenced() const;
  // nghttp2 holds nothing of it back any more.
  void StopFencing(Stream& stream);
  void End(Stream& stream, Http2End end);
  static void Retire(Stream& stream);
  void WatchFor(bool write);

  base::EventLoop& loop_;
  const int fd_;
  std::unique_ptr<ByteStream> bytes_;
  const std::string authority_;
  const std::string user_agent_;
  std::function<void()> notify_;
  const std::function<bool()> may_write_;
  void* session_ = nullptr;  // nghttp2_session
  bool over_ = false;
  bool lost_ = false;  // nothing can be sent or received any more
  bool wants_write_ = false;
  size_t active_ = 0;
  size_t fenced_ = 0;           // requests that nghttp2 holds back, or the rest of them
  bool fenced_unsent_ = false;  // since the last time that nothing was left to send
  std::vector<std::unique_ptr<Stream>> streams_;  // all ever made; reused
  std::vector<Stream*> idle_;
  std::vector<Http2End> ends_;
  Time last_received_{};
  std::optional<Time> pinged_;  // and nothing has arrived since
  std::string unsent_;
  std::vector<uint8_t> buffer_;
  base::Executor::TimerId flush_timer_ = 0;
  base::Executor::TimerId timeout_timer_ = 0;
};

}  // namespace berth::client
