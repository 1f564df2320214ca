// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <utility>

#include "src/cel/go_text.h"
#include "src/cel/net.h"

namespace berth::cel {
namespace {

// netip's complaint: ParseAddr("1.2"): IPv4 address too short.
std::string Complaint(std::string_view text, const std::string& what, std::string_view at = {}) {
  std::string message = "ParseAddr(" + GoQuote(text) + "): " + what;
  if (!at.empty()) message += " (at " + GoQuote(at) + ")";
  return message;
}

// Up to four decimal fields into `bytes`. The complaint, or empty.
std::string ReadV4(std::string_view all, std::string_view text, uint8_t* bytes) {
  int field = 0;
  int value = 0;
  size_t digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      if (digits == 1 && value == 0)
        return Complaint(all, "IPv4 field has octet with leading zero");
      value = value * 10 + (c - '0');
      ++digits;
      if (value > 255) return Complaint(all, "IPv4 field has value >255");
    } else if (c == '.') {
      if (i == 0 || i == text.size() - 1 || text[i - 1] == '.')
        return Complaint(all, "IPv4 field must have at least one digit", text.substr(i));
      if (field == 3) return Complaint(all, "IPv4 address too long");
      bytes[field++] = static_cast<uint8_t>(value);
      value = 0;
      digits = 0;
    } else {
      return Complaint(all, "unexpected character", text.substr(i));
    }
  }
  if (field < 3) return Complaint(all, "IPv4 address too short");
  bytes[3] = static_cast<uint8_t>(value);
  return "";
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

ReadAddressResult Refuse(std::string complaint) { return {{}, "", std::move(complaint)}; }

ReadAddressResult ReadV6(std::string_view all) {
  ReadAddressResult parsed;
  std::string_view text = all;
  if (const size_t percent = text.find('%'); percent != std::string_view::npos) {
    parsed.zone = std::string(text.substr(percent + 1));
    text = text.substr(0, percent);
    if (parsed.zone.empty()) return Refuse(Complaint(all, "zone must be a non-empty string"));
  }
  std::array<uint8_t, 16>& bytes = parsed.address.bytes;
  int ellipsis = -1;
  if (text.starts_with("::")) {
    ellipsis = 0;
    text.remove_prefix(2);
    if (text.empty()) return parsed;
  }
  size_t at = 0;
  while (at < 16) {
    size_t digits = 0;
    uint32_t value = 0;
    for (; digits < text.size() && HexDigit(text[digits]) >= 0; ++digits) {
      value = value * 16 + static_cast<uint32_t>(HexDigit(text[digits]));
      if (digits > 3) return Refuse(Complaint(all, "each group must have 4 or less digits", text));
      if (value > 0xFFFF) return Refuse(Complaint(all, "IPv6 field has value >=2^16", text));
    }
    if (digits == 0)
      return Refuse(
          Complaint(all, "each colon-separated field must have at least one digit", text));
    if (digits < text.size() && text[digits] == '.') {
      if (ellipsis < 0 && at != 12)
        return Refuse(Complaint(
            all, "embedded IPv4 address must replace the final 2 fields of the address", text));
      if (at + 4 > 16)
        return Refuse(Complaint(all,
                                "too many hex fields to fit an embedded IPv4 "
                                "at the end of the address",
                                text));
      if (std::string complaint = ReadV4(all, text, bytes.data() + at); !complaint.empty())
        return Refuse(std::move(complaint));
      text = {};
      at += 4;
      break;
    }
    bytes[at] = static_cast<uint8_t>(value >> 8);
    bytes[at + 1] = static_cast<uint8_t>(value & 0xFF);
    at += 2;
    text.remove_prefix(digits);
    if (text.empty()) break;
    if (text.front() != ':')
      return Refuse(Complaint(all, "unexpected character, want colon", text));
    if (text.size() == 1)
      return Refuse(Complaint(all, "colon must be followed by more characters", text));
    text.remove_prefix(1);
    if (text.front() == ':') {
      if (ellipsis >= 0) return Refuse(Complaint(all, "multiple :: in address", text));
      ellipsis = static_cast<int>(at);
      text.remove_prefix(1);
      if (text.empty()) break;
    }
  }
  if (!text.empty()) return Refuse(Complaint(all, "trailing garbage after address", text));
  if (at < 16) {
    if (ellipsis < 0) return Refuse(Complaint(all, "address string too short"));
    const size_t shift = 16 - at;
    for (size_t i = at; i-- > static_cast<size_t>(ellipsis);) bytes[i + shift] = bytes[i];
    for (size_t i = 0; i < shift; ++i) bytes[static_cast<size_t>(ellipsis) + i] = 0;
  } else if (ellipsis >= 0) {
    return Refuse(Complaint(all, "the :: must expand to at least one field of zeros"));
  }
  return parsed;
}

// The longest run of two or more zero fields, as [first, last); empty: none.
std::pair<size_t, size_t> ZeroRun(const Address& address) {
  std::pair<size_t, size_t> best{0, 0};
  for (size_t i = 0; i < 8;) {
    size_t end = i;
    while (end < 8 && address.bytes[2 * end] == 0 && address.bytes[2 * end + 1] == 0) ++end;
    if (end - i >= 2 && end - i > best.second - best.first) best = {i, end};
    i = end + 1;
  }
  return best;
}

}  // namespace

bool IsMapped(const Address& address) {
  return !address.is_v4 && address.bytes[10] == 0xFF && address.bytes[11] == 0xFF &&
         std::all_of(address.bytes.begin(), address.bytes.begin() + 10,
                     [](uint8_t byte) { return byte == 0; });
}

ReadAddressResult ReadAddress(std::string_view text) {
  for (const char c : text) {
    if (c == ':') return ReadV6(text);
    if (c == '%') return Refuse(Complaint(text, "missing IPv6 address"));
    if (c != '.') continue;
    ReadAddressResult parsed;
    parsed.address.is_v4 = true;
    parsed.complaint = ReadV4(text, text, parsed.address.bytes.data());
    return parsed;
  }
  return Refuse(Complaint(text, "unable to parse IP"));
}

std::string AddressText(const Address& address) {
  char buffer[24];
  if (address.is_v4) {
    const int length = std::snprintf(buffer, sizeof buffer, "%d.%d.%d.%d", address.bytes[0],
                                     address.bytes[1], address.bytes[2], address.bytes[3]);
    return {buffer, static_cast<size_t>(length)};
  }
  const auto [first, last] = ZeroRun(address);
  std::string text;
  for (size_t i = 0; i < 8; ++i) {
    if (i == first && last > first) {
      text += "::";
      i = last - 1;
      continue;
    }
    if (i > 0 && i != last) text += ':';
    const int length = std::snprintf(buffer, sizeof buffer, "%x",
                                     address.bytes[2 * i] * 256 + address.bytes[2 * i + 1]);
    text.append(buffer, static_cast<size_t>(length));
  }
  return text;
}

}  // namespace berth::cel
