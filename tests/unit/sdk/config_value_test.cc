// SPDX-License-Identifier: Apache-2.0
#include "berth/config_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/field_errors.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

using List = ConfigValue::List;
using Map = ConfigValue::Map;

ConfigValue Text(const char* text) { return ConfigValue(std::string(text)); }
ConfigValue Number(int64_t number) { return ConfigValue(number); }

TEST(ConfigValueTest, PrintsAsJsonAndNamesItsType) {
  const ConfigValue value(Map{{"a", ConfigValue(List{Number(1), ConfigValue(1.5), ConfigValue(true),
                                                     ConfigValue(), Text("x\"\n")})},
                              {"b", ConfigValue(Map{})},
                              {"c", ConfigValue(List{})}});
  EXPECT_EQ(value.ToJson(), R"({"a":[1,1.5,true,null,"x\"\n"],"b":{},"c":[]})");
  EXPECT_EQ(value.TypeName(), "a map");
  EXPECT_EQ(value.Find("b")->TypeName(), "a map");
  EXPECT_EQ(value.Find("none"), nullptr);
}

TEST(FieldReaderTest, ReadsFieldsAndLeavesAbsentAndNullOnesAlone) {
  const ConfigValue value(Map{{"flag", ConfigValue(true)},
                              {"small", Number(7)},
                              {"whole", ConfigValue(1e3)},
                              {"ratio", Number(2)},
                              {"text", Text("t")},
                              {"names", ConfigValue(List{Text("a"), Text("b")})},
                              {"wait", Text("1m30s")},
                              {"none", ConfigValue()}});
  FieldReader fields(value, "");
  bool flag = false;
  int32_t small = 0;
  int64_t whole = 0;
  double ratio = 0;
  std::string text;
  std::vector<std::string> names;
  Duration wait{};
  int32_t kept = 42;
  EXPECT_TRUE(fields.Read("flag", flag));
  EXPECT_TRUE(fields.Read("small", small));
  EXPECT_TRUE(fields.Read("whole", whole));
  EXPECT_TRUE(fields.Read("ratio", ratio));
  EXPECT_TRUE(fields.Read("text", text));
  EXPECT_TRUE(fields.Read("names", names));
  EXPECT_TRUE(fields.Read("wait", wait));
  EXPECT_FALSE(fields.Read("none", kept));
  EXPECT_FALSE(fields.Read("absent", kept));
  EXPECT_EQ(fields.Finish(), std::nullopt);
  EXPECT_TRUE(flag);
  EXPECT_EQ(small, 7);
  EXPECT_EQ(whole, 1000);
  EXPECT_EQ(ratio, 2);
  EXPECT_EQ(text, "t");
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(wait, 90s);
  EXPECT_EQ(kept, 42);
}

TEST(FieldReaderTest, NullInAListOfTextsIsAnEmptyOne) {
  const ConfigValue value(Map{{"names", ConfigValue(List{Text("a"), ConfigValue()})}});
  FieldReader fields(value, "");
  std::vector<std::string> names;
  EXPECT_TRUE(fields.Read("names", names));
  EXPECT_FALSE(fields.Finish().has_value());
  EXPECT_EQ(names, (std::vector<std::string>{"a", ""}));
}

TEST(FieldReaderTest, CollectsEveryProblemWithItsPath) {
  const ConfigValue value(Map{{"weight", Text("heavy")},
                              {"big", Number(int64_t{1} << 40)},
                              {"part", ConfigValue(1.5)},
                              {"names", ConfigValue(List{Text("a"), Number(1)})},
                              {"wait", Text("soon")},
                              {"zebra", Number(1)},
                              {"ape", Number(1)}});
  FieldReader fields(value, "profiles[0]");
  int32_t number = 3;
  int64_t whole = 3;
  std::vector<std::string> names;
  Duration wait{};
  EXPECT_FALSE(fields.Read("weight", number));
  EXPECT_FALSE(fields.Read("big", number));
  EXPECT_FALSE(fields.Read("part", whole));
  EXPECT_FALSE(fields.Read("names", names));
  EXPECT_FALSE(fields.Read("wait", wait));
  fields.Invalid("limit", "101", "not in valid range [0, 100]");
  const auto error = fields.Finish();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->message,
            "profiles[0].weight: Invalid value: \"heavy\": must be an integer, "
            "profiles[0].big: Invalid value: 1099511627776: must be a 32-bit integer, "
            "profiles[0].part: Invalid value: 1.5: must be an integer, "
            "profiles[0].names[1]: Invalid value: 1: must be a string, "
            "profiles[0].wait: Invalid value: \"soon\": time: invalid duration \"soon\", "
            "profiles[0].limit: Invalid value: 101: not in valid range [0, 100], "
            "unknown field \"profiles[0].ape\", unknown field \"profiles[0].zebra\"");
  EXPECT_EQ(number, 3);
}

TEST(FieldReaderTest, MergesTheProblemsOfNestedMaps) {
  const ConfigValue value(Map{{"inner", ConfigValue(Map{{"typo", Number(1)}})}});
  FieldReader fields(value, "");
  FieldReader nested(*fields.Get("inner"), fields.PathOf("inner"));
  fields.Merge(nested);
  EXPECT_EQ(fields.Finish()->message, "unknown field \"inner.typo\"");
}

TEST(FieldReaderTest, AHintIsSaidOfEachUnknownField) {
  const ConfigValue value(
      Map{{"inner", ConfigValue(Map{{"typo", Number(1)}})}, {"outer", Number(1)}});
  FieldReader fields(value, "a",
                     [](std::string_view unknown, const std::vector<std::string>& known) {
                       return "; not " + std::string(unknown) + " but " + known.back();
                     });
  FieldReader nested = fields.Nested(*fields.Get("inner"), fields.PathOf("inner"));
  int32_t number = 0;
  EXPECT_FALSE(nested.Read("type", number));
  fields.Merge(nested);
  EXPECT_EQ(fields.Finish()->message,
            "unknown field \"a.inner.typo\"; not typo but type, "
            "unknown field \"a.outer\"; not outer but inner");
}

TEST(FieldReaderTest, AValueThatIsNoMapIsAProblemAndNullIsNot) {
  const ConfigValue number = Number(1);
  FieldReader wrong(number, "args");
  EXPECT_EQ(wrong.Finish()->message, "args: Invalid value: 1: must be a map");
  const ConfigValue null;
  EXPECT_EQ(FieldReader(null, "args").Finish(), std::nullopt);
}

TEST(GoDurationTest, ParsesWhatGoParses) {
  const struct {
    const char* text;
    std::optional<Duration> want;
  } cases[] = {
      {"0", 0s},
      {"5s", 5s},
      {"-5s", -5s},
      {"+5s", 5s},
      {"1.5h", 90min},
      {"1h2m3.5s", 3723500ms},
      {"100ms", 100ms},
      {"7us", 7us},
      {"7\xC2\xB5s", 7us},
      {"3ns", 3ns},
      {".5s", 500ms},
      {"1.s", 1s},
      {"", std::nullopt},
      {"5", std::nullopt},
      {"s", std::nullopt},
      {".s", std::nullopt},
      {"1d", std::nullopt},
      {"5s ", std::nullopt},
      {"--5s", std::nullopt},
      {"9223372036854775807ns", 9223372036854775807ns},
      {"9223372036854775808ns", std::nullopt},
      {"-9223372036854775808ns", Duration::min()},
      {"3000000h", std::nullopt},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto duration = ParseGoDuration(c.text);
    ASSERT_EQ(duration.has_value(), c.want.has_value());
    if (c.want) {
      EXPECT_EQ(*duration, *c.want);
    }
  }
}

TEST(GoDurationTest, SaysWhatIsWrongAsGoDoes) {
  const struct {
    const char* text;
    const char* want;
  } cases[] = {
      {"", "time: invalid duration \"\""},
      {"foo", "time: invalid duration \"foo\""},
      {"5", "time: missing unit in duration \"5\""},
      {"1h5", "time: missing unit in duration \"1h5\""},
      {"3x", "time: unknown unit \"x\" in duration \"3x\""},
      {"-1s2d", "time: unknown unit \"d\" in duration \"-1s2d\""},
      {"9999999h", "time: invalid duration \"9999999h\""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto duration = ParseGoDuration(c.text);
    ASSERT_FALSE(duration);
    EXPECT_EQ(duration.error().message, c.want);
  }
}

TEST(GoDurationTest, PrintsWhatGoPrints) {
  const struct {
    Duration duration;
    const char* want;
  } cases[] = {
      {0s, "0s"},
      {5min, "5m0s"},
      {1500ms, "1.5s"},
      {100ms, "100ms"},
      {1500us, "1.5ms"},
      {7us, "7\xC2\xB5s"},
      {3ns, "3ns"},
      {3661s, "1h1m1s"},
      {-90s, "-1m30s"},
      {100h, "100h0m0s"},
      {1s + 1ns, "1.000000001s"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(FormatGoDuration(c.duration), c.want);
    EXPECT_EQ(ParseGoDuration(c.want).value(), c.duration);
  }
}

TEST(FieldErrorsTest, AggregatesSayEachProblemOnce) {
  EXPECT_EQ(AggregateProblems({}), std::nullopt);
  EXPECT_EQ(AggregateProblems(std::vector<std::string>{"a"})->message, "a");
  EXPECT_EQ(AggregateProblems(std::vector<std::string>{"a", "b", "a"})->message, "[a, b]");
  EXPECT_EQ(AggregateProblems(std::vector<std::string>{"a", "a"})->message, "a");
}

TEST(FieldErrorsTest, LabelKeysHaveAnOptionalSubdomain) {
  const struct {
    const char* key;
    size_t problems;
  } cases[] = {
      {"zone", 0},         {"topology.kubernetes.io/zone", 0},
      {"A_b.c-1", 0},      {"", 2},
      {"a/b/c", 1},        {"/zone", 1},
      {"Up.io/a", 1},      {"a..b/c", 1},
      {"example.com/", 2}, {"-a", 1},
      {"a-", 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.key);
    EXPECT_THAT(LabelKeyProblems(c.key), testing::SizeIs(c.problems));
  }
  EXPECT_THAT(LabelKeyProblems(std::string(63, 'a')), testing::IsEmpty());
  EXPECT_THAT(LabelKeyProblems(std::string(64, 'a')),
              testing::ElementsAre("name part must be no more than 63 bytes"));
  EXPECT_THAT(LabelValueProblems(""), testing::IsEmpty());
  EXPECT_THAT(LabelValueProblems("a b"), testing::SizeIs(1));
}

}  // namespace
}  // namespace berth
