// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>

#include "berth/plugin_kinds.h"
#include "src/api/plugin_object.h"

namespace berth::test {

// A kind as a plugin would ask for it: windows.tests.example.com/v1, without namespaces, and
// shops.tests.example.com/v1, with.
inline api::PluginKindId WindowKind() {
  return *PluginKinds().Add({"tests.example.com", "v1", "windows", "Window", false});
}
inline api::PluginKindId ShopKind() {
  return *PluginKinds().Add({"tests.example.com", "v1", "shops", "Shop", true});
}

inline std::shared_ptr<const api::PluginObject> MakePluginObject(api::PluginKindId kind,
                                                                 std::string_view json) {
  auto object = api::ReadPluginObject(kind, json);
  EXPECT_TRUE(object) << object.error().message;
  return std::make_shared<const api::PluginObject>(*std::move(object));
}

}  // namespace berth::test
