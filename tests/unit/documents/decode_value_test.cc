// SPDX-License-Identifier: Apache-2.0
#include "berth/api/decode_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "src/documents/parse.h"

namespace berth::documents {
namespace {

using api::DecodeValue;
using api::NodeAffinity;
using api::UnknownFields;

Result<NodeAffinity> AffinityOf(std::string_view yaml, UnknownFields unknown) {
  const auto documents = ParseYaml(yaml, "");
  EXPECT_TRUE(documents);
  return DecodeValue<NodeAffinity>(documents->at(0), "addedAffinity", unknown);
}

TEST(DecodeValueTest, ReadsPluginArgs) {
  const auto affinity = AffinityOf(R"(
requiredDuringSchedulingIgnoredDuringExecution:
  nodeSelectorTerms:
  - matchExpressions: [{key: zone, operator: In, values: [a, b]}]
)",
                                   UnknownFields::kFail);
  ASSERT_TRUE(affinity) << affinity.error().message;
  const auto& term =
      affinity->required_during_scheduling_ignored_during_execution->node_selector_terms.at(0);
  EXPECT_EQ(term.match_expressions.at(0).values, (std::vector<std::string>{"a", "b"}));
}

TEST(DecodeValueTest, NamesTheFieldBelowThePathGiven) {
  const struct {
    const char* yaml;
    const char* error;
  } cases[] = {
      {"requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: 5}]}",
       "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
       "matchFields: expected a list, got "},
      {"preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, oops: 2}]",
       "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].oops: unknown field"},
      {"required: {}", "addedAffinity.required: unknown field"},
      {"- 1", "addedAffinity: expected an object, got "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.yaml);
    const auto affinity = AffinityOf(c.yaml, UnknownFields::kFail);
    ASSERT_FALSE(affinity);
    EXPECT_THAT(affinity.error().message, testing::StartsWith(c.error));
  }
  EXPECT_TRUE(AffinityOf("required: {}", UnknownFields::kSkip));
}

}  // namespace
}  // namespace berth::documents
