// SPDX-License-Identifier: Apache-2.0
#include "src/base/json.h"

#include <gmock/gmock.h>

#include "berth/random.h"

namespace berth::base {
namespace {

std::string Json(std::string_view text) {
  std::string out;
  AppendJson(text, out);
  return out;
}

TEST(JsonTextTest, EscapesWhatJsonDemandsAndNothingElse) {
  const struct {
    std::string_view text;
    std::string_view want;
  } cases[] = {
      {"", R"("")"},
      {"plain", R"("plain")"},
      {R"(a "quoted" \ part)", R"("a \"quoted\" \\ part")"},
      {"line\nreturn\rtab\t", R"("line\nreturn\rtab\t")"},
      {std::string_view("\0\x1f", 2), R"("\u0000\u001f")"},
      {"</script>&", R"("</script>&")"},
      {"\x7f", "\"\x7f\""},
      {"gr\xC3\xBC\xC3\x9F", "\"gr\xC3\xBC\xC3\x9F\""},
      {"\xF0\x9F\x9A\xA2", "\"\xF0\x9F\x9A\xA2\""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    EXPECT_EQ(Json(c.text), c.want);
  }
}

// What is written piece by piece, in one go, and with room that must grow is one text.
TEST(JsonWriterTest, WritesWhatIsAppended) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string want;
    JsonWriter written(random.Below(64));
    for (uint64_t pieces = random.Below(6); pieces > 0; --pieces) {
      std::string text(random.Below(40), 'a');
      for (uint64_t odd = random.Below(3); odd > 0 && !text.empty(); --odd) {
        constexpr std::string_view kOdd = "\x01 \"\\\n\x7f\xC3\xBC\xff/~!#[]";
        text[random.Below(text.size())] = kOdd[random.Below(kOdd.size())];
      }
      want += ",\"x\":";
      AppendJson(text, want);
      written.Put(",\"x\":");
      written.PutString(text);
      ASSERT_EQ(written.size(), want.size()) << want;
    }
    EXPECT_EQ(written.Take(), want);
  }
}

TEST(JsonTextTest, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  const std::string replaced = "\xEF\xBF\xBD";
  const struct {
    const char* name;
    std::string_view text;
    size_t replacements;
  } cases[] = {
      {"a lone continuation byte", "\x80", 1},
      {"a character that is cut off", "\xE2\x82", 2},
      {"an overlong slash", "\xC0\xAF", 2},
      {"an overlong form of three bytes", "\xE0\x80\xAF", 3},
      {"a surrogate", "\xED\xA0\x80", 3},
      {"past the last character", "\xF4\x90\x80\x80", 4},
      {"no first byte at all", "\xFF", 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::string want = "\"a";
    for (size_t i = 0; i < c.replacements; ++i) want += replaced;
    EXPECT_EQ(Json("a" + std::string(c.text) + "b"), want + "b\"");
  }
}

TEST(JsonTextTest, NumbersAreIntegers) {
  for (const int64_t number : {int64_t{0}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    std::string out;
    AppendJson(number, out);
    EXPECT_EQ(out, std::to_string(number));
  }
}

TEST(JsonTextTest, ObjectsAndListsSeparateTheirParts) {
  std::string out;
  JsonObject object(out);
  EXPECT_TRUE(object.empty());
  object.Add("a", "x");
  object.Add("b", 2);
  object.AddNull("c");
  object.AddIfNotEmpty("d", "");
  object.Add("e", false);
  JsonList list(object.Key("f"));
  for (const uint64_t number : {uint64_t{0}, UINT64_MAX}) AppendJson(number, list.Next());
  list.Close();
  object.Close();
  EXPECT_FALSE(object.empty());
  EXPECT_EQ(out, R"({"a":"x","b":2,"c":null,"e":false,"f":[0,18446744073709551615]})");
}

}  // namespace
}  // namespace berth::base
