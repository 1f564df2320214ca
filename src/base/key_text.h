// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "berth/api/meta.h"

namespace berth::base {

// ObjectMeta::Key() for as long as it takes to look it up or to write it somewhere: without an
// allocation, unless the name is longer than Kubernetes allows. The metadata must outlive it.
//
// Thread safety: one owner.
class KeyText {
 public:
  explicit KeyText(const api::ObjectMeta& meta) : text_(meta.name) {
    const std::string_view namespace_name = meta.namespace_;
    if (namespace_name.empty()) return;
    const size_t size = namespace_name.size() + 1 + meta.name.size();
    if (size > room_.size()) {
      longer_ = meta.Key();
      text_ = longer_;
      return;
    }
    namespace_name.copy(room_.data(), namespace_name.size());
    room_[namespace_name.size()] = '/';
    meta.name.copy(room_.data() + namespace_name.size() + 1, meta.name.size());
    text_ = {room_.data(), size};
  }
  KeyText(const KeyText&) = delete;
  KeyText& operator=(const KeyText&) = delete;

  std::string_view view() const { return text_; }

 private:
  std::array<char, 63 + 1 + 253> room_;  // left as it is: what is read was written
  std::string longer_;
  std::string_view text_;
};

}  // namespace berth::base
