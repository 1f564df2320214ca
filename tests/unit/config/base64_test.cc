// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/escaping.h>
#include <gtest/gtest.h>

#include "src/config/schema.h"

namespace berth::config {
namespace {

TEST(Base64Test, DecodesWhatIsEncoded) {
  std::string bytes;
  for (int length = 0; length < 300; ++length) {
    SCOPED_TRACE(length);
    const auto decoded = DecodeBase64(absl::Base64Escape(bytes));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, bytes);
    bytes += static_cast<char>(length * 7);
  }
  EXPECT_EQ(*DecodeBase64("YW\r\nJj\n"), "abc");
}

TEST(Base64Test, SaysWhereBadDataIs) {
  const struct {
    const char* text;
    int at;
  } cases[] = {{"!!", 0},  {"YWJ!", 3},  {"YWJjZ", 4}, {"Y=", 1},
               {"YQ=", 3}, {"YQ==Y", 4}, {"YWI=a", 4}, {"====", 0}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto decoded = DecodeBase64(c.text);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().message, "illegal base64 data at input byte " + std::to_string(c.at));
  }
}

}  // namespace
}  // namespace berth::config
