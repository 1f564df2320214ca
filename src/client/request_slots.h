// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "src/base/string_map.h"

namespace berth::client {

// The namespace that a request is about, by its path; "": none, or the request is about a namespace
// itself.
std::string_view NamespaceOf(std::string_view path);

// How many requests may be under way at once, shared by namespace. One that holds a slot may take
// another while it holds fewer than three times those that are free, but for the last, which is for
// one that holds none. So one namespace alone gets three quarters, two that want all get three
// sevenths each, and a further one finds a slot until as many hold one as there are slots.
//
// Thread safety: one owner.
class RequestSlots {
 public:
  explicit RequestSlots(size_t slots) : slots_(slots) {}

  // May fall below what is taken.
  void Resize(size_t slots) { slots_ = slots; }
  size_t free() const { return taken_ < slots_ ? slots_ - taken_ : 0; }
  bool MayTake(std::string_view owner) const;
  void Take(std::string_view owner);
  void Free(std::string_view owner);

 private:
  size_t slots_;
  size_t taken_ = 0;
  base::StringMap<size_t> held_;  // by owner; none holds nothing
};

}  // namespace berth::client
