// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "src/documents/parse.h"
#include "tests/unit/serving/resident_bytes.h"

namespace berth::documents {
namespace {

using testing::HasSubstr;

// A document in two spellings that mean the same: with anchors, aliases and merges, and written
// out.
class RandomDocument {
 public:
  explicit RandomDocument(uint32_t seed) : random_(seed) {}

  std::pair<std::string, std::string> Make() {
    const Spelling root = Collection(0);
    return {root.with_anchors, root.written_out};
  }

 private:
  struct Spelling {
    std::string with_anchors;
    std::string written_out;
    std::string members;  // of a map that is written out, without braces
    bool is_map = false;
  };

  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

  // Names the value in one case of two, so that it can be asked for later.
  Spelling Named(Spelling value) {
    if (Below(2) != 0) return value;
    const std::string name = "a" + std::to_string(names_++);
    value.with_anchors = "&" + name + " " + value.with_anchors;
    known_.emplace_back(name, value);
    return value;
  }

  Spelling Value(int depth) {
    const uint32_t kind = Below(6);
    if (kind == 0 && !known_.empty()) {
      const auto& [name, value] = known_[Below(static_cast<uint32_t>(known_.size()))];
      Spelling alias = value;
      alias.with_anchors = "*" + name;
      return alias;
    }
    if (kind <= 3 && depth < 6) return Collection(depth);
    const std::string scalar = std::to_string(Below(100));
    return Named({scalar, scalar, "", false});
  }

  Spelling Collection(int depth) {
    Spelling made;
    made.is_map = Below(2) == 0;
    const uint32_t size = Below(5);
    for (uint32_t i = 0; i < size; ++i) {
      const std::string separator = i == 0 ? "" : ", ";
      Spelling value = Value(depth + 1);
      made.with_anchors += separator;
      if (!made.is_map) {
        made.with_anchors += value.with_anchors;
        made.members += (made.members.empty() ? "" : ", ") + value.written_out;
        continue;
      }
      const std::string key = "k" + std::to_string(keys_++);
      // An alias may be merged twice, and then its keys stand twice.
      const bool merges = value.is_map && value.with_anchors[0] != '*' && Below(2) == 0;
      made.with_anchors += (merges ? "<<" : key) + ": " + value.with_anchors;
      const std::string members = merges ? value.members : key + ": " + value.written_out;
      if (!members.empty()) made.members += (made.members.empty() ? "" : ", ") + members;
    }
    const char* const brackets = made.is_map ? "{}" : "[]";
    made.with_anchors = brackets[0] + made.with_anchors + brackets[1];
    made.written_out = brackets[0] + made.members + brackets[1];
    return Named(std::move(made));
  }

  std::mt19937 random_;
  int names_ = 0;
  int keys_ = 0;
  std::vector<std::pair<std::string, Spelling>> known_;
};

TEST(YamlAnchorsTest, ADocumentWithAnchorsIsReadAsOneThatIsWrittenOut) {
  size_t aliases = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const auto [with_anchors, written_out] = RandomDocument(seed).Make();
    SCOPED_TRACE(with_anchors);
    aliases += with_anchors.find('*') == std::string::npos ? 0 : 1;
    const auto read = ParseYaml(with_anchors, "");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    const auto twin = ParseYaml(written_out, "");
    ASSERT_TRUE(twin.has_value()) << twin.error().message;
    ASSERT_EQ(read->size(), 1u);
    EXPECT_EQ(read->front().ToJson(), twin->front().ToJson());
  }
  EXPECT_GT(aliases, 200u);
}

TEST(YamlAnchorsTest, AnchorsWithinAnchorsCostNoMoreThanTheirContent) {
  std::string text;
  for (int i = 0; i < 450; ++i) text += "&a" + std::to_string(i) + " [";
  for (int i = 0; i < 19'000; ++i) text += "1,";
  text += std::string(450, ']');
  const size_t before = test::ResidentBytes();
  size_t held = 0;
  const auto read = ForEachYamlDocument(text, "", [&](ConfigValue&&, size_t) -> Result<void> {
    held = test::ResidentBytes();
    return {};
  });
  ASSERT_TRUE(read.has_value()) << read.error().message;
  // It was 9 KB of memory for each byte of text.
  EXPECT_LT(held, before + (size_t{48} << 20)) << text.size() << " bytes of text";
}

TEST(YamlAnchorsTest, LongTextMayNotMultiplyEither) {
  std::string text = "a: &a " + std::string(1 << 20, 'x') + "\nb: [*a";
  for (int i = 0; i < 1000; ++i) text += ",*a";
  EXPECT_THAT(ParseYaml(text + "]\n", "").error().message,
              HasSubstr("document contains excessive aliasing"));
  text = "a: &a\n  ? " + std::string(1 << 20, 'x') + "\n  : 1\nb: [*a";
  for (int i = 0; i < 1000; ++i) text += ",*a";
  EXPECT_THAT(ParseYaml(text + "]\n", "").error().message,
              HasSubstr("document contains excessive aliasing"));
}

TEST(YamlAnchorsTest, AMergeIsACopy) {
  // 300 levels, each of which takes the members over of the one inside.
  std::string text;
  for (int i = 0; i < 300; ++i) text += "{<<: ";
  text += "{";
  for (int i = 0; i < 2000; ++i) text += "k" + std::to_string(i) + ": 1, ";
  text += std::string(301, '}');
  EXPECT_THAT(ParseYaml(text, "").error().message,
              HasSubstr("document contains excessive aliasing"));
}

TEST(YamlAnchorsTest, AValueThatIsNotThereYetIsAnError) {
  for (const char* text : {"&a [1, *a]", "&a {b: [&c [*a]]}", "x: &a {<<: *a}"}) {
    const auto read = ParseYaml(text, "");
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_THAT(read.error().message, HasSubstr("anchor value contains itself"));
  }
}

}  // namespace
}  // namespace berth::documents
