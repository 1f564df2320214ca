// SPDX-License-Identifier: Apache-2.0
#include "berth/matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"
#include "tests/support/plain_snapshot.h"
#include "tests/support/random_cluster.h"

namespace berth {
namespace {

using test::MakeNode;
using test::MakePod;
using test::MakeRequirement;

api::Toleration Tol(std::string key, std::string op, std::string value, std::string effect) {
  return {std::move(key), std::move(op), std::move(value), std::move(effect), {}};
}

TEST(ToleratesTest, EffectKeyAndOperatorMustAllHold) {
  const api::Taint taint{"gpu", "a100", "NoSchedule"};
  const struct {
    const char* name;
    api::Toleration toleration;
    bool want;
  } cases[] = {
      {"all equal", Tol("gpu", "Equal", "a100", "NoSchedule"), true},
      {"no operator means Equal", Tol("gpu", "", "a100", "NoSchedule"), true},
      {"another value", Tol("gpu", "Equal", "h100", "NoSchedule"), false},
      {"Exists ignores the value", Tol("gpu", "Exists", "", "NoSchedule"), true},
      {"no effect tolerates each", Tol("gpu", "Exists", "", ""), true},
      {"another effect", Tol("gpu", "Exists", "", "NoExecute"), false},
      {"no key tolerates each", Tol("", "Exists", "", ""), true},
      {"no key with Equal compares the value", Tol("", "Equal", "a100", ""), true},
      {"no key with Equal and another value", Tol("", "Equal", "b", ""), false},
      {"another key", Tol("cpu", "Exists", "", ""), false},
      {"an unknown operator", Tol("gpu", "In", "a100", ""), false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Tolerates(c.toleration, taint, false), c.want);
  }
  const std::vector<api::Toleration> both = {cases[2].toleration, cases[0].toleration};
  EXPECT_TRUE(Tolerates(both, taint, false));
  EXPECT_FALSE(Tolerates(std::span(both).first(1), taint, false));
}

TEST(ToleratesTest, ComparisonsNeedTheGateAndCanonicalIntegers) {
  const struct {
    const char* op;
    const char* limit;
    const char* taint;
    bool want;
  } cases[] = {
      {"Gt", "5", "6", true},   {"Gt", "5", "5", false},
      {"Lt", "5", "4", true},   {"Lt", "5", "5", false},
      {"Lt", "0", "-3", true},  {"Gt", "05", "6", false},
      {"Gt", "5", "+6", false}, {"Gt", "5", "six", false},
      {"Gt", "", "6", false},   {"Lt", "5", "-0", false},
      {"Lt", "5", "", false},   {"Gt", "5", "99999999999999999999", false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.taint) + " " + c.op + " " + c.limit);
    const api::Taint taint{"k", c.taint, "NoSchedule"};
    EXPECT_EQ(Tolerates(Tol("k", c.op, c.limit, ""), taint, true), c.want);
    EXPECT_FALSE(Tolerates(Tol("k", c.op, c.limit, ""), taint, false));
  }
}

TEST(NodeSelectorTest, ExpressionsHoldByOperator) {
  const api::Node node = MakeNode("n1").Label("zone", "a").Label("cores", "8").Label("rank", "x");
  const struct {
    const char* name;
    api::NodeSelectorRequirement requirement;
    bool want;
  } cases[] = {
      {"In", MakeRequirement("zone", "In", {"b", "a"}), true},
      {"In, another value", MakeRequirement("zone", "In", {"b"}), false},
      {"In, no label", MakeRequirement("none", "In", {"a"}), false},
      {"NotIn", MakeRequirement("zone", "NotIn", {"b"}), true},
      {"NotIn, the value", MakeRequirement("zone", "NotIn", {"a"}), false},
      {"NotIn, no label", MakeRequirement("none", "NotIn", {"a"}), true},
      {"Exists", MakeRequirement("zone", "Exists"), true},
      {"Exists, no label", MakeRequirement("none", "Exists"), false},
      {"DoesNotExist", MakeRequirement("none", "DoesNotExist"), true},
      {"DoesNotExist, label", MakeRequirement("zone", "DoesNotExist"), false},
      {"Gt", MakeRequirement("cores", "Gt", {"7"}), true},
      {"Gt, equal", MakeRequirement("cores", "Gt", {"8"}), false},
      {"Lt", MakeRequirement("cores", "Lt", {"9"}), true},
      {"Lt with leading zero", MakeRequirement("cores", "Lt", {"09"}), true},
      {"Lt, no number", MakeRequirement("rank", "Lt", {"9"}), false},
      {"Gt, no label", MakeRequirement("none", "Gt", {"1"}), false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto matcher = NodeSelectorMatcher::Make({{{{c.requirement}, {}}}});
    EXPECT_THAT(matcher.errors(), testing::IsEmpty());
    EXPECT_EQ(matcher.Matches(node), c.want);
  }
}

TEST(NodeSelectorTest, TermsAreOredExpressionsAndFieldsAnded) {
  const api::Node node = MakeNode("n1").Label("zone", "a");
  const auto in_a = MakeRequirement("zone", "In", {"a"});
  const auto in_b = MakeRequirement("zone", "In", {"b"});
  const auto is_n1 = MakeRequirement("metadata.name", "In", {"n1"});
  const auto not_n1 = MakeRequirement("metadata.name", "NotIn", {"n1"});
  const auto odd_field = MakeRequirement("metadata.namespace", "In", {"n1"});
  const struct {
    const char* name;
    std::vector<api::NodeSelectorTerm> terms;
    bool want;
  } cases[] = {
      {"no term", {}, false},
      {"an empty term", {{}}, false},
      {"one of two terms", {{{in_b}, {}}, {{in_a}, {}}}, true},
      {"an empty term does not spoil the other", {{}, {{in_a}, {}}}, true},
      {"both expressions", {{{in_a, in_b}, {}}}, false},
      {"expression and field", {{{in_a}, {is_n1}}}, true},
      {"expression and not the field", {{{in_a}, {not_n1}}}, false},
      {"field only", {{{}, {is_n1}}}, true},
      {"a field nodes do not have", {{{}, {odd_field}}}, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(NodeSelectorMatcher::Make({c.terms}).Matches(node), c.want);
  }
}

TEST(NodeSelectorTest, ATermThatCannotBeParsedMatchesNothingAndSaysWhy) {
  const api::Node node = MakeNode("n1").Label("zone", "a");
  const struct {
    const char* name;
    api::NodeSelectorTerm term;
    const char* want;
  } cases[] = {
      {"operator",
       {{MakeRequirement("zone", "Near", {"a"})}, {}},
       "nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: \"Near\": supported "
       "values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\""},
      {"In without values",
       {{MakeRequirement("zone", "In")}, {}},
       "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' "
       "operators, values set can't be empty"},
      {"Exists with values",
       {{MakeRequirement("zone", "Exists", {"a"})}, {}},
       "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: [\"a\"]: values set must "
       "be empty for exists and does not exist"},
      {"Gt with two values",
       {{MakeRequirement("zone", "Gt", {"1", "2"})}, {}},
       "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: [\"1\",\"2\"]: for 'Gt', "
       "'Lt' operators, exactly one value is required"},
      {"Gt without a number",
       {{MakeRequirement("zone", "Gt", {"x"})}, {}},
       "nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' "
       "operators, the value must be an integer"},
      {"key",
       {{MakeRequirement("-zone", "Exists")}, {}},
       "nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: \"-zone\": name part must "
       "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
       "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
       "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
      {"label value",
       {{MakeRequirement("zone", "In", {"a b"})}, {}},
       "nodeSelectorTerms[0].matchExpressions[0].values[0][zone]: Invalid value: \"a b\": a valid "
       "label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "
       "must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
       "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
      {"field operator",
       {{}, {MakeRequirement("metadata.name", "Exists")}},
       "nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: \"Exists\": supported "
       "values: \"In\", \"NotIn\""},
      {"two field values",
       {{}, {MakeRequirement("metadata.name", "In", {"a", "b"})}},
       "nodeSelectorTerms[0].matchFields[0].values: Invalid value: [\"a\",\"b\"]: must have one "
       "element"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto matcher = NodeSelectorMatcher::Make({{c.term}});
    ASSERT_EQ(matcher.errors().size(), 1u);
    EXPECT_EQ(matcher.errors()[0].message, c.want);
    EXPECT_FALSE(matcher.Matches(node));
    // The other term still counts.
    const api::NodeSelectorTerm good{{MakeRequirement("zone", "Exists")}, {}};
    EXPECT_TRUE(NodeSelectorMatcher::Make({{c.term, good}}).Matches(node));
  }
}

TEST(RequiredNodeAffinityTest, SelectorAndAffinityMustBothMatch) {
  const api::Node node = MakeNode("n1").Label("zone", "a").Label("disk", "ssd");
  const auto in_a = MakeRequirement("zone", "In", {"a"});
  const struct {
    const char* name;
    api::Pod pod;
    bool empty;
    bool want;
  } cases[] = {
      {"neither", MakePod(), true, true},
      {"selector", MakePod().NodeSelector("disk", "ssd"), false, true},
      {"two pairs, one wrong", MakePod().NodeSelector("disk", "ssd").NodeSelector("zone", "b"),
       false, false},
      {"affinity", MakePod().RequireNode({in_a}), false, true},
      {"affinity, wrong selector", MakePod().RequireNode({in_a}).NodeSelector("disk", "hdd"), false,
       false},
      {"an affinity without usable terms", MakePod().RequireNode({}), false, false},
      {"preferences do not count", MakePod().PreferNode(1, {in_a}), true, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto required = RequiredNodeAffinity::Make(c.pod);
    EXPECT_EQ(required.empty(), c.empty);
    EXPECT_EQ(required.Matches(node), c.want);
  }
}

TEST(RequiredNodeAffinityTest, ByColumnEqualsNodeByNodeOnRandomClusters) {
  Random random(20260726);
  size_t kept = 0;
  size_t dropped = 0;
  for (int round = 0; round < 200; ++round) {
    test::PlainResourceNames names;
    const size_t count = 1 + random.Below(90);
    const test::PlainSnapshot snapshot(names, test::RandomNodes(random, count));
    const api::Pod pod = test::RandomPod(random, 0, count);
    const auto required = RequiredNodeAffinity::Make(pod);
    NodeSet nodes = snapshot.nodes();
    for (NodeRow row = 0; row < count; ++row) {
      if (random.Below(8) == 0) nodes.Clear(row);
    }
    NodeSet want = nodes;
    want.Filter([&](NodeRow row) { return required.Matches(snapshot.node(row)); });
    dropped += nodes.Count() - want.Count();
    kept += want.Count();
    required.FilterNodes(snapshot, nodes);
    ASSERT_EQ(nodes, want) << "round " << round;
  }
  EXPECT_GT(kept, 100u);
  EXPECT_GT(dropped, 100u);
}

}  // namespace
}  // namespace berth
