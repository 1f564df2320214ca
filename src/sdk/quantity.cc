// SPDX-License-Identifier: Apache-2.0
#include "berth/api/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace berth::api {
namespace {

using Nanos = Quantity::Nanos;
__extension__ typedef unsigned __int128 Wide;

constexpr int kNanoDigits = 9;
constexpr int64_t kNanosPerUnit = 1'000'000'000;
constexpr Nanos kMaxBinaryNanos = Nanos{std::numeric_limits<int64_t>::max()} * kNanosPerUnit;
constexpr Nanos kMaxNanos = Nanos{1'000'000'000'000} * 1'000'000'000'000 * kNanosPerUnit;

constexpr char kFormatError[] =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr char kSuffixError[] = "unable to parse quantity's suffix";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

struct Parts {
  bool negative = false;
  std::string_view whole;     // no leading zeros
  std::string_view fraction;  // as written
  std::string_view suffix;
};

std::string_view TakeDigits(std::string_view& rest) {
  size_t length = 0;
  while (length < rest.size() && IsDigit(rest[length])) ++length;
  const std::string_view digits = rest.substr(0, length);
  rest.remove_prefix(length);
  return digits;
}

// Splits as Kubernetes does, which reads a missing number ("Ki", ".") as zero.
std::optional<Parts> Split(std::string_view text) {
  Parts parts;
  if (text.front() == '-' || text.front() == '+') {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  parts.whole = TakeDigits(text);
  parts.whole.remove_prefix(std::min(parts.whole.find_first_not_of('0'), parts.whole.size()));
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    parts.fraction = TakeDigits(text);
  }
  parts.suffix = text;
  text.remove_prefix(std::min(text.find_first_not_of("eEinumkKMGTP"), text.size()));
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  TakeDigits(text);
  if (!text.empty()) return std::nullopt;
  return parts;
}

// A multiplier: 2 or 10 to the power of exponent.
struct Scale {
  Quantity::Format format = Quantity::Format::kDecimalSI;
  int exponent = 0;
};

std::optional<Scale> ReadSuffix(std::string_view suffix) {
  if (suffix.empty()) return Scale{};
  if (suffix.size() == 1) {
    const size_t small = std::string_view("num").find(suffix.front());
    if (small != std::string_view::npos)
      return Scale{Quantity::Format::kDecimalSI, static_cast<int>(small) * 3 - 9};
    const size_t large = std::string_view("kMGTPE").find(suffix.front());
    if (large != std::string_view::npos)
      return Scale{Quantity::Format::kDecimalSI, static_cast<int>(large) * 3 + 3};
    return std::nullopt;
  }
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const size_t power = std::string_view("KMGTPE").find(suffix.front());
    if (power != std::string_view::npos)
      return Scale{Quantity::Format::kBinarySI, static_cast<int>(power) * 10 + 10};
  }
  if (suffix.front() != 'e' && suffix.front() != 'E') return std::nullopt;
  suffix.remove_prefix(1);
  if (suffix.front() == '+') suffix.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
  if (error != std::errc{} || end != suffix.data() + suffix.size()) return std::nullopt;
  return Scale{Quantity::Format::kDecimalExponent, exponent};
}

// whole.fraction * 10^exponent in nanos, rounded up, at most kMaxNanos.
Nanos DecimalNanos(std::string_view whole, std::string_view fraction, int exponent) {
  // The digits of whole and fraction in a row, cut `kept` digits from the left.
  const int64_t kept = static_cast<int64_t>(whole.size()) + exponent + kNanoDigits;
  const int64_t digits = static_cast<int64_t>(whole.size() + fraction.size());
  const auto digit = [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    return at < whole.size() ? whole[at] : fraction[at - whole.size()];
  };
  Nanos nanos = 0;
  for (int64_t i = 0; i < std::min(kept, digits); ++i) {
    nanos = nanos * 10 + (digit(i) - '0');
    if (nanos > kMaxNanos) return kMaxNanos;
  }
  for (int64_t i = digits; i < kept && nanos != 0; ++i) {
    nanos *= 10;
    if (nanos > kMaxNanos) return kMaxNanos;
  }
  for (int64_t i = std::max<int64_t>(kept, 0); i < digits; ++i)
    if (digit(i) != '0') return std::min(nanos + 1, kMaxNanos);
  return nanos;
}

// whole.fraction * 2^exponent in nanos, rounded up, at most kMaxBinaryNanos.
Nanos BinaryNanos(std::string_view whole, std::string_view fraction, int exponent) {
  const Wide unit = (Wide{1} << exponent) * kNanosPerUnit;
  const Wide most = static_cast<Wide>(kMaxBinaryNanos) / unit + 1;
  Wide number = 0;
  for (const char c : whole) {
    number = number * 10 + static_cast<Wide>(c - '0');
    if (number > most) return kMaxBinaryNanos;
  }
  // Horner's scheme from the last digit; floor(floor(x) / 10) loses nothing that `rest` misses.
  Wide part = 0;
  bool rest = false;
  for (size_t i = fraction.size(); i-- > 0;) {
    part += static_cast<Wide>(fraction[i] - '0') * unit;
    rest |= part % 10 != 0;
    part /= 10;
  }
  const Wide nanos = number * unit + part + (rest ? 1 : 0);
  return static_cast<Nanos>(std::min(nanos, static_cast<Wide>(kMaxBinaryNanos)));
}

constexpr std::array<std::string_view, 10> kDecimalSuffixes = {"n", "u", "m", "",  "k",
                                                               "M", "G", "T", "P", "E"};
constexpr std::array<std::string_view, 7> kBinarySuffixes = {"",   "Ki", "Mi", "Gi",
                                                             "Ti", "Pi", "Ei"};

// number * base^powers.
struct Shortened {
  std::string number;
  size_t powers = 0;
};

// `number`, not 0, without the powers of `base` that divide it, at most so many of them.
Shortened Shorten(Nanos number, int base, size_t most_powers) {
  Shortened shortened;
  const bool negative = number < 0;
  if (negative) number = -number;
  for (; number % base == 0 && shortened.powers < most_powers; ++shortened.powers) number /= base;
  for (; number != 0; number /= 10)
    shortened.number += static_cast<char>('0' + static_cast<int>(number % 10));
  if (negative) shortened.number += '-';
  std::reverse(shortened.number.begin(), shortened.number.end());
  return shortened;
}

// nanos / divisor, rounded away from zero, saturated.
int64_t DivideUp(Nanos nanos, int64_t divisor) {
  // Most amounts fit what the machine divides in one instruction.
  if (const auto narrow = static_cast<int64_t>(nanos); narrow == nanos) {
    const int64_t quotient = narrow / divisor;
    return narrow == quotient * divisor ? quotient : quotient + (narrow < 0 ? -1 : 1);
  }
  Nanos quotient = nanos / divisor;
  if (quotient * divisor != nanos) quotient += nanos < 0 ? -1 : 1;
  return static_cast<int64_t>(std::clamp<Nanos>(quotient, std::numeric_limits<int64_t>::min(),
                                                std::numeric_limits<int64_t>::max()));
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  if (text.empty()) return Fail(kFormatError);
  const std::optional<Parts> parts = Split(text);
  if (!parts) return Fail(kFormatError);
  const std::optional<Scale> scale = ReadSuffix(parts->suffix);
  if (!scale) return Fail(kSuffixError);
  const bool binary = scale->format == Format::kBinarySI;
  const Nanos nanos = binary ? BinaryNanos(parts->whole, parts->fraction, scale->exponent)
                             : DecimalNanos(parts->whole, parts->fraction, scale->exponent);
  const bool below_one = nanos > 0 && nanos < kNanosPerUnit;
  return Quantity(parts->negative ? -nanos : nanos,
                  binary && below_one ? Format::kDecimalSI : scale->format);
}

int64_t Quantity::Value() const { return DivideUp(nanos(), kNanosPerUnit); }

int64_t Quantity::MilliValue() const { return DivideUp(nanos(), kNanosPerUnit / 1000); }

std::string Quantity::ToString() const {
  if (IsZero()) return "0";
  Shortened shortened = Shorten(nanos(), 1000, kDecimalSuffixes.size() - 1);
  return shortened.number.append(kDecimalSuffixes[shortened.powers]);
}

std::string Quantity::ToCanonicalString() const {
  if (IsZero()) return "0";
  switch (format()) {
    case Format::kDecimalSI:
      break;
    case Format::kDecimalExponent: {
      const Shortened shortened = Shorten(nanos(), 1000, std::numeric_limits<size_t>::max());
      const int exponent = static_cast<int>(shortened.powers) * 3 - kNanoDigits;
      return exponent == 0 ? shortened.number : shortened.number + "e" + std::to_string(exponent);
    }
    case Format::kBinarySI: {
      constexpr Nanos kKibi = Nanos{1024} * kNanosPerUnit;
      const bool small = nanos() > -kKibi && nanos() < kKibi;
      if (small || nanos() % kNanosPerUnit != 0) break;
      const Shortened shortened =
          Shorten(nanos() / kNanosPerUnit, 1024, kBinarySuffixes.size() - 1);
      return shortened.number + std::string(kBinarySuffixes[shortened.powers]);
    }
  }
  return ToString();
}

}  // namespace berth::api
