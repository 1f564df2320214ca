// SPDX-License-Identifier: Apache-2.0
#include "src/serving/accept.h"

#include <gtest/gtest.h>

namespace berth::serving {
namespace {

std::string Text(const MediaRange& range) {
  std::string text = range.type + "/" + range.subtype;
  for (const auto& [name, value] : range.parameters) text += ";" + name + "=" + value;
  return text;
}

std::vector<std::string> Texts(std::string_view header) {
  std::vector<std::string> texts;
  for (const MediaRange& range : ParseAccept(header)) texts.push_back(Text(range));
  return texts;
}

using Expected = std::vector<std::string>;

TEST(AcceptTest, RangesComeByQualityThenByWhatTheyLeaveOpen) {
  EXPECT_EQ(Texts("*/*, text/*, text/plain;q=0.5, application/json"),
            (Expected{"application/json", "text/*", "*/*", "text/plain"}));
  EXPECT_EQ(Texts("a/b;v=1, a/b;v=2"), (Expected{"a/b;v=1", "a/b;v=2"}));
}

TEST(AcceptTest, ParametersAreKeptButForQuality) {
  EXPECT_EQ(Texts("application/json ; v=v1beta1;g=config.k8s.io; as=Flagz;q=0.9"),
            (Expected{"application/json;as=Flagz;g=config.k8s.io;v=v1beta1"}));
  EXPECT_EQ(Texts("a/b;empty=;alone"), (Expected{"a/b"}));
}

TEST(AcceptTest, WhatIsNoMediaRangeIsLeftOut) {
  EXPECT_EQ(Texts(""), Expected());
  EXPECT_EQ(Texts(",;,text,/,a/,/b,a/b/c"), Expected());
  EXPECT_EQ(Texts("*"), (Expected{"*/*"}));
  EXPECT_EQ(ParseAccept("a/b;q=many").at(0).quality, 0);
}

TEST(AcceptTest, ARangeIncludesWhatItLeavesOpen) {
  const auto includes = [](std::string_view range, std::string_view subtype) {
    return ParseAccept(range).at(0).Includes("text", subtype);
  };
  EXPECT_TRUE(includes("*/*", "plain"));
  EXPECT_TRUE(includes("text/*", "plain"));
  EXPECT_TRUE(includes("text/plain", "plain"));
  EXPECT_FALSE(includes("text/plain", "html"));
  EXPECT_FALSE(includes("image/*", "plain"));
  EXPECT_FALSE(includes("*/html", "plain"));
}

TEST(AcceptTest, GzipIsTakenWhereItIsNamedAndNotRefused) {
  EXPECT_TRUE(AcceptsGzip("gzip"));
  EXPECT_TRUE(AcceptsGzip("deflate, gzip;q=0.5"));
  EXPECT_TRUE(AcceptsGzip("*"));
  EXPECT_FALSE(AcceptsGzip(""));
  EXPECT_FALSE(AcceptsGzip("identity, br"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0"));
  EXPECT_FALSE(AcceptsGzip("gzip; q=0.0, *"));
}

}  // namespace
}  // namespace berth::serving
