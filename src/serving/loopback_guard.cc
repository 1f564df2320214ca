// SPDX-License-Identifier: Apache-2.0
#include "src/serving/loopback_guard.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <utility>

namespace berth::serving {
namespace {

// In a time that tells nothing of where they differ.
bool Equal(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

LoopbackGuard::LoopbackGuard(int port, std::string token) : token_(std::move(token)) {
  const std::string suffix = port == 80 ? "" : ":" + std::to_string(port);
  hosts_[0] = "127.0.0.1" + suffix;
  hosts_[1] = "localhost" + suffix;
}

std::optional<Response> LoopbackGuard::Refuse(const Request& request, bool needs_token) const {
  const std::string* host = request.FindHeader("host");
  const std::string asked = host == nullptr ? "" : absl::AsciiStrToLower(*host);
  if (std::ranges::find(hosts_, asked) == std::end(hosts_)) {
    return ErrorText(403, "this is not the server of that host");
  }
  if (!needs_token) return std::nullopt;
  const std::string* origin = request.FindHeader("origin");
  if (origin != nullptr && *origin != "http://" + asked) {
    return ErrorText(403, "not for other sites");
  }
  const std::string* site = request.FindHeader("sec-fetch-site");
  if (site != nullptr && *site != "same-origin") return ErrorText(403, "not for other sites");
  const std::string* token = request.FindHeader(kTokenHeader);
  if (token == nullptr || !Equal(*token, token_)) {
    return ErrorText(401, "the token is missing or wrong: open the address that was printed");
  }
  return std::nullopt;
}

std::optional<std::string> MakeToken() {
  std::array<unsigned char, 16> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return std::nullopt;
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace berth::serving
