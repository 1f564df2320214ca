// SPDX-License-Identifier: Apache-2.0
#include "src/base/suggestion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::base {
namespace {

std::string Meant(std::string_view typed, const std::vector<std::string>& words) {
  Suggestion suggestion(typed);
  suggestion.TryAll(words);
  return suggestion.word();
}

TEST(SuggestionTest, IsTheWordWithTheFewestChanges) {
  const std::vector<std::string> words = {"run", "simulate", "explain", "why", "dump", "config"};
  EXPECT_EQ(Meant("simulat", words), "simulate");
  EXPECT_EQ(Meant("explian", words), "explain");
  EXPECT_EQ(Meant("wyh", words), "why");
  EXPECT_EQ(Meant("wy", words), "why");
  EXPECT_EQ(Meant("sim", words), "simulate");
  EXPECT_EQ(Meant("EXPLIAN", words), "explain");
  EXPECT_EQ(Meant("delete", words), "");
  EXPECT_EQ(Meant("x", words), "");
  EXPECT_EQ(Meant("", words), "");
}

TEST(SuggestionTest, OfWordsThatAreAsNearTheFirstByNameIsMeant) {
  EXPECT_EQ(Meant("cat", {"hat", "bat", "rat"}), "bat");
  EXPECT_EQ(Meant("general", {"general-pool-b", "general-pool-a"}), "general-pool-a");
}

TEST(SuggestionTest, AnotherNumberIsNotMisspelt) {
  EXPECT_EQ(Meant("n9", {"n1", "n10", "n99"}), "");
  EXPECT_EQ(Meant("ip-10-0-1-12", {"ip-10-0-2-13", "ip-10-0-1-1"}), "");
  EXPECT_EQ(Meant("shop/wbe-1", {"shop/web-0", "shop/web-1", "shop/web-11"}), "shop/web-1");
}

TEST(SuggestionTest, IsAQuestion) {
  Suggestion suggestion("wyh");
  EXPECT_EQ(suggestion.ToString(), "");
  suggestion.Try("why");
  EXPECT_EQ(suggestion.ToString(), "; did you mean why?");
}

}  // namespace
}  // namespace berth::base
