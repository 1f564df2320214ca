// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "src/documents/parse.h"

// testdata/yaml_cases.json says what sigs.k8s.io/yaml, and so every Kubernetes tool, makes of YAML
// documents; tests/oracle/yaml_test.go holds it against that.
namespace berth::documents {
namespace {

using Json = nlohmann::json;

// Numbers beyond int64 are doubles, which JSON may write with more digits or fewer.
void MakeLargeNumbersReal(Json& json) {
  if (json.is_structured()) {
    for (Json& member : json) MakeLargeNumbersReal(member);
  } else if (json.is_number_unsigned() &&
             json.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
    json = json.get<double>();
  }
}

// What Berth reads, {"error": true} where it refuses; of several documents the first, as upstream.
Json ReadCase(const std::string& yaml) {
  const auto documents = ParseYaml(yaml, "");
  if (!documents) return {{"error", true}};
  if (documents->empty()) return {{"json", nullptr}};
  Json json = Json::parse(documents->front().ToJson(), nullptr, false);
  MakeLargeNumbersReal(json);
  return {{"json", std::move(json)}};
}

TEST(YamlCasesTest, EveryDocumentIsReadAsKubernetesReadsItButForTheKnownDifferences) {
  std::ifstream file("tests/unit/documents/testdata/yaml_cases.json");
  Json cases = Json::parse(file);
  ASSERT_GT(cases.size(), 400u);
  for (Json& want : cases) {
    const auto yaml = want["yaml"].get<std::string>();
    SCOPED_TRACE(want["yaml"].dump());
    const Json got = ReadCase(yaml);
    const bool differs = want.contains("differs");
    want.erase("yaml");
    want.erase("differs");
    MakeLargeNumbersReal(want);
    if (differs) {
      EXPECT_NE(got, want) << "no longer differs";
    } else {
      EXPECT_EQ(got, want);
    }
  }
}

}  // namespace
}  // namespace berth::documents
