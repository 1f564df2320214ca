// SPDX-License-Identifier: Apache-2.0
#include "src/base/text.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::base {
namespace {

TEST(TextTest, TrimTakesBlanksOffBothEnds) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim(" \r\n"), "");
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim(" a\n ", " "), "a\n");
}

TEST(TextTest, EscapeLeavesOnlyWhatIsUnreserved) {
  EXPECT_EQ(Escape("aZ09-_.~"), "aZ09-_.~");
  EXPECT_EQ(Escape("a/b=c d\xff"), "a%2Fb%3Dc%20d%FF");
}

TEST(TextTest, UnescapeTakesBackWhatIsEscapedAndRefusesHalfAnEscape) {
  const struct {
    const char* text;
    std::optional<std::string> path;
    std::optional<std::string> query;
  } cases[] = {
      {"", "", ""},
      {"a%2Fb%2fc", "a/b/c", "a/b/c"},
      {"a+b", "a+b", "a b"},
      {"%25", "%", "%"},
      {"%", std::nullopt, std::nullopt},
      {"a%2", std::nullopt, std::nullopt},
      {"%zz", std::nullopt, std::nullopt},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(Unescape(c.text), c.path);
    EXPECT_EQ(Unescape(c.text, Plus::kBlank), c.query);
  }
}

TEST(TextTest, ParseBoolReadsWhatGoReads) {
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"}) EXPECT_EQ(ParseBool(yes), true);
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"}) EXPECT_EQ(ParseBool(no), false);
  for (const char* neither : {"", "yes", "tRUE", " true", "2"}) {
    EXPECT_EQ(ParseBool(neither), std::nullopt) << neither;
  }
}

TEST(TextTest, AUuidSaysThatItIsRandom) {
  EXPECT_EQ(UuidText(0, 0), "00000000-0000-4000-8000-000000000000");
  EXPECT_EQ(UuidText(~uint64_t{0}, ~uint64_t{0}), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  EXPECT_EQ(UuidText(0x0123456789abcdef, 0x0123456789abcdef),
            "01234567-89ab-4def-8123-456789abcdef");
}

}  // namespace
}  // namespace berth::base
