// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "src/cache/object_tables.h"

namespace berth::test {

// The scheduler's tables of the other kinds, filled by value. Thread safety: one owner.
class PlainListers : public cache::ObjectTables {
 public:
  // Adds the object, or puts it in place of the one of its namespace and name.
  template <typename T>
  void Set(T object) {
    ObjectTables::Set(std::make_shared<const T>(std::move(object)));
  }

  template <typename T>
  void Remove(std::string_view namespace_, std::string_view name) {
    T object;
    object.metadata.namespace_ = namespace_;
    object.metadata.name = name;
    ObjectTables::Remove(std::make_shared<const T>(std::move(object)));
  }
};

}  // namespace berth::test
