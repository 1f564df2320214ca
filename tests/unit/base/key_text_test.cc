// SPDX-License-Identifier: Apache-2.0
#include "src/base/key_text.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::base {
namespace {

TEST(KeyTextTest, IsTheKeyOfTheMetadata) {
  const struct {
    std::string namespace_;
    std::string name;
  } cases[] = {
      {"default", "web"},
      {"", "node-1"},
      {std::string(63, 'n'), std::string(253, 'p')},
      {std::string(63, 'n'), std::string(254, 'p')},
      {std::string(4000, 'n'), std::string(4000, 'p')},
      {"default", ""},
  };
  for (const auto& c : cases) {
    api::ObjectMeta meta;
    meta.namespace_ = c.namespace_;
    meta.name = c.name;
    EXPECT_EQ(KeyText(meta).view(), meta.Key());
  }
}

}  // namespace
}  // namespace berth::base
