// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// IP addresses as Go's net/netip reads and writes them.
//
// Thread safety: any thread; no state.
namespace berth::cel {

// 4 or 16 bytes.
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
