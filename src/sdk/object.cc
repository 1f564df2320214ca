// SPDX-License-Identifier: Apache-2.0
#include "berth/api/object.h"

#include <type_traits>

namespace berth::api {

ObjectPtr::ObjectPtr() = default;
ObjectPtr::ObjectPtr(std::monostate) {}
ObjectPtr::ObjectPtr(const ObjectPtr& other) = default;
ObjectPtr::ObjectPtr(ObjectPtr&& other) noexcept = default;
ObjectPtr& ObjectPtr::operator=(const ObjectPtr& other) = default;
ObjectPtr& ObjectPtr::operator=(ObjectPtr&& other) noexcept = default;
ObjectPtr::~ObjectPtr() = default;

const ObjectMeta* MetaOf(const ObjectPtr& object) {
  return std::visit(
      []<typename Held>(const Held& held) -> const ObjectMeta* {
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return nullptr;
        } else {
          return &held->metadata;
        }
      },
      object);
}

ObjectPtr WithMeta(const ObjectPtr& object, absl::FunctionRef<void(ObjectMeta&)> change) {
  return std::visit(
      [change]<typename Held>(const Held& held) -> ObjectPtr {
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return held;
        } else {
          auto copy = std::make_shared<std::remove_const_t<typename Held::element_type>>(*held);
          change(copy->metadata);
          return copy;
        }
      },
      object);
}

bool AreEqual(const ObjectPtr& one, const ObjectPtr& other) {
  if (one.index() != other.index()) return false;
  return std::visit(
      [&other]<typename Held>(const Held& held) {
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return false;
        } else {
          return *held == *std::get<Held>(other);
        }
      },
      one);
}

}  // namespace berth::api
