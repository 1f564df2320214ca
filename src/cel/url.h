// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/result.h"

// URLs as Go's net/url reads them.
//
// Thread safety: any thread; no state.
namespace berth::cel {

struct Url {
  std::string scheme;
  std::string opaque;
  std::string user;
  std::string host;  // with its port, unescaped
  std::string escaped_path;
  std::string query;
  std::string fragment;

  friend bool operator==(const Url&, const Url&) = default;
};

// An absolute URL, or a path from the root. Errors: other text.
Result<Url> ParseUrl(std::string_view text);
// Errors: text that is neither.
Result<void> CheckRequestUri(std::string_view text);

// Without port and brackets; the port without its colon.
std::string HostnameOf(const Url& url);
std::string PortOf(const Url& url);
// Keys and values in their order; what is badly escaped is left out.
std::vector<std::pair<std::string, std::string>> QueryOf(const Url& url);

}  // namespace berth::cel
