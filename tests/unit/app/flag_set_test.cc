// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/flag_set.h"

#include <gmock/gmock.h>

namespace berth::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Values {
  std::string text = "unset";
  std::string output;
  std::optional<int32_t> number;
  std::optional<float> rate;
  std::optional<Duration> time;
  std::optional<bool> yes;
  std::optional<uint64_t> seed;
  std::vector<std::string> list;
  std::vector<std::string> others;
  std::string error;
};

Values Parse(const std::vector<std::string>& arguments) {
  Values values;
  FlagSet flags("berth test", "About.");
  flags.Value("some-text", "A text.", values.text);
  flags.Value("number", "A number.", values.number);
  flags.Value("rate", "A rate.", values.rate);
  flags.Value("time", "A time.", values.time);
  flags.Value("yes", "A switch.", values.yes);
  flags.Value("seed", "A seed.", values.seed);
  flags.Value("v", "A level.", values.number);
  flags.Value("output", "A form.", values.output);
  flags.Add("list", "x", "A list.", [&](const std::string& value) -> Result<void> {
    values.list.push_back(value);
    return {};
  });
  const auto others = flags.Parse(arguments);
  if (others) {
    values.others = *others;
  } else {
    values.error = others.error().message;
  }
  return values;
}

TEST(FlagSetTest, TellsWhatEachFlagStandsAt) {
  std::string text = "default";
  std::optional<Duration> time;
  std::optional<bool> yes;
  float rate = 50;
  std::vector<std::string> list = {"/a"};
  FlagSet flags("berth test", "About.");
  flags.Value("text", "A text.", text);
  flags.Value("time", "A time.", time, "15s");
  flags.Value("yes", "A switch.", yes);
  flags.Value("rate", "A rate.", rate);
  flags.Value("list", "A list.", list);
  flags.Add("pairs", "x", "Pairs.", [](const std::string&) { return Result<void>(); });
  using Texts = std::map<std::string, std::string>;
  EXPECT_EQ(flags.Values(), (Texts{{"text", "default"},
                                   {"time", "15s"},
                                   {"yes", ""},
                                   {"rate", "50"},
                                   {"list", "[/a]"},
                                   {"pairs", ""}}));
  ASSERT_TRUE(
      flags.Parse({"--time=90s", "--yes", "--rate=0.5", "--list=b,\"c,d\"", "--pairs=a=b"}));
  EXPECT_EQ(flags.Values(), (Texts{{"text", "default"},
                                   {"time", "1m30s"},
                                   {"yes", "true"},
                                   {"rate", "0.5"},
                                   {"list", "[b,\"c,d\"]"},
                                   {"pairs", "a=b"}}));
}

TEST(FlagSetTest, AShortFormStandsForTheFlagWhereThatWasAdded) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"-ojson"}, {"-o=json"}, {"-o", "json"}, {"--output=json"}}) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    EXPECT_EQ(Parse(arguments).output, "json");
  }
  EXPECT_EQ(Parse({"-h"}).error, "unknown shorthand flag: 'h' in -h");
  EXPECT_EQ(Parse({"-o"}).error, "flag needs an argument: 'o' in -o");
}

TEST(FlagSetTest, ReadsAValueAfterAnEqualsSignOrAsTheNextArgument) {
  const struct {
    std::vector<std::string> arguments;
    const char* want;
  } cases[] = {
      {{}, "unset"},
      {{"--some-text=a"}, "a"},
      {{"--some-text", "a"}, "a"},
      {{"--some_text=a_b"}, "a_b"},
      {{"--some_text", "a"}, "a"},
      {{"--some-text="}, ""},
      {{"--some-text", ""}, ""},
      {{"--some-text", "--yes"}, "--yes"},
      {{"--some-text", "-1"}, "-1"},
      {{"--some-text=a=b"}, "a=b"},
      {{"--some-text=a", "--some-text=b"}, "b"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::PrintToString(c.arguments));
    const Values values = Parse(c.arguments);
    EXPECT_EQ(values.error, "");
    EXPECT_EQ(values.text, c.want);
    EXPECT_THAT(values.others, ElementsAre());
  }
}

TEST(FlagSetTest, ReadsEachType) {
  const Values values = Parse({"--number=-7", "--rate=1.5", "--time=1m30s", "--yes=false", "--seed",
                               "18446744073709551615", "--list=a", "--list=b,c"});
  EXPECT_EQ(values.error, "");
  EXPECT_EQ(values.number, -7);
  EXPECT_EQ(values.rate, 1.5);
  EXPECT_EQ(values.time, std::chrono::seconds(90));
  EXPECT_EQ(values.yes, false);
  EXPECT_EQ(values.seed, UINT64_MAX);
  EXPECT_THAT(values.list, ElementsAre("a", "b,c"));
}

TEST(FlagSetTest, ASwitchTakesItsValueAfterAnEqualsSignOnly) {
  const Values values = Parse({"--yes", "false"});
  EXPECT_EQ(values.yes, true);
  EXPECT_THAT(values.others, ElementsAre("false"));
}

TEST(FlagSetTest, TheLevelHasAShortForm) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"-v4"}, {"-v=4"}, {"-v", "4"}, {"--v=4"}, {"--v", "4"}}) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const Values values = Parse(arguments);
    EXPECT_EQ(values.error, "");
    EXPECT_EQ(values.number, 4);
  }
}

TEST(FlagSetTest, WhatIsNoFlagIsHandedBack) {
  EXPECT_THAT(Parse({"a", "--yes", "-", "--", "--number"}).others,
              ElementsAre("a", "-", "--number"));
}

TEST(FlagSetTest, WordsErrorsAsKubeSchedulerDoes) {
  const struct {
    std::vector<std::string> arguments;
    const char* want;
  } cases[] = {
      {{"--foo"}, "unknown flag: --foo"},
      {{"--foo_bar=1"}, "unknown flag: --foo_bar"},
      {{"-x"}, "unknown shorthand flag: 'x' in -x"},
      {{"--some-text"}, "flag needs an argument: --some-text"},
      {{"--some_text"}, "flag needs an argument: --some_text"},
      {{"--v"}, "flag needs an argument: --v"},
      {{"-v"}, "flag needs an argument: 'v' in -v"},
      {{"--number=1.5"},
       "invalid argument \"1.5\" for \"--number\" flag: strconv.ParseInt: parsing \"1.5\": invalid "
       "syntax"},
      {{"--number=99999999999"},
       "invalid argument \"99999999999\" for \"--number\" flag: strconv.ParseInt: parsing "
       "\"99999999999\": value out of range"},
      {{"--rate=a"},
       "invalid argument \"a\" for \"--rate\" flag: strconv.ParseFloat: parsing \"a\": invalid "
       "syntax"},
      {{"--yes=maybe"},
       "invalid argument \"maybe\" for \"--yes\" flag: strconv.ParseBool: parsing \"maybe\": "
       "invalid syntax"},
      {{"--seed=-1"},
       "invalid argument \"-1\" for \"--seed\" flag: strconv.ParseUint: parsing \"-1\": invalid "
       "syntax"},
      {{"--number="},
       "invalid argument \"\" for \"--number\" flag: strconv.ParseInt: parsing \"\": invalid "
       "syntax"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::PrintToString(c.arguments));
    EXPECT_EQ(Parse(c.arguments).error, c.want);
  }
  EXPECT_THAT(Parse({"--time=5"}).error, HasSubstr("invalid argument \"5\" for \"--time\" flag: "));
}

TEST(FlagSetTest, TheUsageListsEachFlagUnderItsHeading) {
  FlagSet flags("berth test", "About.");
  std::string text;
  flags.Group("Some flags");
  flags.Value("some-text", "A text.", text);
  const std::string usage = flags.Usage();
  for (const char* part : {"berth test", "About.", "Some flags", "--some-text", "A text."}) {
    EXPECT_THAT(usage, HasSubstr(part));
  }
}

}  // namespace
}  // namespace berth::app
