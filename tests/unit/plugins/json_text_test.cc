// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::legacy {
namespace {

// Compact, every number as 0.
std::string Text(const Json& value) {
  std::string text;
  switch (value.type) {
    case Json::Type::kNull:
      return "null";
    case Json::Type::kBoolean:
      return "boolean";
    case Json::Type::kNumber:
      return "0";
    case Json::Type::kText:
      return value.text;
    case Json::Type::kList:
      for (const Json& item : value.items) text += (text.empty() ? "" : ",") + Text(item);
      return "[" + text + "]";
    case Json::Type::kObject:
      for (const auto& [name, member] : value.members) text += name + ":" + Text(member) + ";";
      return "{" + text + "}";
  }
  return text;
}

TEST(JsonTextTest, ReadsJsonAndNothingElse) {
  for (const char* text :
       {"", "{", "{\"a\"}", "{\"a\":}", "{,}", "[1,]", "[1 2]", "\"a", "tru", "nul", "01", "-",
        "1.", "1e", "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "1 1"}) {
    EXPECT_FALSE(ParseJson(text).has_value()) << text;
  }
  const auto value = ParseJson(
      " {\"a\" : [true, false, null, 1.5e+3, \"\\u0041\\n\\ud83d\\ude00\"],"
      "\"b\": {}, \"A\": \"last\" } ");
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(Text(*value), "{a:[boolean,boolean,null,0,A\n\xF0\x9F\x98\x80];b:{};A:last;}");
  EXPECT_EQ(value->Find("a")->text, "last");
  EXPECT_EQ(value->Find("c"), nullptr);
  EXPECT_EQ(value->Find("b")->Find("a"), nullptr);
  EXPECT_FALSE(ParseJson(std::string(1000, '[') + std::string(1000, ']')).has_value());
}

}  // namespace
}  // namespace berth::legacy
