// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

namespace berth::test {

// A client of a server on 127.0.0.1 that speaks HTTP in the clear.
class PlainClient {
 public:
  explicit PlainClient(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~PlainClient() { close(fd_); }
  PlainClient(const PlainClient&) = delete;
  PlainClient& operator=(const PlainClient&) = delete;

  void Send(std::string_view text) {
    EXPECT_EQ(write(fd_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Reads until what has come ends so; "" where the server closes before.
  std::string ReadUntil(std::string_view end) {
    std::string text;
    while (!text.ends_with(end)) {
      if (!ReadSome(text)) return "";
    }
    return text;
  }
  // Reads until the server closes.
  std::string ReadAll() {
    std::string text;
    while (ReadSome(text)) {
      // There is more.
    }
    return text;
  }

 private:
  bool ReadSome(std::string& text) {
    std::array<char, 65536> buffer;
    const ssize_t got = read(fd_, buffer.data(), buffer.size());
    if (got > 0) text.append(buffer.data(), static_cast<size_t>(got));
    return got > 0;
  }

  int fd_;
};

}  // namespace berth::test
