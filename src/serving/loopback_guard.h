// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/serving/http.h"

namespace berth::serving {

// Says who may ask a server that listens on this machine alone, in the clear, and that a browser is
// a client of. A browser also carries out what other sites' pages tell it to, so that listening on
// 127.0.0.1 keeps no site away:
//  - the Host header must name this server, else a site whose name resolves to 127.0.0.1 could read
//    the answers (DNS rebinding);
//  - where the browser says which site a request comes from, that must be this one;
//  - guarded paths ask for a token that only those know who were given the address.
//
// Thread safety: any thread.
class LoopbackGuard {
 public:
  // The header that the token is sent in; another site's page may not set it.
  static constexpr std::string_view kTokenHeader = "x-berth-token";

  // `port` is the server's.
  LoopbackGuard(int port, std::string token);

  // The answer to a request that is not to be served; nullopt where it is.
  std::optional<Response> Refuse(const Request& request, bool needs_token) const;

 private:
  std::string hosts_[2];
  std::string token_;
};

// 32 hexadecimal digits from the operating system: 128 bits that cannot be guessed. nullopt: there
// is no randomness to be had.
std::optional<std::string> MakeToken();

}  // namespace berth::serving
