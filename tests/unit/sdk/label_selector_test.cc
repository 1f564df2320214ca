// SPDX-License-Identifier: Apache-2.0
#include "berth/label_selector.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/builders.h"

namespace berth {
namespace {

using Operator = LabelSelectorMatcher::Operator;
using test::MakeLabels;
using test::MakeSelector;

api::LabelSelector Expression(std::string key, std::string op, std::vector<std::string> values) {
  api::LabelSelector selector;
  selector.match_expressions = {{std::move(key), std::move(op), std::move(values)}};
  return selector;
}

LabelSelectorMatcher Made(const std::optional<api::LabelSelector>& selector) {
  const auto matcher = LabelSelectorMatcher::Make(selector);
  EXPECT_TRUE(matcher.has_value());
  return matcher.value_or(LabelSelectorMatcher());
}

TEST(LabelSelectorTest, NothingEverythingAndRequirements) {
  const api::StringMap labels = MakeLabels({{"app", "web"}, {"tier", "front"}});
  const struct {
    const char* name;
    std::optional<api::LabelSelector> selector;
    bool want;
    bool want_without_labels;
  } cases[] = {
      {"none selects nothing", std::nullopt, false, false},
      {"empty selects everything", api::LabelSelector(), true, true},
      {"a pair", MakeSelector({{"app", "web"}}), true, false},
      {"two pairs, one wrong", MakeSelector({{"app", "web"}, {"tier", "back"}}), false, false},
      {"In", Expression("app", "In", {"web", "db"}), true, false},
      {"In others", Expression("app", "In", {"queue", "db"}), false, false},
      {"NotIn", Expression("app", "NotIn", {"web"}), false, true},
      {"NotIn others", Expression("app", "NotIn", {"queue", "db"}), true, true},
      {"Exists", Expression("app", "Exists", {}), true, false},
      {"DoesNotExist", Expression("app", "DoesNotExist", {}), false, true},
      {"an empty value", Expression("app", "In", {""}), false, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Made(c.selector).Matches(labels), c.want);
    EXPECT_EQ(Made(c.selector).Matches({}), c.want_without_labels);
  }
  EXPECT_TRUE(LabelSelectorMatcher().nothing());
  EXPECT_FALSE(LabelSelectorMatcher().everything());
  EXPECT_TRUE(LabelSelectorMatcher::Everything().everything());
  EXPECT_EQ(Made(api::LabelSelector()), LabelSelectorMatcher::Everything());
}

TEST(LabelSelectorTest, ErrorsAreInKubeSchedulersWords) {
  const struct {
    const char* name;
    api::LabelSelector selector;
    const char* want;
  } cases[] = {
      {"operator of node selectors", Expression("app", "Gt", {"1"}),
       "\"Gt\" is not a valid label selector operator"},
      {"In without values", Expression("app", "In", {}),
       "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
      {"Exists with a value", Expression("app", "Exists", {"a"}),
       "values: Invalid value: [\"a\"]: values set must be empty for exists and does not exist"},
      {"bad value of a pair", MakeSelector({{"app", "a b"}}),
       "values[0][app]: Invalid value: \"a b\": a valid label must be an empty string or consist "
       "of "
       "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
       "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
       "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
      {"two problems in one requirement", Expression("app/", "In", {}),
       "[key: Invalid value: \"app/\": name part must be non-empty; name part must consist of "
       "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
       "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), values: Invalid value: null: for 'in', "
       "'notin' operators, values set can't be empty]"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto matcher = LabelSelectorMatcher::Make(c.selector);
    ASSERT_FALSE(matcher.has_value());
    EXPECT_EQ(matcher.error().message, c.want);
  }
}

TEST(LabelSelectorTest, RequirementsAreSortedAndUnique) {
  api::LabelSelector selector = MakeSelector({{"tier", "front"}});
  selector.match_expressions = {{"app", "In", {"web", "db", "web"}}, {"tier", "In", {"front"}}};
  const LabelSelectorMatcher matcher = Made(selector);
  ASSERT_EQ(matcher.requirements().size(), 2u);
  EXPECT_EQ(matcher.requirements()[0].key, "app");
  EXPECT_EQ(matcher.requirements()[0].op, Operator::kIn);
  EXPECT_EQ(matcher.requirements()[0].values, (std::vector<std::string>{"db", "web"}));
  EXPECT_EQ(matcher.requirements()[1].key, "tier");
}

TEST(LabelSelectorTest, WhatIsRequiredBesidesMustHoldToo) {
  LabelSelectorMatcher matcher = LabelSelectorMatcher::OfLabels(MakeLabels({{"app", "web"}}));
  EXPECT_EQ(matcher, Made(MakeSelector({{"app", "web"}})));
  matcher.Require("hash", "1");
  EXPECT_EQ(matcher, Made(MakeSelector({{"app", "web"}, {"hash", "1"}})));
  matcher.Require("hash", "1");
  EXPECT_EQ(matcher.requirements().size(), 2u);
  matcher.Require("app", "db");
  EXPECT_FALSE(matcher.Matches(MakeLabels({{"app", "web"}, {"hash", "1"}})));

  LabelSelectorMatcher both = Made(MakeSelector({{"app", "web"}}));
  both.Require(Made(Expression("hash", "NotIn", {"1"})));
  EXPECT_TRUE(both.Matches(MakeLabels({{"app", "web"}})));
  EXPECT_FALSE(both.Matches(MakeLabels({{"app", "web"}, {"hash", "1"}})));
  both.Require(LabelSelectorMatcher::Everything());
  EXPECT_EQ(both.requirements().size(), 2u);
  both.Require(LabelSelectorMatcher());
  EXPECT_EQ(both, LabelSelectorMatcher());

  LabelSelectorMatcher nothing;
  nothing.Require("app", "web");
  nothing.Require(LabelSelectorMatcher::Everything());
  EXPECT_EQ(nothing, LabelSelectorMatcher());
}

TEST(LabelSelectorTest, NoTwoDifferentSelectorsHaveTheSameIdentity) {
  const std::optional<api::LabelSelector> selectors[] = {
      std::nullopt,
      api::LabelSelector(),
      MakeSelector({{"a", "b"}}),
      MakeSelector({{"a", ""}}),
      MakeSelector({{"a", "b"}, {"c", "d"}}),
      Expression("a", "In", {"b", "c"}),
      Expression("a", "NotIn", {"b"}),
      Expression("a", "Exists", {}),
      Expression("a", "DoesNotExist", {}),
  };
  std::set<std::string> identities;
  for (const auto& selector : selectors) {
    std::string identity;
    Made(selector).AppendIdentity(identity);
    identities.insert(identity);
  }
  EXPECT_EQ(identities.size(), std::size(selectors));

  std::string pair;
  std::string expression;
  Made(MakeSelector({{"a", "b"}})).AppendIdentity(pair);
  Made(Expression("a", "In", {"b"})).AppendIdentity(expression);
  EXPECT_EQ(pair, expression);
}

}  // namespace
}  // namespace berth
