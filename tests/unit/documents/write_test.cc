// SPDX-License-Identifier: Apache-2.0
#include "src/documents/write.h"

#include <gtest/gtest.h>

#include "src/documents/parse.h"

namespace berth::documents {
namespace {

using List = ConfigValue::List;
using Map = ConfigValue::Map;

ConfigValue Text(const char* text) { return ConfigValue(std::string(text)); }
ConfigValue Number(int64_t number) { return ConfigValue(number); }

ConfigValue Sample() {
  return ConfigValue(
      Map{{"b", ConfigValue(true)}, {"a", ConfigValue(List{Text("yes"), Number(-3)})}});
}

TEST(ToYamlTest, WritesBlocksWithSortedKeys) {
  const ConfigValue value(Map{
      {"b", ConfigValue(List{Number(1), ConfigValue(Map{{"y", Text("t")}, {"x", Number(2)}})})},
      {"a", ConfigValue(Map{{"nested", ConfigValue(true)}})},
      {"c", ConfigValue(Map{})},
      {"d", ConfigValue(List{})},
      {"e", ConfigValue()},
      {"f", ConfigValue(List{ConfigValue(List{Number(1), Number(2)})})},
  });
  EXPECT_EQ(ToYaml(value),
            "a:\n"
            "  nested: true\n"
            "b:\n"
            "- 1\n"
            "- x: 2\n"
            "  \"y\": t\n"
            "c: {}\n"
            "d: []\n"
            "e: null\n"
            "f:\n"
            "- - 1\n"
            "  - 2\n");
}

TEST(ToYamlTest, QuotesTextThatWouldReadBackAsSomethingElse) {
  const struct {
    const char* text;
    const char* want;
  } cases[] = {
      {"NodeName", "NodeName"},
      {"/etc/a-b_c.d", "/etc/a-b_c.d"},
      {"", "\"\""},
      {"true", "\"true\""},
      {"No", "\"No\""},
      {"y", "\"y\""},
      {"null", "\"null\""},
      {"12", "\"12\""},
      {"*", "\"*\""},
      {"a: b", "\"a: b\""},
      {"a\"b", "\"a\\\"b\""},
      {"a\nb", "\"a\\nb\""},
      {"15s", "\"15s\""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(ToYaml(Text(c.text)), std::string(c.want) + "\n");
  }
}

TEST(ToYamlTest, ReadsBackAsWhatWasWritten) {
  const auto read = ParseYaml(ToYaml(Sample()), "");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->at(0).ToJson(), R"({"a":["yes",-3],"b":true})");
}

TEST(ToIndentedJsonTest, WritesAsGoDoes) {
  const auto read =
      ParseJson(R"({"b":{},"a":["yes",-3,[]],"c":{"d\"":null,"e":[{"f":true}]}})", "");
  ASSERT_TRUE(read);
  EXPECT_EQ(
      ToIndentedJson(*read),
      "{\n  \"b\": {},\n  \"a\": [\n    \"yes\",\n    -3,\n    []\n  ],\n  \"c\": {\n"
      "    \"d\\\"\": null,\n    \"e\": [\n      {\n        \"f\": true\n      }\n    ]\n  }\n}");
  EXPECT_EQ(ToIndentedJson(ConfigValue(std::string("x"))), "\"x\"");
}

// By hand, after RFC 8949: the tag, a map of 2, "a" with an array of "yes" and -3, "b" with true.
TEST(ToCborTest, BeginsWithItsTag) {
  EXPECT_EQ(ToCbor(Sample()),
            "\xd9\xd9\xf7\xa2"
            "\x61"
            "a\x82\x63yes\x22\x61"
            "b\xf5");
}

}  // namespace
}  // namespace berth::documents
