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

#include "absl/container/flat_hash_map.h"
#include "src/base/event_loop.h"
#include "src/client/credentials.h"
#include "src/client/http2_session.h"
#include "src/client/kubeconfig.h"

// One try of one request over HTTP; no retries, rates or credentials.

namespace berth::client {

// A list of headers in libcurl's form, shared by all requests that send the same.
class HeaderList {
 public:
  explicit HeaderList(const std::vector<std::string>& lines);
  ~HeaderList();
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;

  void* raw() const { return list_; }
  // The same for HTTP/2: names in lower case, without the lines that only keep libcurl from adding
  // a header, and without Host.
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  void* list_ = nullptr;  // curl_slist
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct AttemptRequest {
  const char* method = "GET";
  std::string_view path;  // with the query
  std::string_view body;  // must live until the attempt ends
  bool is_write = false;
  bool fenced = false;  // no byte of it goes out where TransportConfig::may_write says no
  std::shared_ptr<const HeaderList> headers;
  Duration timeout{};  // zero: none
};

struct AttemptResult {
  int code = 0;  // HTTP status; 0 when no answer began
  // The answer is complete. If not, `error` says why.
  bool complete = false;
  bool sent = false;  // the request was handed to a connection
  bool timed_out = false;
  bool not_leader = false;  // TransportConfig::may_write said no
  bool stopped_by_listener = false;
  bool http2 = false;
  std::string content_type = {};
  std::optional<Duration> retry_after = {};
  std::string error = {};
};

// Receives what an attempt brings. Only OnDone() may call the transport back from inside.
class AttemptListener {
 public:
  virtual ~AttemptListener() = default;
  // The final headers have come.
  virtual void OnHead(int code, std::string_view content_type) = 0;
  // false ends the attempt.
  virtual bool OnBody(std::string_view data) = 0;
  virtual void OnDone(const AttemptResult& result) = 0;
};

struct TransportConfig {
  ServerAddress address;
  std::string tls_server_name;  // "" means address.host
  bool insecure = false;
  std::string proxy_url;
  std::string user_agent;
  size_t receive_buffer = 16384;  // bytes for each transfer
  // See AttemptRequest::fenced. May be empty: always.
  std::function<bool()> may_write = {};
};

// The connections of one kind of traffic with one TLS identity. A libcurl multi handle in the event
// loop opens them, through proxies and TLS. Where the server speaks HTTP/2, an Http2Session takes a
// connection over and carries the requests; where it does not, libcurl does.
//
//   Start -> on libcurl: the first request, HTTP/1.1, and for 10 s after a session was tried
//         |     | the handshake tells of HTTP/2, before anything is sent
//         +-> waiting for a session ---> on the session
//         |     | none can be had: ended as never sent
//         +-> on the session that is there
//
// A connection on which the peer has acknowledged nothing for 30 s is dead (TCP_USER_TIMEOUT, with
// keep-alive probes on idle ones). A write is handed to a connection once: libcurl would send it
// again when a kept connection turns out to be cut, although the first may have been executed.
//
// While a fenced attempt is under way, `may_write` is asked before whatever can hand bytes to a
// socket. Once it says no, the connections that carry fenced attempts are closed as they are, with
// all else on them: what is sent by halves stays so.
//
// Thread safety: the I/O thread.
class Transport final : public base::FdListener {
 public:
  Transport(base::EventLoop& loop, TransportConfig config, IdentityPtr identity);
  ~Transport() override;  // ends what is under way without a word
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  class Attempt;  // one under way

  // `listener` must live until OnDone(), which is called later, or Abort().
  Attempt* Start(AttemptRequest request, AttemptListener& listener);
  // No further call to the listener.
  void Abort(Attempt* attempt);
  // Ends every attempt, as if the connection had been cut.
  void EndAll(const std::string& error);
  // Whether the request has been handed to a connection.
  static bool WasSent(const Attempt* attempt);

  size_t active() const { return active_; }
  const IdentityPtr& identity() const { return identity_; }

  void OnReady(int fd, uint32_t events) override;

 private:
  friend struct TransportCallbacks;

  class CurlBytes;

  // Gets the descriptor of a connection that speaks HTTP/2, or -1 and why there is none.
  using OnDial = std::function<void(int fd, const std::string& error)>;

  std::unique_ptr<Attempt> MakeAttempt();
  // An idle one, with a libcurl handle or without.
  Attempt* TakeAttempt(bool with_handle);
  void StartOnCurl(Attempt* attempt);
  // Of requests that have not been sent.
  void StartOnSession(Attempt* attempt, Http2Session& session);
  void Await(Attempt* attempt);
  // The session to use, or nullptr; begins to open one where there may be one.
  Http2Session* Session();
  // Whether a request about to be sent by libcurl is for a session instead.
  bool IsForSession() const;
  // Takes what libcurl has not sent away from it.
  void MoveToSession();
  // Opens a connection and nothing more.
  void Dial(OnDial dialled);
  void OnConnected(int curl_code);
  void OnDialled(int fd, const std::string& error);
  void OnSessionNews(Http2Session& session);
  void FinishOnSession(Http2Session& session, const Http2End& end);
  void FailWaiting(Attempt* attempt, const AttemptResult& result);
  void RetireSession();
  // Destroys sessions that have ended, later: one may be calling us.
  void SweepSessions();
  void Release(Attempt* attempt);
  // libcurl wants to be called in `timeout_ms`; below 0: not at all.
  void SetTimer(long timeout_ms);
  void OpenMulti();
  bool IsFenced(const Attempt& attempt) const;
  // Whether libcurl may send no more.
  bool MustCut() const { return fenced_on_curl_ > 0 && !config_.may_write(); }
  // Closes libcurl's connections and ends what was on them.
  void Cut();
  void TakeFromCurl(Attempt* attempt);
  // Sees to it that the loop calls at `due_`.
  void Arm();
  // Lets libcurl act on a descriptor or a time-out, and on what falls due by that.
  void Act(int fd, int mask);
  // Reports the attempts that have ended.
  void Reap();
  void Finish(Attempt* attempt, int curl_code);
  // Why libcurl has ended the attempt, with the operating system's word where that is known.
  static std::string ErrorOf(const Attempt& attempt, int curl_code);

  base::EventLoop& loop_;
  const TransportConfig config_;
  const IdentityPtr identity_;
  std::string base_url_;
  void* connect_to_ = nullptr;  // curl_slist
  void* multi_ = nullptr;       // CURLM
  // When libcurl wants to be called. Its wish moves with every transfer, so the one timer armed
  // may be earlier than that: then it is armed again.
  std::optional<Time> due_;
  base::Executor::TimerId timer_ = 0;
  Time armed_{};
  bool acting_ = false;
  size_t active_ = 0;
  size_t fenced_on_curl_ = 0;
  // Of a transport that dials: the handle with the connection, and whom to tell.
  std::unique_ptr<Attempt> connector_;
  OnDial dialled_;
  std::unique_ptr<Transport> dialer_;  // for the next session
  bool dialling_ = false;
  Time next_dial_{};                  // not before
  bool server_speaks_http2_ = false;  // as a handshake of libcurl's has shown
  std::vector<Attempt*> waiting_;     // for the session
  std::unique_ptr<Http2Session> session_;
  std::vector<std::unique_ptr<Http2Session>>
      ending_;  // with requests under way, or to be destroyed
  base::Executor::TimerId ending_timer_ = 0;
  absl::flat_hash_map<const void*, Attempt*> by_stream_;
  std::vector<Attempt*> idle_without_handle_;
  std::vector<std::unique_ptr<Attempt>> attempts_;  // all ever made; reused
  std::vector<Attempt*> idle_;
};

}  // namespace berth::client
