// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "berth/resources.h"

namespace berth::test {

// Resource names in the order they were first asked for. Thread safety: one owner.
class PlainResourceNames final : public ResourceNames {
 public:
  ResourceId Intern(std::string_view name) override {
    for (ResourceId id = 0; id < names_.size(); ++id) {
      if (names_[id] == name) return id;
    }
    names_.emplace_back(name);
    return static_cast<ResourceId>(names_.size() - 1);
  }
  std::string_view Name(ResourceId id) const override { return names_[id]; }
  size_t size() const { return names_.size(); }

 private:
  // A deque: the text of a name stays where it is.
  std::deque<std::string> names_{"cpu", "memory", "ephemeral-storage"};
};

}  // namespace berth::test
