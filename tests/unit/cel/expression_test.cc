// SPDX-License-Identifier: Apache-2.0
#include "src/cel/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/cel/evaluate.h"

namespace berth::cel {
namespace {

using ::testing::HasSubstr;

TEST(ExpressionTest, ComputesAndCompares) {
  ExpectAll({
      {"1 + 2 * 3 == 7", "true"},
      {"(1 + 2) * 3", "9"},
      {"-7 / 2", "-3"},
      {"-7 % 3", "-1"},
      {"1u + 2u", "3"},
      {"1.5 * 2.0", "3"},
      {"'a' + 'b' == \"ab\"", "true"},
      {"b'\\xff' == b'\\377'", "true"},
      {"'\\u00e9' == 'é'", "true"},
      {"r'\\n' == '\\\\n'", "true"},
      {"1 < 2.5 && 2u < 3 && dyn(1) == 1.0 && dyn(1) == 1u", "true"},
      {"[1, 2] == [1, 2] && {'a': 1} != {'a': 2}", "true"},
      {"[1] + [2, 3] == [1, 2, 3]", "true"},
      {"2 in [1, 2] && !('c' in {'a': 1})", "true"},
      {"dyn(3) in [5.0, 3.0] && dyn(3u) in [3.0, 4.0] && dyn(3.0) in [1, 3]", "true"},
      {"true ? has(optional.of({'a': 7}).a) : false", "optional(7)"},
      {"has(optional.of({'a': 7}).a) && !has(optional.of({'a': 7}).b)", "true"},
      {"dyn(3) in [2.5, 3.5] || dyn(-1) in [1u, 2u] || dyn(2.5) in [2, 3]", "false"},
      {"true ? 1 : 2", "1"},
      {"null == null", "true"},
      {"type(1) == int && type('x') == string", "true"},
      {"--5", "5"},
      {"!true", "false"},
      {"size('héllo') == 5 && [1, 2].size() == 2", "true"},
      {"int('42') + int(1.9) + int(3u)", "46"},
      {"string(1.5) + string(true) + string(2u)", "1.5true2"},
      {"duration('90s') > duration('1m')", "true"},
      {"timestamp('2023-01-02T03:04:05Z').getDayOfWeek()", "1"},
      {"timestamp('2023-01-02T03:04:05Z') + duration('1h') == timestamp('2023-01-02T04:04:05Z')",
       "true"},
  });
}

TEST(ExpressionTest, ReportsErrorsAsCelGoDoes) {
  ExpectAll({
      {"9223372036854775807 + 1", "error: integer overflow"},
      {"0u - 1u", "error: unsigned integer overflow"},
      {"1 / (1 - 1)", "error: division by zero"},
      {"{'a': 1}['b']", "error: no such key: b"},
      {"[1, 2][2]", "error: index out of bounds: 2"},
      {"dyn('a') + 1", "error: no such overload"},
      {"dyn({}) < dyn(1)", "error: no such overload: _<_"},
      {"optional.none().value()", "error: optional.none() dereference"},
      {"dyn(semver('1.2.3')) in {'a': 1}",
       "error: internal error: runtime error: hash of unhashable type cel.Semver"},
  });
}

TEST(ExpressionTest, LogicDoesWithoutErrors) {
  ExpectAll({
      {"1 / 0 == 1 || true", "true"},
      {"true || 1 / 0 == 1", "true"},
      {"false && 1 / 0 == 1", "false"},
      {"1 / 0 == 1 && false", "false"},
      {"1 / 0 == 1 && true", "error: division by zero"},
      {"1 / 0 == 1 || 1 % 0 == 1", "error: division by zero"},
      {"(1 / 0 == 1) ? 1 : 2", "error: division by zero"},
      {"true ? 1 : 1 / 0", "1"},
      {"dyn(1) || true", "true"},
      {"dyn(1) && true", "error: no such overload"},
      {"[1, 0].exists(x, 1 / x == 1)", "true"},
      {"[0, 1].exists(x, 1 / x == 1)", "true"},
      {"[0, 2].exists(x, 1 / x == 1)", "error: division by zero"},
      {"[0, 2].all(x, 1 / x == 1)", "false"},
  });
}

TEST(ExpressionTest, MacrosLoop) {
  ExpectAll({
      {"[1, 2, 3].all(x, x > 0)", "true"},
      {"[1, 2, 3].exists_one(x, x > 2)", "true"},
      {"[1, 2, 2].existsOne(i, x, x == 2)", "false"},
      {"[1, 2, 3].map(x, x * 2)", "[2, 4, 6]"},
      {"[1, 2, 3].map(x, x > 1, x * 2)", "[4, 6]"},
      {"[1, 2, 3].filter(x, x != 2)", "[1, 3]"},
      {"[[1, 2], [3]].map(l, l.map(x, x + 1))", "[[2, 3], [4]]"},
      {"{'a': 1, 'b': 2}.exists(k, k == 'b')", "true"},
      {"[].all(x, false)", "true"},
      {"cel.bind(x, 2 + 3, x * x)", "25"},
      {"cel.bind(x, 1 / 0, true)", "true"},
      {"cel.bind(a, [1, 2], a.map(x, cel.bind(y, x + 1, y * y)))", "[4, 9]"},
      {"has({'a': 1}.a) && !has({'a': 1}.b)", "true"},
      {"{'a': {'b': 1}}.?a.b.orValue(0)", "1"},
      {"{'a': {'b': 1}}.?c.b.orValue(0)", "0"},
      {"[1][?3].hasValue()", "false"},
      {"optional.of(2).optMap(x, x + 1)", "optional(3)"},
      {"[?optional.of(1), ?optional.none(), 3]", "[1, 3]"},
  });
}

TEST(ExpressionTest, CompileErrorsHavePositions) {
  EXPECT_EQ(Evaluated("1 == x"),
            "error: compilation failed: ERROR: <input>:1:6: undeclared reference to 'x' (in "
            "container '')\n | 1 == x\n | .....^");
  EXPECT_EQ(Evaluated("1 + 'a'"),
            "error: compilation failed: ERROR: <input>:1:3: found no matching overload for '_+_' "
            "applied to '(int, string)'\n | 1 + 'a'\n | ..^");
  EXPECT_THAT(Evaluated("1 +"), HasSubstr("<input>:1:4: Syntax error: mismatched input '<EOF>'"));
  EXPECT_THAT(Evaluated("[1, 'a']"), HasSubstr("expected type 'int' but found 'string'"));
  EXPECT_THAT(Evaluated("duration('x') == duration('1s')"), HasSubstr("invalid duration argument"));
  EXPECT_THAT(Evaluated("list && true"), HasSubstr("found 'type(list(dyn))'"));
  EXPECT_THAT(Evaluated("cel.bind(.x, 1, true)"), HasSubstr("undeclared reference to '.x'"));
  EXPECT_THAT(Evaluated("{'a': 1}[dyn(duration('1s'))]"),
              HasSubstr("program instantiation failed: invalid qualifier type: types.Duration"));
  const std::string faults = Evaluated("[1].map(a.b, [2].filter(c.d, true)) == [3].all(e.f, true)");
  EXPECT_THAT(faults, HasSubstr(":1:10: argument is not an identifier"));
  EXPECT_THAT(faults, HasSubstr(":1:26: argument is not an identifier"));
  EXPECT_THAT(faults, HasSubstr(":1:49: argument must be a simple name"));
  const std::string mixed = Evaluated("[1, '%q'.format([1])].isSorted()");
  EXPECT_LT(mixed.find("expected type 'int'"), mixed.find("unrecognized formatting clause"));
  EXPECT_THAT(Evaluated("'a'.matches('(')"), HasSubstr("invalid matches argument"));
  EXPECT_EQ(Evaluated("int('x') == 1"),
            "error: program instantiation failed: type conversion error from 'string' to 'int'");
}

TEST(ExpressionTest, CountsCostsAsCelGoDoes) {
  const struct {
    const char* text;
    uint64_t cost;
  } cases[] = {
      {"1 == 1", 1},
      {"'a' in ['a', 'b']", 0},
      {"has(optional.of({'a': 1}).a)", 2},
      {"has(optional.of({'a': 1}).b)", 1},
      {"[1, 2, 3].all(x, true)", 10},
      {"[1, 2].map(x, x + 1) == [2, 3]", 30},
      {"true ? 1 : 2", 0},
      {"'abcdefghijkl'.startsWith('abcdefghijk')", 2},
      {"[1 + 1]", 11},
  };
  for (const auto& one : cases) EXPECT_EQ(CostOfText(one.text), one.cost) << one.text;
}

TEST(ExpressionTest, StopsAtTheCostLimit) {
  const auto environment = TestEnvironment();
  const auto expression = Expression::Compile("[1, 2, 3].all(x, true) || true", *environment);
  ASSERT_TRUE(expression.has_value());
  EXPECT_EQ(expression->Evaluate({}, 3).value.text(),
            "operation cancelled: actual cost limit exceeded");
  EXPECT_TRUE(expression->Evaluate({}, 100).value.IsBool(true));
}

// What the patterns of an expression take is the compiler's to say, and theirs to limit.
TEST(ExpressionTest, PatternsAreCompiledOnceAndWithinALimit) {
  const auto environment = TestEnvironment();
  const auto steps = [&](const std::string& text, uint64_t max_steps = UINT64_MAX) {
    Expression::Work work{.max_steps = max_steps};
    const auto expression = Expression::Compile(text, *environment, nullptr, &work);
    EXPECT_EQ(expression.has_value(), !work.exhausted) << text;
    return work;
  };
  const Expression::Work one = steps("'x'.matches('[a-f]{500}')");
  EXPECT_GT(one.steps, 500u * Pattern::kStepsPerInstruction);
  EXPECT_GT(one.bytes, 500u * Pattern::kBytesPerInstruction);
  std::string same = "'x'.matches('[a-f]{500}')";
  std::string others = "'x'.matches('[a-f]{500}0')";
  for (int i = 1; i < 20; ++i) {
    same += " || 'y" + std::to_string(i) + "'.matches('[a-f]{500}')";
    others += " || 'x'.matches('[a-f]{500}" + std::to_string(i) + "')";
  }
  EXPECT_LT(steps(same).steps, 2 * one.steps);
  EXPECT_GT(steps(others).steps, 19 * one.steps);
  EXPECT_LT(steps(others).steps, 21 * one.steps) << "each is compiled once";
  EXPECT_FALSE(steps(others, 30 * one.steps).exhausted);
  const Expression::Work cut = steps(others, 5 * one.steps);
  EXPECT_TRUE(cut.exhausted);
  EXPECT_LT(cut.steps, 8 * one.steps) << "what is left is not begun";
}

TEST(ExpressionTest, PatternsThatOnlyTheEvaluationKnowsAreLimitedToo) {
  const auto environment = TestEnvironment();
  std::string lists = "['a','b','c','d','e','f','g','h','i','j']";
  const auto expression = Expression::Compile(
      lists + ".map(x, " + lists + ".map(y, 'z'.matches('[^' + x + y + ']{1000}')))", *environment);
  ASSERT_TRUE(expression.has_value());
  EXPECT_EQ(expression->Evaluate({}, 1'000'000).value.text(),
            "operation cancelled: actual cost limit exceeded");
}

TEST(ExpressionTest, DeepAndLargeInputIsRefused) {
  EXPECT_THAT(Evaluated(std::string(300, '(') + "1" + std::string(300, ')')),
              HasSubstr("recursion limit exceeded"));
  std::string sum = "1";
  for (int i = 0; i < 300; ++i) sum += "+1";
  EXPECT_THAT(Evaluated(sum), HasSubstr("max recursion depth exceeded"));
  // A type that doubles with each binding, to just beyond the limit.
  std::string doubled = "a";
  for (int i = 0; i < 13; ++i) doubled = "cel.bind(a, {a: a}, " + doubled + ")";
  EXPECT_THAT(Evaluated("cel.bind(a, 1, " + doubled + ")"), HasSubstr("too large"));
  // Lists that hold each other many times: what they cost says little of the work.
  const std::string nested =
      "cel.bind(a, lists.range(300), cel.bind(b, a.map(x, a), cel.bind(c, a.map(x, b), %s)))";
  for (const char* const work :
       {"c == c", "c in [c]", "c.indexOf(b) == 1", "[c, c].distinct() == []"})
    EXPECT_THAT(Evaluated(std::string(nested).replace(nested.find("%s"), 2, work)),
                HasSubstr("limit exceeded"));
  EXPECT_THAT(Evaluated(std::string(nested).replace(nested.find("%s"), 2, "'%s'.format([c])")),
              HasSubstr("too long"));
  // A string that doubles with each binding, to 64 MiB.
  std::string text = "size(a)";
  for (int i = 0; i < 26; ++i) text = "cel.bind(a, a + a, " + text + ")";
  EXPECT_THAT(Evaluated("cel.bind(a, 'x', " + text + ")"), HasSubstr("limit exceeded"));
}

TEST(ExpressionTest, TellsWhatItReadsOfAVariable) {
  const auto environment = TestEnvironment();
  environment->AddVariable("x", "map(string, dyn)");
  environment->AddVariable("y", "string");
  using Path = std::vector<std::string>;
  const struct {
    const char* text;
    std::vector<Path> paths;
  } cases[] = {
      {"y == 'a'", {}},
      {"size(x) == 1", {{}}},
      {"x.a['b'].c == 1 && has(x.d)", {{"a", "b", "c"}, {"d"}}},
      {"x.?a[?'b'].c.orValue(1) == 1", {{"a", "b", "c"}}},
      {"x.a[y].c == 1", {{"a"}}},
      {"x.a[x.b].c == 1", {{"a"}, {"b"}}},
      {"x.a[0] == 1", {{"a"}}},
      {"x['a'].b.startsWith('c')", {{"a", "b"}}},
      {"x.a.exists(x, x.b == 1)", {{"a"}}},
      {"cel.bind(z, x, z.a == 1)", {{}}},
      {"(y == 'a' ? x : x.a).b == 1", {{}, {"a", "b"}}},
      {"{'x': x}.x.a == 1", {{}}},
  };
  for (const auto& c : cases) {
    const Result<Expression> expression = Expression::Compile(c.text, *environment);
    ASSERT_TRUE(expression) << c.text << ": " << expression.error().message;
    EXPECT_EQ(expression->PathsInto(0), c.paths) << c.text;
  }
}

}  // namespace
}  // namespace berth::cel
