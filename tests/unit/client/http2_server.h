// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/test_certificates.h"

namespace berth::test {

// An HTTP/2 server on 127.0.0.1 over TLS. It answers each request with 200 and "{}"; one for
// "/watch" gets a line and no end.
//
// Thread safety: any thread.
class Http2Server {
 public:
  Http2Server();
  ~Http2Server();
  Http2Server(const Http2Server&) = delete;
  Http2Server& operator=(const Http2Server&) = delete;

  std::string url() const;
  const TestAuthority& authority() const;
  // "<connection> <path>" of each request, connections counted from 1.
  std::vector<std::string> requests() const;
  // Connections from this one on are accepted and not answered.
  void HangFrom(int connection);
  // From now on it reads, acknowledges and says nothing.
  void FallSilent();
  void SpeakAgain();
  // Returns once a silent server has been sent a ping.
  void AwaitUnansweredPing();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::test
