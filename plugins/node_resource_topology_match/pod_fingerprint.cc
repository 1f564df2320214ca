// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resource_topology_match/pod_fingerprint.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdio>

namespace berth::plugins {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;

// The first bytes, the lowest first, whatever the machine's order.
template <size_t bytes>
uint64_t Little(std::string_view text) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) {
    value |= uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  }
  return value;
}

uint64_t Round(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

}  // namespace

uint64_t Xxh64(std::string_view text, uint64_t seed) {
  const uint64_t length = text.size();
  uint64_t hash = seed + kPrime5;
  if (text.size() >= 32) {
    uint64_t lanes[] = {seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
    for (; text.size() >= 32; text.remove_prefix(32)) {
      for (size_t i = 0; i < 4; ++i) lanes[i] = Round(lanes[i], Little<8>(text.substr(8 * i)));
    }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
           std::rotl(lanes[3], 18);
    for (const uint64_t lane : lanes) hash = (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
  }
  hash += length;
  for (; text.size() >= 8; text.remove_prefix(8)) {
    hash = std::rotl(hash ^ Round(0, Little<8>(text)), 27) * kPrime1 + kPrime4;
  }
  if (text.size() >= 4) {
    hash = std::rotl(hash ^ (Little<4>(text) * kPrime1), 23) * kPrime2 + kPrime3;
    text.remove_prefix(4);
  }
  for (; !text.empty(); text.remove_prefix(1)) {
    hash = std::rotl(hash ^ (Little<1>(text) * kPrime5), 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

void PodFingerprint::Add(std::string_view namespace_, std::string_view name) {
  hashes_.push_back(Xxh64(name, Xxh64(namespace_, 0)));
}

std::string PodFingerprint::Sign() {
  std::ranges::sort(hashes_);
  std::string bytes;
  for (const uint64_t hash : hashes_) {
    for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(hash >> shift & 0xff);
  }
  char text[32];
  std::snprintf(text, sizeof(text), "pfp0v001%016" PRIx64, Xxh64(bytes, 0));
  return text;
}

}  // namespace berth::plugins
