// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/api/protobuf_writer.h"

namespace berth::recording {

// Keeps what people put into objects out of recordings: of annotations only those stay that the
// scheduler and its plugins read; others, and parameters for drivers, become a short digest, which
// differs where they differ. The digest's key is drawn and never written, so that a guess at the
// text cannot be tried out.
class RecordedText final : public api::TextFilter {
 public:
  RecordedText(uint64_t key_a, uint64_t key_b) : key_a_(key_a), key_b_(key_b) {}

  std::string Annotation(std::string_view key, std::string_view value) override;
  std::string Raw(std::string_view json) override { return '"' + Digest(json) + '"'; }

 private:
  std::string Digest(std::string_view text) const;

  const uint64_t key_a_;
  const uint64_t key_b_;
};

// SipHash-2-4 (Aumasson and Bernstein, 2012) under a key of 128 bits.
uint64_t SipHash(uint64_t key_a, uint64_t key_b, std::string_view text);

}  // namespace berth::recording
