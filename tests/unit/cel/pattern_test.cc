// SPDX-License-Identifier: Apache-2.0
#include "src/cel/pattern.h"

#include <gmock/gmock.h>

#include <string>

#include "src/cel/go_pattern.h"

namespace berth::cel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::shared_ptr<const Pattern> Compiled(const std::string& text) {
  const auto pattern = Pattern::Compile(text);
  EXPECT_TRUE(pattern.has_value()) << text << ": " << pattern.error().message;
  return pattern.value_or(nullptr);
}

std::string ErrorOf(const std::string& text) {
  const auto pattern = Pattern::Compile(text);
  return pattern ? "" : pattern.error().message;
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(PatternTest, TakesWhatGoTakesAndRe2DoesNot) {
  struct Case {
    const char* pattern;
    const char* text;
    const char* found;
  };
  constexpr Case kCases[] = {
      {"(?<vendor>[a-z]+)-(?P<model>\\w+)", "the nvidia-a100!", "nvidia-a100"},
      {"(?<n>a)|(?<n>b)", "xb", "b"},
      {"(?:(?:x{1000}){0}y){3}", "xyyy", "yyy"},
      {"\\p{Uppercase_Letter}+", "abÉCd", "ÉC"},
      {"\\p{greek}", "aβ", "β"},
      {"(?i)\\p{Lu}+", "1aB2", "aB"},
      {"(?i)[^\\P{Lu}]+", "1aB2", "aB"},
      {"(?i)\\P{L}", "\u0345", ""},
      {"(?i)\\P{LC}", "\u0345", "\u0345"},
      {"(?i)straße", "xSTRAßE", "STRAßE"},
      {"(?i)k", "\u212A", "\u212A"},
      {"a*\\Q\\E*", "aa", "aa"},
      {"\\Qa.b\\E+", "a.bb", "a.bb"},
      {"(?U)a+", "aaa", "a"},
      {"(?m)^b$", "a\nb", "b"},
      {"(?s)a.b", "a\nb", "a\nb"},
      {"[[:^alpha:]\\d]+", "ab-1", "-1"},
      {"\\pL{1000}", "short", ""},
  };
  for (const Case& one : kCases)
    EXPECT_EQ(Compiled(one.pattern)->Find(one.text), one.found) << one.pattern;
}

TEST(PatternTest, ErrorsAreGos) {
  const auto error = [](const std::string& rest) { return "error parsing regexp: " + rest; };
  EXPECT_EQ(ErrorOf("\\C"), error("invalid escape sequence: `\\C`"));
  EXPECT_EQ(ErrorOf("(?<a-b>x)"), error("invalid named capture: `(?<a-b>`"));
  EXPECT_EQ(ErrorOf("(?=x)"), error("invalid or unsupported Perl syntax: `(?=`"));
  EXPECT_EQ(ErrorOf("a**b"), error("invalid nested repetition operator: `**`"));
  EXPECT_EQ(ErrorOf("a|*"), error("missing argument to repetition operator: `*`"));
  EXPECT_EQ(ErrorOf("x{2}{1001}"), error("invalid repeat count: `{1001}`"));
  EXPECT_EQ(ErrorOf("(x{100}){11}"), error("invalid repeat count: `{11}`"));
  EXPECT_EQ(ErrorOf("((x{1000}){0,}){2}"), error("invalid repeat count: `{2}`"));
  EXPECT_EQ(ErrorOf("((x{1000}){0,0}){2}"), "");
  EXPECT_EQ(ErrorOf("\\p{Nope}x"), error("invalid character class range: `\\p{Nope}`"));
  EXPECT_EQ(ErrorOf("x[a"), error("missing closing ]: `[a`"));
  EXPECT_EQ(ErrorOf("(a"), error("missing closing ): `(a`"));
  EXPECT_EQ(ErrorOf("a)"), error("unexpected ): `a)`"));
  EXPECT_EQ(ErrorOf("a\\"), error("trailing backslash at end of expression: ``"));
  EXPECT_EQ(ErrorOf("a\xFF"), error("invalid UTF-8: `\xFF`"));
  EXPECT_THAT(ErrorOf(Repeated("(", 1001) + Repeated(")", 1001)), HasSubstr("nests too deeply"));
}

TEST(PatternTest, BytesThatAreNoTextCountAsOneCharacterEach) {
  EXPECT_THAT(Compiled(".")->FindAll("a\xFF\xC3z", -1), ElementsAre("a", "\xFF", "\xC3", "z"));
  EXPECT_EQ(Compiled("\\x{FFFD}+")->Find("a\xFF\xC3z"), "\xFF\xC3");
  EXPECT_FALSE(Compiled("^\\w+$")->Matches("a\xFF"));
}

// RE2 looks between the bytes of a character, too.
TEST(PatternTest, NothingIsFoundInsideACharacter) {
  EXPECT_FALSE(Compiled("\\B")->Matches("aéa"));
  EXPECT_THAT(Compiled("\\B")->FindAll("aéa", -1), IsEmpty());
  EXPECT_THAT(Compiled("\\B")->FindAll("é世", -1), ElementsAre("", "", ""));
}

// The charge is made before RE2 begins, so it rests on what its program will be.
TEST(PatternTest, InstructionsAreKnownBeforeTheyAreMade) {
  for (const std::string& text :
       {Repeated("abcdefghij", 100), std::string("\\pL"), std::string("\\PL"),
        std::string("[a-f]{500}"), std::string(".{1000}"), std::string("\\p{Lu}{50}"),
        std::string("(?i)\\pL{20}"), std::string("\\p{Greek}{100}"), std::string("\\p{Han}{100}"),
        std::string("(?:a|bb|ccc){1000}"), std::string("(?:x?){1000}"), std::string("[^a]{100}"),
        Repeated("(?i)straße", 100), std::string("(?:(?:x{10}){10}){10}")}) {
    const auto pattern = GoPattern::Read(text);
    ASSERT_TRUE(pattern.has_value()) << text;
    const uint64_t made = Compiled(text)->instructions();
    EXPECT_GT(pattern->instructions * 10, made * 9) << text;
    EXPECT_LT(pattern->instructions, made * 3) << text;
  }
}

// What RE2 would join to one repetition of 100,000 copies is kept apart: it would take 15 s.
TEST(PatternTest, RepetitionsSideBySideStayApart) {
  for (const char* const one : {"a{0,1000}", "(a{0,1000})", "[ab]{2,90}"})
    EXPECT_THAT(GoPattern::Read(Repeated(one, 100))->re2, HasSubstr("(?:)")) << one;
  EXPECT_THAT(GoPattern::Read(Repeated("a?", 1'000))->re2, HasSubstr("a?(?:)a?"));
  EXPECT_EQ(GoPattern::Read("a?a{0,9}(b?)")->re2, "a?a{0,9}(?:b?)");
  EXPECT_EQ(Compiled(Repeated("a{0,1000}", 100))->Find("aab"), "aa");
}

// RE2 looks at all ways to a place from each place that they come from.
TEST(PatternTest, NoMoreThanSomeAlternativesThatMayEndWithNothingComeTogetherAtOnce) {
  EXPECT_THAT(GoPattern::Read(Repeated("ab?|", 1'000))->re2, HasSubstr("|ab?)()|(?:ab?|"));
  EXPECT_EQ(GoPattern::Read(Repeated("ab|", 1'000) + "b")->re2, Repeated("ab|", 1'000) + "b");
  EXPECT_EQ(GoPattern::Read("a?|b?|c")->re2, "a?|b?|c");
  EXPECT_EQ(Compiled(Repeated("ab?|", 1'000) + "xy?")->Find("xyz"), "xy");
  // The first alternative counts.
  EXPECT_EQ(Compiled(Repeated("ab?|", 500) + Repeated("abc?|", 500))->Find("abc"), "ab");
}

TEST(PatternTest, WhatTakesMoreThanIsLeftIsNotBegun) {
  uint64_t steps = 10'000'000;
  ASSERT_TRUE(Pattern::Compile("[a-f]{500}", &steps).has_value());
  const uint64_t taken = 10'000'000 - steps;
  EXPECT_GT(taken, 500 * Pattern::kStepsPerInstruction);
  EXPECT_LT(taken, 600 * Pattern::kStepsPerInstruction);
  steps = taken + 1;
  EXPECT_TRUE(Pattern::Compile("[a-f]{500}", &steps).has_value());
  EXPECT_EQ(steps, 1);
  steps = taken - 1;
  EXPECT_FALSE(Pattern::Compile("[a-f]{500}", &steps).has_value());
  EXPECT_EQ(steps, 0);
  // What is refused is refused before RE2 sees it.
  for (const std::string& large :
       {std::string("\\pL{1000}\\pL{1000}"), Repeated("\\PL", 2000), Repeated("x{1000}", 5000),
        Repeated("[\\pL\\pN]", 10'000), "(?i)[" + Repeated("\\x{42}-\\x{10FFFF}", 5'000) + "]",
        std::string(2 << 20, 'x'), Repeated("|", 1 << 20)}) {
    steps = 10'000'000;
    const auto refused = Pattern::Compile(large, &steps);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("expression too large"));
    EXPECT_GT(steps, 8'000'000) << large.substr(0, 20);
  }
}

TEST(PatternTest, MatchingTakesStepsForTheTextAndThePattern) {
  const auto pattern = Compiled(".{1000}x");
  const std::string text(10'000, 'a');
  uint64_t steps = 100'000'000;
  EXPECT_FALSE(pattern->Matches(text, &steps));
  EXPECT_LT(steps, 100'000'000 - 10'000 * 500);
  steps = 1'000;
  EXPECT_FALSE(Compiled("a")->Matches(text, &steps));
  EXPECT_EQ(steps, 0);
  // Each part that is found begins a search to the end.
  steps = 1'000'000;
  EXPECT_LT(Compiled("a(?:.*b)?")->FindAll(text, -1, &steps).size(), 200);
  EXPECT_EQ(steps, 0);
}

TEST(PatternTest, TakesNoMoreBytesThanItSays) {
  EXPECT_LT(Compiled("^a+$")->bytes(), 80'000);
  EXPECT_LT(Compiled("\\pL{1000}")->bytes(), 40'000'000);
}

}  // namespace
}  // namespace berth::cel
