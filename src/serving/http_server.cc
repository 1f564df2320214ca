// SPDX-License-Identifier: Apache-2.0
#include "src/serving/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/base/logging.h"
#include "src/serving/connection.h"

namespace berth::serving {
namespace {

constexpr int kBacklog = 1024;
// Connections that one turn of the loop accepts before the others have theirs.
constexpr int kAcceptsATurn = 32;
constexpr Duration kSweepPeriod = std::chrono::seconds(1);

// What one address may have of a bound.
size_t ShareOfOne(size_t bound) { return bound / 4 * 3; }

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Result<SocketAddress> ParseAddress(const std::string& text, int port) {
  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<uint16_t>(port));
    address.size = sizeof(*v4);
  } else if (inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<uint16_t>(port));
    address.size = sizeof(*v6);
  } else {
    return Fail("\"" + text + "\" is no IP address");
  }
  return address;
}

bool IsLoopback(const SocketAddress& address) {
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  if (address.storage.ss_family == AF_INET) return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
  return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) != 0;
}

// Whether it stands for all of this machine's addresses.
bool IsUnspecified(const SocketAddress& address) {
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  if (address.storage.ss_family == AF_INET) return v4->sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr) != 0;
}

// The address, or what of it tells machines apart.
std::string PeerOf(const SocketAddress& address) {
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  const auto text = [](const void* bytes, size_t size) {
    return std::string(static_cast<const char*>(bytes), size);
  };
  constexpr size_t kPrefix = 8;
  if (address.storage.ss_family == AF_INET) return text(&v4->sin_addr, sizeof(v4->sin_addr));
  if (!IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) return text(&v6->sin6_addr, kPrefix);
  return text(&v6->sin6_addr.s6_addr[12], sizeof(v4->sin_addr));
}

int PortOf(int fd) {
  SocketAddress bound;
  bound.size = sizeof(bound.storage);
  if (getsockname(fd, bound.get(), &bound.size) != 0) return 0;
  const bool v4 = bound.storage.ss_family == AF_INET;
  return ntohs(v4 ? reinterpret_cast<sockaddr_in*>(&bound.storage)->sin_port
                  : reinterpret_cast<sockaddr_in6*>(&bound.storage)->sin6_port);
}

void SwitchOn(int fd, int level, int option) {
  const int on = 1;
  setsockopt(fd, level, option, &on, sizeof(on));
}

// A system call that failed.
struct FailedCall {
  const char* name = "";
  int error = 0;  // errno
};

// A socket that listens there.
tl::expected<int, FailedCall> ListenAt(SocketAddress& address, bool share_port,
                                       int send_buffer_bytes) {
  const int family = address.storage.ss_family;
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto failed = [fd](const char* name) {
    const FailedCall call{name, errno};
    if (fd >= 0) close(fd);
    return tl::unexpected(call);
  };
  if (fd < 0) return failed("socket");
  // Whatever net.ipv6.bindv6only says.
  const int off = 0;
  if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  // A restart must not wait for the old connections' last packets.
  SwitchOn(fd, SOL_SOCKET, SO_REUSEADDR);
  if (share_port) SwitchOn(fd, SOL_SOCKET, SO_REUSEPORT);
  // Connections inherit it. Left to itself the kernel keeps megabytes for a client that does not
  // read, which count as the daemon's.
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes, sizeof(send_buffer_bytes));
  if (bind(fd, address.get(), address.size) != 0) return failed("bind");
  if (listen(fd, kBacklog) != 0) return failed("listen");
  return fd;
}

}  // namespace

HttpServer::HttpServer(const ServerLimits& limits, const TlsContext* tls, base::EventLoop& loop,
                       Handler handler, Admit admit)
    : limits_(limits),
      tls_(tls),
      loop_(loop),
      handler_(std::move(handler)),
      admit_(std::move(admit)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(const ListenOptions& options,
                                                       const ServerLimits& limits,
                                                       const TlsContext* tls, base::EventLoop& loop,
                                                       Handler handler, Admit admit) {
  std::unique_ptr<HttpServer> server(
      new HttpServer(limits, tls, loop, std::move(handler), std::move(admit)));
  if (auto opened = server->Open(options); !opened) return Fail(opened.error());
  return server;
}

Result<void> HttpServer::Open(const ListenOptions& options) {
  auto address = ParseAddress(options.address, options.port);
  if (!address) return Fail(address.error());
  if (tls_ == nullptr && !IsLoopback(*address)) {
    return Fail("without TLS there is nothing to listen on but this machine's own addresses, and " +
                options.address + " is none");
  }
  const bool share = options.share_port;
  const int send_buffer = limits_.send_buffer_bytes;
  tl::expected<int, FailedCall> listening;
  if (IsUnspecified(*address)) {
    // As in Go, either of "0.0.0.0" and "::" means both families; IPv4 alone where there is no
    // IPv6.
    SocketAddress any = *ParseAddress("::", options.port);
    listening = ListenAt(any, share, send_buffer);
    const int error = listening ? 0 : listening.error().error;
    if (error == EAFNOSUPPORT || error == EADDRNOTAVAIL) {
      any = *ParseAddress("0.0.0.0", options.port);
      listening = ListenAt(any, share, send_buffer);
    }
  } else {
    listening = ListenAt(*address, share, send_buffer);
  }
  if (!listening) {
    return Fail("failed to listen on " + options.address + ":" + std::to_string(options.port) +
                ": " + listening.error().name + ": " +
                std::generic_category().message(listening.error().error));
  }
  listener_ = *listening;
  port_ = PortOf(listener_);
  return {};
}

HttpServer::~HttpServer() {
  self_.reset();
  const bool started = sweep_ != 0;
  if (started) loop_.Cancel(sweep_);
  if (drain_ != 0) loop_.Cancel(drain_);
  connections_.clear();
  if (listener_ < 0) return;
  if (started) loop_.Unwatch(listener_, *this);
  close(listener_);
}

void HttpServer::Start() {
  loop_.Watch(listener_, EPOLLIN, *this);
  sweep_ = loop_.PostAfter(kSweepPeriod, [this] { Sweep(); });
}

void HttpServer::OnReady(int fd, uint32_t /*events*/) {
  for (int i = 0; i < kAcceptsATurn; ++i) {
    SocketAddress from;
    from.size = sizeof(from.storage);
    const int accepted = accept4(fd, from.get(), &from.size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted >= 0) {
      Accept(accepted, PeerOf(from));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // The listener stays readable, and asking again at once would keep the thread busy.
      EvictOldest();
      loop_.Unwatch(listener_, *this);
      paused_ = true;
      return;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    }
  }
}

void HttpServer::Accept(int fd, std::string peer) {
  if (connections_.size() >= limits_.connections) EvictOldest();
  SwitchOn(fd, IPPROTO_TCP, TCP_NODELAY);
  const uint64_t id = ++last_id_;
  connections_.emplace(id, std::make_unique<Connection>(*this, id, fd, std::move(peer)));
}

void HttpServer::EvictOldest() {
  std::map<std::string_view, size_t> counts;
  for (const auto& [id, connection] : connections_) ++counts[connection->peer()];
  const auto before = [&counts](const auto& a, const auto& b) {
    const size_t of_a = counts[a.second->peer()];
    const size_t of_b = counts[b.second->peer()];
    return of_a != of_b ? of_a > of_b : a.second->waiting_since() < b.second->waiting_since();
  };
  const auto oldest = std::min_element(connections_.begin(), connections_.end(), before);
  if (oldest != connections_.end()) connections_.erase(oldest);
}

void HttpServer::AwaitTurn(const Connection& connection) {
  if (turns_.empty()) PostTurn();
  auto& line = awaiting_[connection.peer()];
  if (line.empty()) turns_.push_back(connection.peer());
  line.push_back(connection.id());
}

void HttpServer::PostTurn() {
  loop_.Post([self = std::weak_ptr<HttpServer*>(self_)] {
    if (const auto server = self.lock()) (*server)->TakeTurn();
  });
}

void HttpServer::TakeTurn() {
  const auto line = awaiting_.find(turns_.front());
  const uint64_t id = line->second.front();
  line->second.pop_front();
  turns_.pop_front();
  if (line->second.empty()) {
    awaiting_.erase(line);
  } else {
    turns_.push_back(line->first);
  }
  if (!turns_.empty()) PostTurn();
  const auto found = connections_.find(id);
  if (found != connections_.end()) found->second->HaveTurn();
}

void HttpServer::Sweep() {
  const Time now = loop_.Now();
  std::erase_if(connections_, [now](const auto& entry) {
    return entry.second->deadline() <= now && !entry.second->TimeOut();
  });
  if (paused_ && listener_ >= 0) loop_.Watch(listener_, EPOLLIN, *this);
  paused_ = false;
  sweep_ = loop_.PostAfter(kSweepPeriod, [this] { Sweep(); });
  FinishIfDrained();
}

bool HttpServer::HasRoomForBody(const std::string& peer, size_t bytes) const {
  if (bytes > limits_.large_bodies_bytes - large_bodies_) return false;
  size_t held = 0;
  for (const auto& [id, connection] : connections_) {
    if (connection->peer() == peer) held += connection->large_body();
  }
  return held == 0 || held + bytes <= ShareOfOne(limits_.large_bodies_bytes);
}

HttpServer::Lacks HttpServer::WhatLacks(const std::string& peer, size_t own,
                                        const std::string* shared) const {
  const auto more = [own, shared](const auto& bodies) {
    return own + (shared == nullptr || bodies.contains(shared) ? 0 : shared->size());
  };
  // A single response is let through, however long, where there is no other.
  if (responses_ == 0) return Lacks::kNothing;
  size_t held = 0;
  std::set<const std::string*> bodies;
  for (const auto& [id, connection] : connections_) {
    if (connection->peer() != peer) continue;
    held += connection->reserved();
    const std::string* const body = connection->shared_body();
    if (body != nullptr && bodies.insert(body).second) held += body->size();
  }
  // First, so that it makes room for itself.
  const bool adds = shared == nullptr || !bodies.contains(shared);
  const size_t share = ShareOfOne(limits_.responses_bytes);
  if (adds && held > 0 && held + more(bodies) > share) return Lacks::kPeer;
  const bool fits = responses_ + more(shared_bodies_) <= limits_.responses_bytes;
  return fits ? Lacks::kNothing : Lacks::kAll;
}

bool HttpServer::Reserve(const std::string& peer, size_t own, const std::string* shared) {
  while (true) {
    const Lacks lacks = WhatLacks(peer, own, shared);
    if (lacks == Lacks::kNothing) break;
    if (!CloseLaggard(lacks == Lacks::kPeer ? &peer : nullptr)) return false;
  }
  responses_ += own;
  if (shared != nullptr && ++shared_bodies_[shared] == 1) responses_ += shared->size();
  return true;
}

bool HttpServer::CloseLaggard(const std::string* peer) {
  std::set<const std::string*> read;  // bodies, by those who do not lag
  for (const auto& [id, connection] : connections_) {
    if (!connection->lags()) read.insert(connection->shared_body());
  }
  auto least = connections_.end();
  for (auto it = connections_.begin(); it != connections_.end(); ++it) {
    const Connection& connection = *it->second;
    if (!connection.lags() || (peer != nullptr && connection.peer() != *peer)) continue;
    const std::string* const body = connection.shared_body();
    if (body != nullptr && read.contains(body)) continue;
    if (least == connections_.end() || connection.written() < least->second->written()) least = it;
  }
  if (least == connections_.end()) return false;
  base::LogV(2, "Closed a client that does not read its answer, as others wait");
  connections_.erase(least);
  return true;
}

void HttpServer::Release(size_t own, const std::string* shared) {
  responses_ -= own;
  if (shared == nullptr) return;
  const auto found = shared_bodies_.find(shared);
  if (--found->second > 0) return;
  responses_ -= shared->size();
  shared_bodies_.erase(found);
}

void HttpServer::Close(uint64_t id) {
  connections_.erase(id);
  FinishIfDrained();
}

void HttpServer::FinishIfDrained() {
  if (!drained_ || !connections_.empty()) return;
  loop_.Cancel(drain_);
  drain_ = 0;
  std::exchange(drained_, nullptr)();
}

void HttpServer::Shutdown(Duration grace, std::function<void()> done) {
  loop_.Unwatch(listener_, *this);
  close(listener_);
  listener_ = -1;
  drained_ = std::move(done);
  std::erase_if(connections_, [](const auto& entry) { return !entry.second->has_request(); });
  drain_ = loop_.PostAfter(grace, [this] {
    connections_.clear();
    FinishIfDrained();
  });
  FinishIfDrained();
}

}  // namespace berth::serving
