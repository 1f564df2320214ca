// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::plugins {

// The fingerprint of a set of pods that agents write beside what they measured, so that a reader
// can tell of which pods it was measured. Source: k8stopologyawareschedwg/podfingerprint v0.2.2,
// version v001: "pfp0v001" and, as 16 hexadecimal digits, the hash of the pods' hashes.
//
// Thread safety: one owner.
class PodFingerprint {
 public:
  void Add(std::string_view namespace_, std::string_view name);
  // Whatever the order in which they were added.
  std::string Sign();

 private:
  std::vector<uint64_t> hashes_;
};

// XXH64 (Yann Collet, xxHash specification 0.1.1).
uint64_t Xxh64(std::string_view text, uint64_t seed);

}  // namespace berth::plugins
