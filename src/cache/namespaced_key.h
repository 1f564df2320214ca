// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace berth::cache {

// "namespace/name", the key of tables of namespaced objects: neither part can hold a slash.
inline std::string NamespacedKey(std::string_view namespace_, std::string_view name) {
  std::string key;
  key.reserve(namespace_.size() + 1 + name.size());
  return key.append(namespace_).append("/").append(name);
}

}  // namespace berth::cache
