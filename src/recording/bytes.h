// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

// How numbers and texts stand in a recording.
//
// Thread safety: one owner.
namespace berth::recording {

// Appends to a string.
class ByteWriter {
 public:
  // `out` must outlive the writer.
  explicit ByteWriter(std::string& out) : out_(out) {}

  // Seven bits a byte, the lowest first.
  void Unsigned(uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<char>(value));
  }
  // Small for numbers near zero, on either side.
  void Signed(int64_t value) {
    Unsigned((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  // Its 64 bits, the lowest byte first.
  void Real(double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) out_.push_back(static_cast<char>(bits >> shift));
  }
  void Text(std::string_view text) {
    Unsigned(text.size());
    out_.append(text);
  }

 private:
  std::string& out_;
};

// Reads what a ByteWriter wrote, or any other bytes: once they do not make sense, ok() is false,
// and every number is 0 and every text empty from then on.
class ByteReader {
 public:
  // What is read points into `bytes`.
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  uint64_t Unsigned() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }
  int64_t Signed() {
    const uint64_t value = Unsigned();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  // A number that lies no further than `limit` from zero.
  int64_t SignedWithin(int64_t limit) {
    const int64_t value = Signed();
    if (value <= limit && value >= -limit) return value;
    Fail();
    return 0;
  }
  double Real() {
    constexpr size_t kBytes = 8;
    if (rest_.size() < kBytes) {
      Fail();
      return 0;
    }
    uint64_t bits = 0;
    for (size_t i = 0; i < kBytes; ++i) bits |= uint64_t{static_cast<uint8_t>(rest_[i])} << (8 * i);
    rest_.remove_prefix(kBytes);
    return std::bit_cast<double>(bits);
  }
  std::string_view Text() {
    const uint64_t size = Unsigned();
    if (size > rest_.size()) {
      Fail();
      return {};
    }
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  // A number below `limit`, as of an enumeration.
  template <typename Enum>
  Enum Below(Enum limit) {
    const uint64_t value = Unsigned();
    if (value < static_cast<uint64_t>(limit)) return static_cast<Enum>(value);
    Fail();
    return Enum{};
  }

  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }

 private:
  void Fail() {
    ok_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace berth::recording
