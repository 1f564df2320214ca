// SPDX-License-Identifier: Apache-2.0
#include "src/app/commands/terminal.h"

#include <gmock/gmock.h>

namespace berth::app {
namespace {

TEST(FittedTest, TextGoesOnBelowItsBeginningAndTablesAreCut) {
  const std::string text =
      "shop/web: unschedulable\n"
      "  0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient cpu.\n"
      "  NODES  PLUGIN            REASONS           EXAMPLES\n"
      "      3  NodeResourcesFit  Insufficient cpu  n1, n2, n3\n"
      "\n";
  EXPECT_EQ(Fitted(text, 44),
            "shop/web: unschedulable\n"
            "  0/4 nodes are available: 1 node(s) had\n"
            "  untolerated taint(s), 3 Insufficient cpu.\n"
            "  NODES  PLUGIN            REASONS...\n"
            "      3  NodeResourcesFit  Insufficient c...\n"
            "\n");
  EXPECT_EQ(Fitted(text, 0), text);
  EXPECT_EQ(Fitted(text, 200), text);
}

TEST(FittedTest, WordsLongerThanALineStayWhole) {
  const std::string word(60, 'x');
  EXPECT_EQ(Fitted("  " + word + " and more\n", 40), "  " + word + "\n  and more\n");
  EXPECT_EQ(Fitted(word, 40), word);
}

TEST(FittedTest, ACharacterOfSeveralBytesIsOneColumnAndStaysWhole) {
  std::string umlauts;
  for (int i = 0; i < 40; ++i) umlauts += "\xc3\xa4";
  EXPECT_EQ(Fitted(umlauts, 40), umlauts);
  EXPECT_EQ(Fitted("a  " + umlauts, 40), "a  " + umlauts.substr(0, 68) + "...");
}

TEST(FittedTest, WhatAFlagMeansGoesOnBelowItsFirstWord) {
  EXPECT_EQ(FittedHelp("  --fix          Also tells the smallest changes that would help.\n"
                       "                 Of long flags alone, the text is here and goes on.\n",
                       50),
            "  --fix          Also tells the smallest changes\n"
            "                 that would help.\n"
            "                 Of long flags alone, the text is\n"
            "                 here and goes on.\n");
}

TEST(FittedTest, NoLineIsLongerThanTheTerminalWhereWordsAllowIt) {
  const std::string help =
      "  --feature-gates [kube:]name=bool,...\n"
      "                              Feature gates; may be repeated, and each has a name.\n"
      "  --a-flag-with-a-long-name-and-a-meaning  The meaning of it is told here at length.\n";
  for (size_t width = 40; width < 100; ++width) {
    const std::string fitted = FittedHelp(help, width);
    for (size_t at = 0; at < fitted.size();) {
      const size_t end = fitted.find('\n', at);
      EXPECT_LE(end - at, std::max<size_t>(width, 42)) << width << ": " << fitted;
      at = end + 1;
    }
  }
}

}  // namespace
}  // namespace berth::app
