// SPDX-License-Identifier: Apache-2.0
#include "src/serving/connection.h"

#include <absl/strings/ascii.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <utility>

#include "src/base/text.h"

namespace berth::serving {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
// TLS records that one turn of the loop reads from a client before the others have theirs.
constexpr int kRecordsATurn = 2;
constexpr size_t kRecord = size_t{16} * 1024;
constexpr size_t kSmallResponse = size_t{4} * 1024;
// Records one after another that bring no data, as key updates do. Each costs the server more than
// the client; Go's limit.
constexpr int kMaxUselessRecords = 16;

Response TooManyBytes() {
  Response response = ErrorText(429, "429 Too Many Requests");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

std::string Der(const X509* certificate) {
  unsigned char* data = nullptr;
  const int size = i2d_X509(certificate, &data);
  if (size <= 0) return "";
  std::string der(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
  OPENSSL_free(data);
  return der;
}

std::vector<std::string> ChainOf(const SSL* session) {
  std::vector<std::string> chain;
  const X509* own = SSL_get0_peer_certificate(session);
  if (own == nullptr) return chain;
  chain.push_back(Der(own));
  // Of a client, this leaves its own certificate out.
  const STACK_OF(X509)* others = SSL_get_peer_cert_chain(session);
  for (int i = 0; others != nullptr && i < sk_X509_num(others); ++i) {
    chain.push_back(Der(sk_X509_value(others, i)));
  }
  return chain;
}

constexpr std::string_view kLineEnd = "\r\n";
// An honest client needs a tenth. Each field costs more than its bytes: 8,000 of them are half
// a megabyte.
constexpr size_t kMaxTarget = 2048;
constexpr size_t kMaxFields = 100;

bool IsTokenChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar);
}

// No control character, so that none reaches a log or a request of ours.
bool IsFieldValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

// Pairs that cannot be decoded are left out, as Go does. nullopt: there are too many.
std::optional<Fields> ParseQuery(std::string_view text) {
  Fields query;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    if (query.size() == kMaxFields) return std::nullopt;
    const size_t equals = std::min(pair.find('='), pair.size());
    auto name = base::Unescape(pair.substr(0, equals), base::Plus::kBlank);
    auto value = base::Unescape(pair.substr(std::min(equals + 1, pair.size())), base::Plus::kBlank);
    if (name && value) query.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

// 0, or the status to refuse with.
int ParseRequestLine(std::string_view line, RequestHead& head) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return 400;
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (target.size() > kMaxTarget) return 414;
  if (!IsToken(method) || !target.starts_with('/')) return 400;
  if (version == "HTTP/1.0") {
    head.keep_alive = false;
  } else if (version != "HTTP/1.1") {
    return version.starts_with("HTTP/") ? 505 : 400;
  }
  const auto is_visible = [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; };
  if (!std::all_of(target.begin(), target.end(), is_visible)) return 400;
  const size_t mark = std::min(target.find('?'), target.size());
  auto path = base::Unescape(target.substr(0, mark));
  if (!path) return 400;
  head.request.method = method;
  head.request.path = std::move(*path);
  head.request.target = target;
  auto query = ParseQuery(target.substr(std::min(mark + 1, target.size())));
  if (!query) return 414;
  head.request.query = std::move(*query);
  return 0;
}

int ParseContentLength(const std::string& value, std::optional<size_t>& length) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc::result_out_of_range) return 413;
  if (error != std::errc() || end != value.data() + value.size()) return 400;
  if (length && *length != number) return 400;
  length = number;
  return 0;
}

int ParseFieldLine(std::string_view line, RequestHead& head) {
  if (head.request.headers.size() == kMaxFields) return 431;
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) return 400;
  const std::string_view value = base::Trim(line.substr(colon + 1), " \t");
  if (!IsFieldValue(value)) return 400;
  head.request.headers.emplace_back(absl::AsciiStrToLower(std::string(line.substr(0, colon))),
                                    value);
  return 0;
}

// What the headers say about the connection and the body.
int ReadFraming(RequestHead& head, bool http11) {
  std::optional<size_t> length;
  int hosts = 0;
  for (const auto& [name, value] : head.request.headers) {
    if (name == "host") ++hosts;
    if (name == "transfer-encoding") return 501;
    if (name == "content-length") {
      if (const int refused = ParseContentLength(value, length)) return refused;
    }
    if (name == "connection" &&
        base::Contains(absl::AsciiStrToLower(std::string(value)), "close")) {
      head.keep_alive = false;
    }
  }
  if (hosts > 1 || (http11 && hosts == 0)) return 400;
  head.content_length = length.value_or(0);
  return 0;
}

}  // namespace

Connection::Connection(HttpServer& server, uint64_t id, int fd, std::string peer)
    : server_(server), id_(id), fd_(fd), peer_(std::move(peer)), wanted_(EPOLLIN) {
  Enter(State::kHandshake, server_.limits_.handshake);
  waiting_since_ = server_.loop_.Now();
  server_.loop_.Watch(fd_, wanted_, *this);
}

Connection::~Connection() {
  ReleaseBody();
  ReleaseResponse();
  server_.loop_.Unwatch(fd_, *this);
  GiveUp();
  // What is cut off is of no use, and would stay in the kernel for as long as the peer does not
  // read.
  const bool cut_off = state_ == State::kWriting;
  if (cut_off) {
    const linger at_once{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  if (session_ != nullptr) {
    if (state_ != State::kHandshake && state_ != State::kClosing && !cut_off) {
      SSL_shutdown(session_);
    }
    SSL_free(session_);
    ERR_clear_error();
  }
  close(fd_);
}

void Connection::Enter(State state, Duration limit) {
  state_ = state;
  deadline_ = server_.loop_.Now() + limit;
}

void Connection::OnReady(int /*fd*/, uint32_t events) {
  if (state_ == State::kHandshake && server_.tls_ != nullptr && (events & EPOLLERR) == 0) {
    server_.loop_.Unwatch(fd_, *this);
    awaits_turn_ = true;
    return server_.AwaitTurn(*this);
  }
  // While others are waited for, what comes is the end.
  const bool broken = waits_for_others() || (events & EPOLLERR) != 0;
  if (broken || !Drive()) server_.Close(id_);
}

bool Connection::Drive() {
  uint32_t before = wanted_;
  while (true) {
    Progress progress = Progress::kBlocked;
    switch (state_) {
      case State::kHandshake:
        progress = Handshake();
        break;
      case State::kReading:
        progress = Read();
        break;
      case State::kAdmitting:
      case State::kHandling:
        wanted_ = EPOLLRDHUP;
        break;
      case State::kWriting:
        progress = Write();
        break;
      case State::kClosing:
        progress = Discard();
        break;
    }
    if (progress == Progress::kClosed) return false;
    if (progress == Progress::kBlocked) break;
  }
  const bool unwatched = std::exchange(awaits_turn_, false);
  if (unwatched || wanted_ != before) {
    server_.loop_.Watch(fd_, wanted_, *this);
  }
  return true;
}

int Connection::Receive(std::span<char> buffer) {
  if (session_ == nullptr) {
    return static_cast<int>(recv(fd_, buffer.data(), buffer.size(), 0));
  }
  return SSL_read(session_, buffer.data(), static_cast<int>(buffer.size()));
}

int Connection::Send(std::string_view data) {
  if (session_ == nullptr) {
    return static_cast<int>(send(fd_, data.data(), data.size(), MSG_NOSIGNAL));
  }
  return SSL_write(session_, data.data(), static_cast<int>(data.size()));
}

Connection::Progress Connection::Blocked(int result) {
  if (session_ == nullptr) {
    const bool waits = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (result == 0 || !waits) return Progress::kClosed;
    wanted_ = state_ == State::kWriting ? EPOLLOUT : EPOLLIN;
    return Progress::kBlocked;
  }
  const int error = SSL_get_error(session_, result);
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ) {
    wanted_ = EPOLLIN;
  } else if (error == SSL_ERROR_WANT_WRITE) {
    wanted_ = EPOLLOUT;
  } else {
    return Progress::kClosed;
  }
  return Progress::kBlocked;
}

Connection::Progress Connection::Handshake() {
  if (server_.tls_ == nullptr) {
    Enter(State::kReading, server_.limits_.head);
    return Progress::kDone;
  }
  if (session_ == nullptr) session_ = server_.tls_->NewSession(fd_);
  if (session_ == nullptr) return Progress::kClosed;
  const int result = SSL_accept(session_);
  if (result != 1) return Blocked(result);
  SSL_set_msg_callback(session_, CountRecord);
  SSL_set_msg_callback_arg(session_, this);
  client_chain_ = ChainOf(session_);
  Enter(State::kReading, server_.limits_.head);
  return Progress::kDone;
}

void Connection::CountRecord(int sent, int /*version*/, int content, const void* /*data*/,
                             size_t /*size*/, ssl_st* /*session*/, void* self) {
  if (sent == 0 && content == SSL3_RT_HEADER) ++static_cast<Connection*>(self)->records_;
}

Connection::Progress Connection::Read() {
  // Bytes that came with an earlier request.
  if (TakeRequest()) return Progress::kDone;
  std::array<char, kRecord> buffer;
  for (int i = 0; i < kRecordsATurn; ++i) {
    const int got = Receive(buffer);
    if (got <= 0) return records_ > kMaxUselessRecords ? Progress::kClosed : Blocked(got);
    records_ = 0;
    if (in_.empty() && !head_) deadline_ = server_.loop_.Now() + server_.limits_.head;
    in_.append(buffer.data(), static_cast<size_t>(got));
    if (TakeRequest()) return Progress::kDone;
  }
  // A record is read whole, so that the rest of what has come makes the socket readable. Without
  // TLS it does in any case.
  wanted_ = EPOLLIN;
  return Progress::kBlocked;
}

bool Connection::TakeHead() {
  const size_t from = searched_ < kHeadEnd.size() ? 0 : searched_ - kHeadEnd.size();
  const size_t end = in_.find(kHeadEnd, from);
  searched_ = in_.size();
  if (std::min(end, in_.size()) > server_.limits_.head_bytes) {
    Refuse(431);
    return false;
  }
  if (end == std::string::npos) return false;
  const size_t size = end + kHeadEnd.size();
  auto head = ParseRequestHead(std::string_view(in_).substr(0, size));
  if (!head) {
    Refuse(head.error());
    return false;
  }
  if (!TakesBody(*head)) {
    Refuse(413);
    return false;
  }
  head_ = std::move(*head);
  in_.erase(0, size);
  searched_ = 0;
  if (head_->content_length > 0 && server_.admit_) {
    AskForBody();
    return false;
  }
  if (ReserveBody(head_->content_length)) return true;
  Refuse(429);
  return false;
}

bool Connection::TakesBody(const RequestHead& head) const {
  const ServerLimits& limits = server_.limits_;
  if (head.content_length <= limits.body_bytes) return true;
  const auto larger = limits.body_bytes_of.find(head.request.path);
  return larger != limits.body_bytes_of.end() && head.content_length <= larger->second;
}

void Connection::AskForBody() {
  Enter(State::kAdmitting, server_.limits_.answer);
  head_->request.client_chain = client_chain_;
  head_->request.peer = PeerOf(fd_);
  LogLater(head_->request);
  departure_ = head_->request.departure;
  const uint64_t number = ++number_;
  const auto request = std::make_shared<const Request>(head_->request);
  server_.admit_(request, [self = std::weak_ptr<HttpServer*>(server_.self_), &loop = server_.loop_,
                           id = id_, number](std::optional<Response> refused) {
    loop.Post([self, id, number, refused = std::move(refused)] {
      const auto server = self.lock();
      if (server == nullptr) return;
      const auto found = (*server)->connections_.find(id);
      if (found != (*server)->connections_.end()) found->second->Decided(number, refused);
    });
  });
}

void Connection::Decided(uint64_t number, const std::optional<Response>& refused) {
  if (state_ != State::kAdmitting || number != number_) return;
  departure_.reset();
  if (refused) {
    in_.clear();
    head_.reset();
    parts_ = Parts::kHeadAndBody;
    // Its body is on its way, and will not be read.
    Enqueue(*refused, Persistence::kClose);
  } else if (!ReserveBody(head_->content_length)) {
    Refuse(429);
  } else {
    Enter(State::kReading, server_.limits_.head);
  }
  if (!Drive()) server_.Close(id_);
}

bool Connection::ReserveBody(size_t bytes) {
  if (bytes <= server_.limits_.body_bytes) return true;
  if (!server_.HasRoomForBody(peer_, bytes)) return false;
  large_body_ = bytes;
  server_.large_bodies_ += large_body_;
  return true;
}

void Connection::ReleaseBody() { server_.large_bodies_ -= std::exchange(large_body_, 0); }

bool Connection::TakeRequest() {
  if (!head_ && !TakeHead()) return state_ != State::kReading;
  if (in_.size() < head_->content_length) return false;
  head_->request.body = in_.substr(0, head_->content_length);
  in_.erase(0, head_->content_length);
  in_.shrink_to_fit();
  RequestHead head = std::move(*head_);
  head_.reset();
  Handle(std::move(head));
  return true;
}

void Connection::Handle(RequestHead head) {
  const auto longer = server_.limits_.answer_of.find(head.request.path);
  Enter(State::kHandling,
        longer == server_.limits_.answer_of.end() ? server_.limits_.answer : longer->second);
  parts_ = head.request.method == "HEAD" ? Parts::kHead : Parts::kHeadAndBody;
  persistence_ = head.keep_alive ? Persistence::kKeepAlive : Persistence::kClose;
  head.request.client_chain = client_chain_;
  head.request.peer = PeerOf(fd_);
  LogLater(head.request);
  departure_ = head.request.departure;
  const uint64_t number = ++number_;
  const auto request = std::make_shared<const Request>(std::move(head.request));
  server_.handler_(request, [self = std::weak_ptr<HttpServer*>(server_.self_),
                             &loop = server_.loop_, id = id_, number](Response response) {
    loop.Post([self, id, number, response = std::move(response)] {
      const auto server = self.lock();
      if (server == nullptr) return;
      const auto found = (*server)->connections_.find(id);
      if (found == (*server)->connections_.end()) return;
      found->second->Answer(number, response);
    });
  });
}

void Connection::Answer(uint64_t number, const Response& response) {
  if (state_ != State::kHandling || number != number_) return;
  departure_.reset();
  Enqueue(response, server_.drained_ ? Persistence::kClose : persistence_);
  if (!Drive()) server_.Close(id_);
}

bool Connection::TimeOut() {
  if (!waits_for_others()) return false;
  GiveUp();
  Refuse(504);
  return Drive();
}

void Connection::GiveUp() {
  if (const auto departure = std::exchange(departure_, nullptr)) departure->Announce();
}

void Connection::Refuse(int code) {
  in_.clear();
  head_.reset();
  searched_ = 0;
  parts_ = Parts::kHeadAndBody;
  Enqueue(ErrorText(code, std::to_string(code) + " " + std::string(StatusText(code))),
          Persistence::kClose);
}

void Connection::LogLater(const Request& request) {
  if (!logged_ && RequestLog::Wanted()) {
    logged_.emplace(request, RemoteOf(fd_), server_.loop_.Now());
  }
}

void Connection::Enqueue(const Response& response, Persistence persistence) {
  if (logged_) logged_->Answered(response.code, server_.loop_.Now());
  logged_.reset();
  ReleaseBody();
  persistence_ = persistence;
  out_ = Serialize(response, parts_, persistence);
  shared_out_ = parts_ == Parts::kHead ? nullptr : response.shared_body;
  if (shared_out_ != nullptr && out_.size() + shared_out_->size() <= kSmallResponse) {
    out_ += *std::exchange(shared_out_, nullptr);
  }
  // Small ones go out in any case, a probe's among them: each connection writes one at most.
  if (shared_out_ != nullptr || out_.size() > kSmallResponse) {
    if (server_.Reserve(peer_, out_.size(), shared_out_.get())) {
      reserved_ = out_.size();
    } else {
      shared_out_.reset();
      out_ = Serialize(TooManyBytes(), parts_, persistence);
    }
  }
  written_ = 0;
  writing_since_ = took_last_ = server_.loop_.Now();
  Enter(State::kWriting, server_.limits_.write);
}

bool Connection::lags() const {
  if (state_ != State::kWriting || reserved_ == 0) return false;
  const ServerLimits& limits = server_.limits_;
  const Time now = server_.loop_.Now();
  if (now - took_last_ >= limits.lag) return true;
  const Duration had = now - writing_since_;
  if (had < limits.lag) return false;
  const size_t whole = out_.size() + (shared_out_ == nullptr ? 0 : shared_out_->size());
  using Seconds = std::chrono::duration<double>;
  return static_cast<double>(written_) * Seconds(limits.write) <
         static_cast<double>(whole) * Seconds(had);
}

void Connection::ReleaseResponse() {
  server_.Release(std::exchange(reserved_, 0), shared_out_.get());
  shared_out_.reset();
  out_.clear();
  out_.shrink_to_fit();
}

Connection::Progress Connection::Write() {
  const std::string_view shared = shared_out_ == nullptr ? std::string_view() : *shared_out_;
  while (written_ < out_.size() + shared.size()) {
    const std::string_view rest = written_ < out_.size() ? std::string_view(out_).substr(written_)
                                                         : shared.substr(written_ - out_.size());
    const int put = Send(rest.substr(0, kRecord));
    if (put <= 0) return Blocked(put);
    written_ += static_cast<size_t>(put);
    took_last_ = server_.loop_.Now();
  }
  ReleaseResponse();
  if (persistence_ == Persistence::kClose) {
    CloseEnd();
    // Nothing is waited for once the server goes.
    return server_.drained_ ? Progress::kClosed : Progress::kDone;
  }
  Enter(State::kReading, server_.limits_.idle);
  waiting_since_ = server_.loop_.Now();
  return Progress::kDone;
}

void Connection::CloseEnd() {
  if (session_ != nullptr) SSL_shutdown(session_);
  ERR_clear_error();
  shutdown(fd_, SHUT_WR);
  Enter(State::kClosing, server_.limits_.closing);
}

Connection::Progress Connection::Discard() {
  std::array<char, kRecord> buffer;
  for (int i = 0; i < kRecordsATurn; ++i) {
    // TLS or not: what it says is of no interest.
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
    const bool waits = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    if (got <= 0 && !waits) return Progress::kClosed;
    if (waits) break;
    discarded_ += static_cast<size_t>(got);
    if (discarded_ > server_.limits_.closing_bytes) return Progress::kClosed;
  }
  wanted_ = EPOLLIN;
  return Progress::kBlocked;
}

std::string PeerOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto written = [&text](int family, const void* bytes) {
    return std::string(inet_ntop(family, bytes, text.data(), text.size()));
  };
  if (address.ss_family == AF_INET) {
    return written(AF_INET, &reinterpret_cast<sockaddr_in*>(&address)->sin_addr);
  }
  if (address.ss_family != AF_INET6) return "";
  in6_addr network = reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr;
  // An IPv4 client of a socket for both.
  if (IN6_IS_ADDR_V4MAPPED(&network) != 0) return written(AF_INET, &network.s6_addr[12]);
  std::fill(std::begin(network.s6_addr) + 8, std::end(network.s6_addr), uint8_t{0});
  return written(AF_INET6, &network);
}

tl::expected<RequestHead, int> ParseRequestHead(std::string_view text) {
  RequestHead head;
  const size_t first_end = text.find(kLineEnd);
  if (first_end == std::string_view::npos) return tl::unexpected(400);
  if (const int refused = ParseRequestLine(text.substr(0, first_end), head)) {
    return tl::unexpected(refused);
  }
  const bool http11 = head.keep_alive;
  text.remove_prefix(first_end + kLineEnd.size());
  while (text != kLineEnd) {
    const size_t end = text.find(kLineEnd);
    if (end == std::string_view::npos) return tl::unexpected(400);
    if (const int refused = ParseFieldLine(text.substr(0, end), head)) {
      return tl::unexpected(refused);
    }
    text.remove_prefix(end + kLineEnd.size());
  }
  if (const int refused = ReadFraming(head, http11)) return tl::unexpected(refused);
  return head;
}

std::string Serialize(const Response& response, Parts parts, Persistence persistence) {
  std::string text = "HTTP/1.1 " + std::to_string(response.code) + " ";
  text += StatusText(response.code);
  text += kLineEnd;
  for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
  text += "Content-Type: " + response.content_type + "\r\n";
  text += "Content-Length: " +
          std::to_string(response.shared_body == nullptr ? response.body.size()
                                                         : response.shared_body->size()) +
          "\r\n";
  if (persistence == Persistence::kClose) text += "Connection: close\r\n";
  text += kLineEnd;
  if (parts == Parts::kHeadAndBody) text += response.body;
  return text;
}

}  // namespace berth::serving
