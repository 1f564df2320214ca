// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/result.h"

// URLs as Go's net/url reads them, and IP addresses as net/netip reads and writes them.
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

// An IP address: 4 or 16 bytes.
struct Address {
  std::array<uint8_t, 16> bytes = {};
  bool is_v4 = false;

  size_t size() const { return is_v4 ? 4 : 16; }
  friend bool operator==(const Address&, const Address&) = default;
};

struct ReadAddressResult {
  Address address;
  std::string zone;
  std::string complaint;  // why the text is no address; empty: it is one
};

ReadAddressResult ReadAddress(std::string_view text);

// An IPv4 address within IPv6.
bool IsMapped(const Address& address);

std::string AddressText(const Address& address);

}  // namespace berth::cel
