// SPDX-License-Identifier: Apache-2.0
#include "src/documents/write.h"

#include <gtest/gtest.h>

#include "src/documents/parse.h"

namespace berth::documents {
namespace {

using Map = ConfigValue::Map;

ConfigValue Sample() {
  ConfigValue::List list;
  list.emplace_back(std::string("yes"));
  list.emplace_back(int64_t{-3});
  return ConfigValue(Map{{"b", ConfigValue(true)}, {"a", ConfigValue(std::move(list))}});
}

TEST(WriteDocumentTest, YamlReadsBackAsWhatWasWritten) {
  EXPECT_EQ(ToYaml(Sample()), "a:\n- \"yes\"\n- -3\nb: true\n");
  const auto read = ParseYaml(ToYaml(Sample()), "");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->at(0).ToJson(), R"({"a":["yes",-3],"b":true})");
}

// By hand, after RFC 8949: the tag, a map of 2, "a" with an array of "yes" and -3, "b" with true.
TEST(WriteDocumentTest, CborBeginsWithItsTag) {
  EXPECT_EQ(ToCbor(Sample()),
            "\xd9\xd9\xf7\xa2"
            "\x61"
            "a\x82\x63yes\x22\x61"
            "b\xf5");
}

}  // namespace
}  // namespace berth::documents
