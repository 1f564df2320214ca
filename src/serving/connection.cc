// SPDX-License-Identifier: Apache-2.0
#include "src/serving/connection.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

namespace berth::serving {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
// TLS records that one turn of the loop reads from a client before the others have theirs.
constexpr int kRecordsATurn = 2;
constexpr size_t kRecord = size_t{16} * 1024;
// Records one after another that bring no data, as key updates do. Each costs the server more than
// the client; Go's limit.
constexpr int kMaxUselessRecords = 16;

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

}  // namespace

Connection::Connection(HttpServer& server, uint64_t id, int fd)
    : server_(server), id_(id), fd_(fd), wanted_(EPOLLIN) {
  Enter(State::kHandshake, server_.limits_.handshake);
  waiting_since_ = server_.loop_.Now();
  server_.loop_.Watch(fd_, wanted_, *this);
}

Connection::~Connection() {
  ReleaseBody();
  server_.loop_.Unwatch(fd_, *this);
  GiveUp();
  if (session_ != nullptr) {
    if (state_ != State::kHandshake && state_ != State::kClosing) SSL_shutdown(session_);
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
  // While a request is handled, what comes is the end.
  const bool broken = state_ == State::kHandling || (events & EPOLLERR) != 0;
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
  if (wanted_ != before) server_.loop_.Watch(fd_, wanted_, *this);
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
  if (!AdmitBody(*head)) return false;
  head_ = std::move(*head);
  in_.erase(0, size);
  searched_ = 0;
  return true;
}

bool Connection::AdmitBody(const RequestHead& head) {
  const ServerLimits& limits = server_.limits_;
  if (head.content_length <= limits.body_bytes) return true;
  const auto larger = limits.body_bytes_of.find(head.request.path);
  if (larger == limits.body_bytes_of.end() || head.content_length > larger->second) {
    Refuse(413);
    return false;
  }
  if (head.content_length > limits.large_bodies_bytes - server_.large_bodies_) {
    Refuse(429);
    return false;
  }
  large_body_ = head.content_length;
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
  Enter(State::kHandling, server_.limits_.answer);
  parts_ = head.request.method == "HEAD" ? Parts::kHead : Parts::kHeadAndBody;
  persistence_ = head.keep_alive ? Persistence::kKeepAlive : Persistence::kClose;
  head.request.client_chain = client_chain_;
  departure_ = head.request.departure;
  const uint64_t number = ++number_;
  const auto request = std::make_shared<const Request>(std::move(head.request));
  server_.handler_(request, [self = std::weak_ptr<HttpServer*>(server_.self_),
                             &loop = server_.loop_, id = id_, number](Response response) {
    loop.Post([self, id, number, response = std::move(response)]() mutable {
      const auto server = self.lock();
      if (server == nullptr) return;
      const auto found = (*server)->connections_.find(id);
      if (found == (*server)->connections_.end()) return;
      if (response.write_body) response.body = response.write_body();
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
  if (state_ != State::kHandling) return false;
  GiveUp();
  Refuse(504);
  return Drive();
}

void Connection::GiveUp() {
  if (const auto departure = std::exchange(departure_, nullptr)) departure->Announce();
}

void Connection::Refuse(int code) {
  in_.clear();
  searched_ = 0;
  parts_ = Parts::kHeadAndBody;
  Enqueue(ErrorText(code, std::to_string(code) + " " + std::string(StatusText(code))),
          Persistence::kClose);
}

void Connection::Enqueue(const Response& response, Persistence persistence) {
  ReleaseBody();
  persistence_ = persistence;
  out_ = Serialize(response, parts_, persistence);
  written_ = 0;
  Enter(State::kWriting, server_.limits_.write);
}

Connection::Progress Connection::Write() {
  while (written_ < out_.size()) {
    const size_t size = std::min(out_.size() - written_, kRecord);
    const int put = Send(std::string_view(out_).substr(written_, size));
    if (put <= 0) return Blocked(put);
    written_ += static_cast<size_t>(put);
  }
  out_.clear();
  out_.shrink_to_fit();
  if (persistence_ == Persistence::kClose) {
    // Nothing is waited for once the server goes.
    if (server_.drained_) return Progress::kClosed;
    CloseEnd();
    return Progress::kDone;
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

}  // namespace berth::serving
