// SPDX-License-Identifier: Apache-2.0
#include "src/recording/recorded_text.h"

#include <array>
#include <bit>
#include <charconv>

#include "src/api/read_annotations.h"

namespace berth::recording {
namespace {

struct SipState {
  uint64_t v0;
  uint64_t v1;
  uint64_t v2;
  uint64_t v3;

  void Round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void Add(uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
};

}  // namespace

uint64_t SipHash(uint64_t key_a, uint64_t key_b, std::string_view text) {
  SipState state{key_a ^ 0x736f6d6570736575u, key_b ^ 0x646f72616e646f6du,
                 key_a ^ 0x6c7967656e657261u, key_b ^ 0x7465646279746573u};
  uint64_t word = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    word |= uint64_t{static_cast<uint8_t>(text[i])} << (8 * (i % 8));
    if (i % 8 != 7) continue;
    state.Add(word);
    word = 0;
  }
  state.Add(word | uint64_t{text.size()} << 56);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

std::string RecordedText::Annotation(std::string_view key, std::string_view value) {
  return api::IsReadAnnotation(key) ? std::string(value) : Digest(value);
}

std::string RecordedText::Digest(std::string_view text) const {
  std::array<char, 17> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                          SipHash(key_a_, key_b_, text), 16);
  return "#" + std::string(digits.data(), end);
}

}  // namespace berth::recording
