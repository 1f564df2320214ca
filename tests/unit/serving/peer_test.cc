// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/serving/connection.h"

namespace berth::serving {
namespace {

// A connection to a listener at `to`, from an address of the caller's own.
class Connected {
 public:
  Connected(const char* to, const char* from) {
    const sockaddr_storage listening = Address(AF_INET6, to);
    listener_ = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int off = 0;
    setsockopt(listener_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(listener_, Raw(listening), sizeof(sockaddr_in6)) != 0 || listen(listener_, 1) != 0) {
      return;
    }
    sockaddr_in6 bound{};
    socklen_t size = sizeof(bound);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size);
    const bool v4 = std::string(from).find(':') == std::string::npos;
    sockaddr_storage own = Address(v4 ? AF_INET : AF_INET6, from);
    client_ = socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const socklen_t length = v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (bind(client_, Raw(own), length) != 0) return;
    sockaddr_storage there = Address(v4 ? AF_INET : AF_INET6, v4 ? "127.0.0.1" : "::1");
    if (v4) {
      reinterpret_cast<sockaddr_in*>(&there)->sin_port = bound.sin6_port;
    } else {
      reinterpret_cast<sockaddr_in6*>(&there)->sin6_port = bound.sin6_port;
    }
    if (connect(client_, Raw(there), length) != 0) return;
    server_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  }
  ~Connected() {
    for (const int fd : {listener_, client_, server_}) {
      if (fd >= 0) close(fd);
    }
  }
  Connected(const Connected&) = delete;
  Connected& operator=(const Connected&) = delete;

  // -1: this machine has no such addresses.
  int fd() const { return server_; }

 private:
  static sockaddr_storage Address(int family, const char* text) {
    sockaddr_storage address{};
    address.ss_family = static_cast<sa_family_t>(family);
    void* const bytes =
        family == AF_INET
            ? static_cast<void*>(&reinterpret_cast<sockaddr_in*>(&address)->sin_addr)
            : static_cast<void*>(&reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr);
    EXPECT_EQ(inet_pton(family, text, bytes), 1);
    return address;
  }
  static const sockaddr* Raw(const sockaddr_storage& address) {
    return reinterpret_cast<const sockaddr*>(&address);
  }

  int listener_ = -1;
  int client_ = -1;
  int server_ = -1;
};

TEST(PeerTest, IsTheAddressWithoutThePort) {
  const Connected first("::", "127.0.0.2");
  if (first.fd() < 0) GTEST_SKIP() << "there is no IPv6";
  const Connected second("::", "127.0.0.2");
  const Connected other("::", "127.0.0.3");
  EXPECT_EQ(PeerOf(first.fd()), "127.0.0.2");
  EXPECT_EQ(PeerOf(second.fd()), "127.0.0.2");
  EXPECT_EQ(PeerOf(other.fd()), "127.0.0.3");
}

TEST(PeerTest, OfIpv6ItIsTheNetwork) {
  const Connected connected("::1", "::1");
  if (connected.fd() < 0) GTEST_SKIP() << "there is no IPv6";
  EXPECT_EQ(PeerOf(connected.fd()), "::");
}

TEST(PeerTest, WhatIsNotConnectedHasNone) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(PeerOf(fd), "");
  close(fd);
}

}  // namespace
}  // namespace berth::serving
