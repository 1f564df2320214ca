// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "berth/in_tree/inputs.h"
#include "berth/pod_info.h"
#include "src/cache/tested_label_keys.h"

namespace berth::cache {

// How many PodParts bits have a meaning.
inline constexpr size_t kNumPodParts = 18;

// Parts of a pod, one behind the other, in a form that is equal for equal parts and different for
// different ones. Its room is used again.
class PodFragments {
 public:
  // `parts` must have a meaning.
  void Write(PodParts parts, const PodInfo& pod, const TestedLabelKeys& tested);

  // Of a part that was written; `part` is the number of its PodParts bit.
  std::string_view text(size_t part) const {
    const size_t begin = part == 0 ? 0 : ends_[part - 1];
    return std::string_view(texts_).substr(begin, ends_[part] - begin);
  }
  // Of pods of which the same parts were written: whether they are alike.
  friend bool operator==(const PodFragments&, const PodFragments&) = default;

 private:
  std::string texts_;
  std::array<size_t, kNumPodParts>
      ends_{};  // by part; of one that was not written, that of the one before
};

}  // namespace berth::cache
