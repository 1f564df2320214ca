// SPDX-License-Identifier: Apache-2.0
#include "src/base/utf8.h"

#include <gtest/gtest.h>

namespace berth::base {
namespace {

TEST(Utf8Test, BytesThatAreNoCharacterAreFoundAndReplaced) {
  const struct {
    std::string_view text;
    std::string_view readable;  // "": the text is UTF-8
  } cases[] = {
      {"", ""},
      {"plain", ""},
      {"longer than one step of eight", ""},
      {"h\xC3\xA9", ""},
      {"eight by\xE2\x82\xAC", ""},
      {"\xF0\x9F\x90\xB3 whale", ""},
      {"\xEF\xBF\xBD", ""},
      {"\xFF", "\xEF\xBF\xBD"},
      {"12345678\x80\x81z", "12345678\xEF\xBF\xBD\xEF\xBF\xBDz"},
      {"cut \xE2\x82", "cut \xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},                                  // overlong
      {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},                  // a surrogate
      {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},  // past the end
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(IsUtf8(c.text), c.readable.empty());
    EXPECT_EQ(ToUtf8(c.text), c.readable.empty() ? c.text : c.readable);
    EXPECT_TRUE(IsUtf8(ToUtf8(c.text)));
  }
}

TEST(Utf8Test, ControlCharactersAreMadeVisible) {
  EXPECT_EQ(Visible("plain \xC3\xA9 \xF0\x9F\x90\xB3"), "plain \xC3\xA9 \xF0\x9F\x90\xB3");
  EXPECT_EQ(Visible("\x1B[31mred\x7F"), "\\x1b[31mred\\x7f");
  EXPECT_EQ(Visible("a\tb\nc"), "a\\x09b\\x0ac");
  EXPECT_EQ(Visible("a\tb\nc\r", "\t\n"), "a\tb\nc\\x0d");
  EXPECT_EQ(Visible("\xC2\x9B\xC2\xA0"), "\\u009b\xC2\xA0");
  EXPECT_EQ(Visible("\x9B\xFF"), "\\x9b\\xff");
  EXPECT_EQ(Visible(std::string_view("\0", 1)), "\\x00");
}

TEST(Utf8Test, TheFrontEndsWithAWholeCharacter) {
  constexpr std::string_view kText =
      "a\xE2\x82\xAC"
      "b";
  EXPECT_EQ(Utf8Front(kText, 0), "");
  EXPECT_EQ(Utf8Front(kText, 3), "a");
  EXPECT_EQ(Utf8Front(kText, 4), "a\xE2\x82\xAC");
  EXPECT_EQ(Utf8Front(kText, 5), kText);
  EXPECT_EQ(Utf8Front(kText, 9), kText);
}

}  // namespace
}  // namespace berth::base
