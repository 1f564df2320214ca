// SPDX-License-Identifier: Apache-2.0
#include "src/documents/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/documents/yaml_builder.h"

namespace berth::documents {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The documents as JSON, one a line; "null" when there is none.
std::string ToJson(std::string_view yaml) {
  const auto documents = ParseYaml(yaml, "f.yaml");
  if (!documents) return "error: " + documents.error().message;
  if (documents->empty()) return "null";
  std::string json;
  for (const ConfigValue& document : *documents)
    json += (json.empty() ? "" : "\n") + document.ToJson();
  return json;
}

TEST(ParseYamlTest, PlainScalarsMeanWhatTheyMeanToKubernetes) {
  const struct {
    const char* yaml;
    const char* json;
  } cases[] = {
      {"yes", "true"},
      {"No", "false"},
      {"y", "true"},
      {"N", "false"},
      {"on", "true"},
      {"OFF", "false"},
      {"True", "true"},
      {"tRUE", "\"tRUE\""},
      {"~", "null"},
      {"nULL", "\"nULL\""},
      {"''", "\"\""},
      {"\"yes\"", "\"yes\""},
      {"!!str yes", "\"yes\""},
      {"!!int \"5\"", "5"},
      {"!!float 5", "5"},
      {"0", "0"},
      {"-0", "0"},
      {"+5", "5"},
      {"010", "8"},
      {"0777", "511"},
      {"0o17", "15"},
      {"0x1F", "31"},
      {"0b101", "5"},
      {"-0b101", "-5"},
      {"08", "8"},
      {"09.5", "9.5"},
      {"0o8", "\"0o8\""},
      {"0x", "\"0x\""},
      {"0x_ff", "255"},
      {"1_000", "1000"},
      {"1__0", "10"},
      {"_1", "\"_1\""},
      {"1_000.5", "1000.5"},
      {"1e3", "1000"},
      {"12e03", "12000"},
      {"1.0", "1"},
      {"-1.5", "-1.5"},
      {"1.", "1"},
      {".5", "0.5"},
      {"+.5", "0.5"},
      {"1e400", "\"1e400\""},
      {"1e-400", "0"},
      {"1:30", "\"1:30\""},
      {"2001-01-01", "\"2001-01-01\""},
      {"1.2.3", "\"1.2.3\""},
      {"--1", "\"--1\""},
      {"1e", "\"1e\""},
      {"e3", "\"e3\""},
      {"+", "\"+\""},
      {".", "\".\""},
      {"=", "\"=\""},
      {"0x1p4", "\"0x1p4\""},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.yaml);
    EXPECT_EQ(ToJson(c.yaml), c.json);
  }
}

TEST(ParseYamlTest, NumbersBeyondInt64AreReal) {
  for (const char* text : {"9223372036854775808", "18446744073709551615", "-9223372036854775809",
                           "1e20", "100000000000000000000000"}) {
    SCOPED_TRACE(text);
    const auto documents = ParseYaml(text, "");
    ASSERT_TRUE(documents);
    ASSERT_NE(documents->at(0).real(), nullptr);
    EXPECT_DOUBLE_EQ(*documents->at(0).real(), std::stod(text));
  }
}

TEST(ParseYamlTest, DocumentsAreReadWhole) {
  const struct {
    const char* yaml;
    const char* json;
  } cases[] = {
      {"a: 1\nb: [x, yes, {c: null}]", R"({"a":1,"b":["x",true,{"c":null}]})"},
      {"yes: 1\n2: two\n1.5: x", R"({"true":1,"2":"two","1.5":"x"})"},
      {"'y': 1", R"({"y":1})"},
      {"s: &a {k: 1}\nt: *a", R"({"s":{"k":1},"t":{"k":1}})"},
      {"base: &b {k: 1, l: 2}\nuse:\n  <<: *b\n  m: 3",
       R"({"base":{"k":1,"l":2},"use":{"k":1,"l":2,"m":3}})"},
      {"u:\n  <<: [{a: 1}, {b: 2}]", R"({"u":{"a":1,"b":2}})"},
      {"a: '<<'", R"({"a":"<<"})"},
      {"a: !foo bar", R"({"a":"bar"})"},
      {"a: |\n  x\n  y\n", R"({"a":"x\ny\n"})"},
      {"a: >-\n  x\n  y\n", R"({"a":"x y"})"},
      {"a: 'it''s'", R"({"a":"it's"})"},
      {"- a\n- b\n", R"(["a","b"])"},
      {"a: # comment\nb: x #y", R"({"a":null,"b":"x"})"},
      {"key: [a, b, ]", R"({"key":["a","b"]})"},
      {"k: {a, b: 1}", R"({"k":{"a":null,"b":1}})"},
      {"# nothing", "null"},
      {"", "null"},
      {"---\n...\n", "null"},
      {"--- a\n---\n--- b\n", "\"a\"\n\"b\""},
      {R"({"a": {"b": [1, 2.5, "x", true, null]}})", R"({"a":{"b":[1,2.5,"x",true,null]}})"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.yaml);
    EXPECT_EQ(ToJson(c.yaml), c.json);
  }
}

TEST(ParseYamlTest, TheFirstDocumentMayBeReadAlone) {
  EXPECT_EQ(ParseFirstYaml("a: 1\n---\n@bad\n", "")->ToJson(), R"({"a":1})");
  EXPECT_TRUE(ParseFirstYaml("---\n---\na: 1\n", "")->is_null());
  EXPECT_TRUE(ParseFirstYaml("", "")->is_null());
  EXPECT_EQ(ParseFirstYaml("a: [1\n---\nb: 1\n", "f").has_value(), false);
  EXPECT_EQ(ParseFirstYaml("a: 1\na: 1\n---\nb: 1\n", "f").has_value(), false);
}

TEST(ParseYamlTest, ValuesKnowTheirLine) {
  const auto documents = ParseYaml("a: 1\nb:\n  - x\n  - y\n---\nc: 5\n", "");
  ASSERT_TRUE(documents);
  EXPECT_EQ(documents->at(0).Find("a")->line(), 1);
  EXPECT_EQ(documents->at(0).Find("b")->list()->at(1).line(), 4);
  EXPECT_EQ(documents->at(1).Find("c")->line(), 6);
}

TEST(ParseYamlTest, AKeyThatStandsTwiceIsAnErrorInKubernetesWords) {
  const struct {
    const char* yaml;
    const char* error;
  } cases[] = {
      {"a: 1\nb: 2\nparallelism: 3\nc: 1\nparallelism: 4",
       "f.yaml:5: yaml: unmarshal errors:\n  line 5: key \"parallelism\" already set in map"},
      {"a:\n  b: 1\n  b: 2\nc: 1\nc:\n  d: 1",
       "f.yaml:3: yaml: unmarshal errors:\n  line 3: key \"b\" already set in map\n"
       "  line 6: key \"c\" already set in map"},
      {"a: 1\n\"a\": 2",
       "f.yaml:2: yaml: unmarshal errors:\n  line 2: key \"a\" already set in map"},
      {"true: a\nyes: b", "f.yaml:2: yaml: unmarshal errors:\n  line 2: key "},
      {"base: &b {k: 1}\nuse:\n  <<: *b\n  k: 3",
       "f.yaml:4: yaml: unmarshal errors:\n  line 4: key \"k\" already set in map"},
      {"{a: 1, a: 2}", "f.yaml:1: yaml: unmarshal errors:\n  line 1: key \"a\" already set in map"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.yaml);
    EXPECT_THAT(ToJson(c.yaml), StartsWith(std::string("error: ") + c.error));
  }
}

// kubectl reads files so (sigs.k8s.io/yaml without Strict).
TEST(ParseYamlTest, OfAKeyThatStandsTwiceTheLastOneCountsWhereThatIsAskedFor) {
  const struct {
    const char* yaml;
    const char* json;
    std::vector<std::string> told;
  } cases[] = {
      {"a: 1\nb: 2\na: 3", R"({"b":2,"a":3})", {"3: a"}},
      {"a: {b: 1,\n b: 2}\na:\n  c: 1", R"({"a":{"c":1}})", {"2: b", "4: a"}},
      {"a: 1\na: 2\na: null", R"({"a":null})", {"2: a", "3: a"}},
      {"base: &b {k: 1, l: 2}\nuse:\n  <<: *b\n  k: 3",
       R"({"base":{"k":1,"l":2},"use":{"l":2,"k":3}})",
       {}},
      {"base: &b {k: 1}\nuse:\n  k: 3\n  <<: *b", R"({"base":{"k":1},"use":{"k":1}})", {}},
      {"use:\n  <<: [{a: 1, b: 1}, {a: 2, c: 2}]", R"({"use":{"c":2,"a":1,"b":1}})", {}},
      {"use:\n  <<: {a: 1}\n  a: 2\n  a: 3", R"({"use":{"a":3}})", {"4: a"}},
      // An anchor in what does not count is one all the same, and one behind it is not another.
      {"a: &x {k: 1}\na: 5\nb: &y [2]\nc: *x\nd: *y",
       R"({"a":5,"b":[2],"c":{"k":1},"d":[2]})",
       {"2: a"}},
      {"l: &l {a: 1, a: 2}\nm: [*l]", R"({"l":{"a":2},"m":[{"a":2}]})", {"1: a"}},
      {"a: 1\n---\na: 2\n", R"({"a":1}{"a":2})", {}},
      {"a: !!binary aGk=", R"({"a":"aGk="})", {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.yaml);
    std::vector<std::string> told;
    std::string json;
    YamlOptions options;
    options.on_repeated_key = [&](int line, std::string_view key) {
      told.push_back(std::to_string(line) + ": " + std::string(key));
    };
    const auto read = ForEachYamlDocument(
        c.yaml, "f.yaml",
        [&](ConfigValue&& document, size_t) -> Result<void> {
          json += document.ToJson();
          return {};
        },
        nullptr, options);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(json, c.json);
    EXPECT_EQ(told, c.told);
  }
}

TEST(ParseYamlTest, LinesAndNumbersAreThoseOfTheFile) {
  YamlOptions options;
  options.first_line = 11;
  options.first_document = 3;
  std::vector<size_t> numbers;
  const auto read = ForEachYamlDocument(
      "a: 1\n---\nb: 1\nc: [\n", "f.yaml",
      [&](ConfigValue&& document, size_t number) -> Result<void> {
        EXPECT_EQ(document.line(), 11);
        numbers.push_back(number);
        return {};
      },
      nullptr, options);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, StartsWith("f.yaml:15: yaml: "));
  EXPECT_EQ(numbers, std::vector<size_t>{3});
}

TEST(ParseYamlTest, BadYamlIsAnErrorWithItsLine) {
  const struct {
    const char* yaml;
    const char* error;
  } cases[] = {
      {"a: 1\nb: *a", "f.yaml:2: yaml: "},
      {"a: &a\n  b: *a", "contains itself"},
      {"a: b: c", "f.yaml:1: yaml: "},
      {"a: 1\nb: [1, 2", "f.yaml:2: yaml: "},
      {"a: 'x", "f.yaml:1: yaml: "},
      {"? [a]\n: b", "f.yaml:1: yaml: invalid map key"},
      {"? {a: 1}\n: b", "f.yaml:1: yaml: invalid map key"},
      {"~: 1", "f.yaml:1: yaml: invalid map key"},
      {"u:\n  <<: 5", "f.yaml:2: yaml: map merge requires map or sequence of maps"},
      {"u:\n  <<: [5]", "f.yaml:2: yaml: map merge requires map or sequence of maps"},
      {"a: .inf", "f.yaml:1: yaml: json: unsupported value: .inf"},
      {"!!bool 5", "cannot decode `5` as a !!bool"},
      {"a: !!binary aGk=", "!!binary is not supported"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.yaml);
    const std::string json = ToJson(c.yaml);
    EXPECT_THAT(json, StartsWith("error: "));
    EXPECT_THAT(json, HasSubstr(c.error));
  }
}

TEST(YamlBuilderTest, AParserThatDoesNotGetOnIsStopped) {
  const YamlVisitor visit = [](ConfigValue&&, size_t) -> Result<void> { return {}; };
  const YamlProgress progress;
  const YamlOptions options;
  YamlBuilder builder(visit, progress, options);
  YAML::Mark mark;
  mark.pos = 7;
  mark.line = 1;
  builder.OnDocumentStart(mark);
  builder.OnDocumentEnd();
  EXPECT_FALSE(builder.failed());
  // Nothing has been read since.
  builder.OnDocumentStart(mark);
  EXPECT_TRUE(builder.failed());
  EXPECT_EQ(builder.Finish("f.yaml").error().message,
            "f.yaml:2: yaml: did not find expected <document start>");
}

TEST(ParseYamlTest, AliasesMayNotMultiplyWithoutEnd) {
  // Ten million values; a reader without a bound comes to their end, too.
  std::string yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 7; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    yaml += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 0; j < 9; ++j) yaml += ", " + last;
    yaml += "]\n";
  }
  EXPECT_THAT(ToJson(yaml), HasSubstr("document contains excessive aliasing"));
}

TEST(ParseYamlTest, DeepNestingIsAnErrorAndNoCrash) {
  EXPECT_THAT(ToJson(std::string(2'000, '[')), StartsWith("error: "));
  EXPECT_THAT(ToJson(std::string(2'000, '-')), Not(HasSubstr("error: ")));
}

TEST(ParseJsonTest, ReadsEveryType) {
  const auto value = ParseJson(R"({"a":[1,-2.5,"é\n",true,null],"b":{}})", "f.json");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(value->ToJson(), R"({"a":[1,-2.5,"é\n",true,null],"b":{}})");
}

TEST(ParseJsonTest, BadJsonIsAnErrorWithItsPlace) {
  const struct {
    const char* json;
    const char* error;
  } cases[] = {
      {"{\"a\":1,\n\"b\":}", "f.json: line 2, column 5: "},
      {"", "f.json: line 1, column 1: "},
      {"{} x", "f.json: line 1, column 4: "},
      {"{\"a\":1,\"a\":2}", "f.json: duplicate field \"a\""},
      {"\"\xff\"", "f.json: line 1"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.json);
    const auto value = ParseJson(c.json, "f.json");
    ASSERT_FALSE(value);
    EXPECT_THAT(value.error().message, StartsWith(c.error));
  }
  EXPECT_FALSE(ParseJson(std::string(2'000, '['), ""));
}

}  // namespace
}  // namespace berth::documents
