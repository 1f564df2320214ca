// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "berth/result.h"
#include "src/cel/environment.h"
#include "src/cel/go_text.h"
#include "src/cel/net.h"

namespace berth::cel {
namespace {

// As Kubernetes takes addresses: no zone, no IPv4 inside IPv6.
Result<Address> ParseAddress(std::string_view text) {
  const ReadAddressResult parsed = ReadAddress(text);
  if (!parsed.complaint.empty())
    return Fail("IP Address " + GoQuote(text) +
                " parse error during conversion from string: " + parsed.complaint);
  if (!parsed.zone.empty())
    return Fail("IP address " + GoQuote(text) + " with zone value is not allowed");
  if (IsMapped(parsed.address))
    return Fail("IPv4-mapped IPv6 address " + GoQuote(text) + " is not allowed");
  return parsed.address;
}

bool SamePrefix(const Address& a, const Address& b, int bits) {
  if (a.is_v4 != b.is_v4) return false;
  for (int i = 0; i < bits; i += 8) {
    const int count = std::min(8, bits - i);
    const auto mask = static_cast<uint8_t>(0xFF << (8 - count));
    const auto at = static_cast<size_t>(i / 8);
    if ((a.bytes[at] & mask) != (b.bytes[at] & mask)) return false;
  }
  return true;
}

class IpValue : public Extension {
 public:
  explicit IpValue(const Address& made) : address(made) {}
  std::string_view type_name() const override { return "net.IP"; }
  std::optional<uint64_t> size() const override { return address.size(); }
  Value Equal(const Value& other) const override {
    const auto* const ip = As<IpValue>(other);
    return ip == nullptr ? OrNoSuchOverload(other) : Value::Bool(ip->address == address);
  }
  const Address address;
};

class CidrValue : public Extension {
 public:
  CidrValue(const Address& made, int length) : address(made), bits(length) {}
  std::string_view type_name() const override { return "net.CIDR"; }
  std::optional<uint64_t> size() const override { return static_cast<uint64_t>((bits + 7) / 8); }
  Value Equal(const Value& other) const override {
    const auto* const cidr = As<CidrValue>(other);
    return cidr == nullptr ? OrNoSuchOverload(other)
                           : Value::Bool(cidr->address == address && cidr->bits == bits);
  }
  const Address address;
  const int bits;
};

template <typename Held, typename... Args>
Value Make(const Args&... args) {
  return Value::Of(std::shared_ptr<const Extension>(std::make_shared<Held>(args...)));
}

// netip.ParsePrefix, with Kubernetes' rules on top.
Value ParseCidr(std::string_view text) {
  const std::string prefix =
      "network address parse error during conversion from string: network address parse error "
      "during conversion from string: netip.ParsePrefix(" +
      GoQuote(text) + "): ";
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return Value::Error(prefix + "no '/'");
  const ReadAddressResult parsed = ReadAddress(text.substr(0, slash));
  if (!parsed.complaint.empty()) return Value::Error(prefix + parsed.complaint);
  if (!parsed.zone.empty())
    return Value::Error(prefix + "IPv6 zones cannot be present in a prefix");
  const std::string_view digits = text.substr(slash + 1);
  const bool padded = digits.size() > 1 && (digits.front() < '1' || digits.front() > '9');
  const std::optional<int64_t> bits = ParseInt(digits);
  if (padded || !bits) return Value::Error(prefix + "bad bits after slash: " + GoQuote(digits));
  if (*bits < 0 || *bits > static_cast<int64_t>(parsed.address.size()) * 8)
    return Value::Error(prefix + "prefix length out of range");
  if (IsMapped(parsed.address))
    return Value::Error(
        "network address parse error during conversion from string: IPv4-mapped "
        "IPv6 address " +
        GoQuote(text) + " is not allowed");
  return Make<CidrValue>(parsed.address, static_cast<int>(*bits));
}

Value ToIp(Budget&, std::span<Value> args) {
  const Result<Address> address = ParseAddress(args[0].text());
  return address ? Make<IpValue>(*address) : Value::Error(address.error().message);
}
Value IsIp(Budget&, std::span<Value> args) {
  return Value::Bool(ParseAddress(args[0].text()).has_value());
}
Value IsCanonical(Budget&, std::span<Value> args) {
  const Result<Address> address = ParseAddress(args[0].text());
  if (!address) return Value::Error(address.error().message);
  return Value::Bool(AddressText(*address) == args[0].text());
}

const Address& Ip(std::span<const Value> args) { return As<IpValue>(args[0])->address; }
Value IpText(Budget&, std::span<Value> args) { return Value::String(AddressText(Ip(args))); }
Value Family(Budget&, std::span<Value> args) { return Value::Int(Ip(args).is_v4 ? 4 : 6); }

bool AllZero(const Address& address, size_t end) {
  return std::all_of(address.bytes.begin(), address.bytes.begin() + static_cast<ptrdiff_t>(end),
                     [](uint8_t byte) { return byte == 0; });
}
bool IsUnspecified(const Address& a) { return AllZero(a, a.size()); }
bool IsLoopback(const Address& a) {
  return a.is_v4 ? a.bytes[0] == 127 : AllZero(a, 15) && a.bytes[15] == 1;
}
bool IsMulticast(const Address& a) {
  return a.is_v4 ? (a.bytes[0] & 0xF0) == 0xE0 : a.bytes[0] == 0xFF;
}
bool IsLinkLocalMulticast(const Address& a) {
  if (a.is_v4) return a.bytes[0] == 224 && a.bytes[1] == 0 && a.bytes[2] == 0;
  return a.bytes[0] == 0xFF && (a.bytes[1] & 0x0F) == 0x02;
}
bool IsLinkLocalUnicast(const Address& a) {
  if (a.is_v4) return a.bytes[0] == 169 && a.bytes[1] == 254;
  return a.bytes[0] == 0xFE && (a.bytes[1] & 0xC0) == 0x80;
}
bool IsBroadcast(const Address& a) {
  return a.is_v4 && std::all_of(a.bytes.begin(), a.bytes.begin() + 4,
                                [](uint8_t byte) { return byte == 255; });
}
bool IsGlobalUnicast(const Address& a) {
  return !IsUnspecified(a) && !IsBroadcast(a) && !IsLoopback(a) && !IsMulticast(a) &&
         !IsLinkLocalUnicast(a);
}
template <bool (*test)(const Address&)>
Value TestIp(Budget&, std::span<Value> args) {
  return Value::Bool(test(Ip(args)));
}

const CidrValue& Cidr(std::span<const Value> args) { return *As<CidrValue>(args[0]); }
Value ToCidr(Budget&, std::span<Value> args) { return ParseCidr(args[0].text()); }
Value IsCidr(Budget&, std::span<Value> args) {
  return Value::Bool(!ParseCidr(args[0].text()).IsError());
}
Value CidrText(Budget&, std::span<Value> args) {
  return Value::String(AddressText(Cidr(args).address) + "/" + std::to_string(Cidr(args).bits));
}
Value CidrIp(Budget&, std::span<Value> args) { return Make<IpValue>(Cidr(args).address); }
Value PrefixLength(Budget&, std::span<Value> args) { return Value::Int(Cidr(args).bits); }
Value Masked(Budget&, std::span<Value> args) {
  Address address = Cidr(args).address;
  for (int i = Cidr(args).bits; i < static_cast<int>(address.size()) * 8; ++i)
    address.bytes[static_cast<size_t>(i / 8)] &= static_cast<uint8_t>(~(0x80U >> (i % 8)));
  return Make<CidrValue>(address, Cidr(args).bits);
}

Value ContainsIp(Budget&, std::span<Value> args) {
  Value other = args[1];
  if (other.kind() == Kind::kString) {
    const Result<Address> address = ParseAddress(other.text());
    if (!address) return NoSuchOverload();
    other = Make<IpValue>(*address);
  }
  return Value::Bool(SamePrefix(Cidr(args).address, As<IpValue>(other)->address, Cidr(args).bits));
}
Value ContainsCidr(Budget&, std::span<Value> args) {
  Value other = args[1].kind() == Kind::kString ? ParseCidr(args[1].text()) : args[1];
  if (other.IsError()) return other;
  const auto& inner = *As<CidrValue>(other);
  return Value::Bool(Cidr(args).bits <= inner.bits &&
                     SamePrefix(Cidr(args).address, inner.address, Cidr(args).bits));
}

}  // namespace

void AddAddresses(Environment& environment) {
  environment.AddTypeName("net.IP", "net.IP!");
  environment.AddTypeName("net.CIDR", "net.CIDR!");
  static constexpr FunctionRow kRows[] = {
      {"ip", "string_to_ip", "(string) net.IP!", ToIp, Cost::kFirst},
      {"family", "ip_family", "net.IP!.() int", Family},
      {"ip.isCanonical", "ip_is_canonical", "(string) bool", IsCanonical, Cost::kFirstTwice},
      {"isUnspecified", "ip_is_unspecified", "net.IP!.() bool", TestIp<IsUnspecified>},
      {"isLoopback", "ip_is_loopback", "net.IP!.() bool", TestIp<IsLoopback>},
      {"isLinkLocalMulticast", "ip_is_link_local_multicast", "net.IP!.() bool",
       TestIp<IsLinkLocalMulticast>},
      {"isLinkLocalUnicast", "ip_is_link_local_unicast", "net.IP!.() bool",
       TestIp<IsLinkLocalUnicast>},
      {"isGlobalUnicast", "ip_is_global_unicast", "net.IP!.() bool", TestIp<IsGlobalUnicast>},
      {"isIP", "is_ip", "(string) bool", IsIp, Cost::kFirst},
      {"string", "ip_to_string", "(net.IP!) string", IpText},
      {"cidr", "string_to_cidr", "(string) net.CIDR!", ToCidr, Cost::kFirst},
      {"containsIP", "cidr_contains_ip_string", "net.CIDR!.(string) bool", ContainsIp,
       Cost::kWithinText},
      {"containsIP", "cidr_contains_ip_ip", "net.CIDR!.(net.IP!) bool", ContainsIp, Cost::kWithin},
      {"containsCIDR", "cidr_contains_cidr_string", "net.CIDR!.(string) bool", ContainsCidr,
       Cost::kSubnetText},
      {"containsCIDR", "cidr_contains_cidr", "net.CIDR!.(net.CIDR!) bool", ContainsCidr,
       Cost::kSubnet},
      {"ip", "cidr_ip", "net.CIDR!.() net.IP!", CidrIp, Cost::kOne},
      {"prefixLength", "cidr_prefix_length", "net.CIDR!.() int", PrefixLength},
      {"masked", "cidr_masked", "net.CIDR!.() net.CIDR!", Masked},
      {"isCIDR", "is_cidr", "(string) bool", IsCidr, Cost::kFirst},
      {"string", "cidr_to_string", "(net.CIDR!) string", CidrText},
  };
  environment.Add(kRows);
  environment.SetCost("ip", Cost::kFirst);
  environment.SetCost("containsIP", Cost::kWithin);
  environment.SetCost("containsCIDR", Cost::kSubnet);
}

}  // namespace berth::cel
