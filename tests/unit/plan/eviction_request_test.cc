// SPDX-License-Identifier: Apache-2.0
#include "src/plan/eviction_request.h"

#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/builders.h"

namespace berth::plan {
namespace {

using testing::HasSubstr;
using RequestKind = RequestState::Kind;

// The fields that the API server demands: a target by name and UID, a requester with a domain that
// is not Kubernetes', and an intent.
TEST(EvictionRequestTest, NamesThePodAndWhoAsks) {
  const auto pod = test::MakePod().Name("web-0").Namespace("shop").Uid("1-2").Ptr();
  EXPECT_EQ(nlohmann::json::parse(EvictionRequestBody(*pod)), nlohmann::json::parse(R"({
    "apiVersion": "lifecycle.k8s.io/v1alpha1",
    "kind": "EvictionRequest",
    "metadata": {"namespace": "shop", "name": "berth-plan-1-2",
      "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "web-0", "uid": "1-2"}]},
    "spec": {"intent": "Eviction", "requester": "berth.dev/plan",
      "target": {"pod": {"name": "web-0", "uid": "1-2"}}}
  })"));
}

TEST(EvictionRequestTest, TheEventIsTheSameEachTime) {
  const std::string name(210, 'a');
  const auto pod = test::MakePod().Name(name).Namespace("shop").Uid("8ed74c35-2c1e-4d3c-9f").Ptr();
  const Time now{std::chrono::seconds(60)};
  const auto event = nlohmann::json::parse(EvictionEventBody(*pod, "it is to go", now));
  EXPECT_EQ(event["metadata"],
            nlohmann::json(
                {{"namespace", "shop"}, {"name", name.substr(0, 200) + ".8ed74c35-2c1e.plan"}}));
  EXPECT_EQ(event["eventTime"], "1970-01-01T00:01:00.000000Z");
  EXPECT_EQ(event["reportingController"], "berth.dev/plan");
  EXPECT_EQ(event["reason"], "EvictedByPlan");
  EXPECT_EQ(event["note"], "it is to go");
  EXPECT_EQ(event["regarding"], nlohmann::json({{"apiVersion", "v1"},
                                                {"kind", "Pod"},
                                                {"namespace", "shop"},
                                                {"name", name},
                                                {"uid", "8ed74c35-2c1e-4d3c-9f"}}));
}

TEST(EvictionRequestTest, ItsStatusSaysHowFarItIs) {
  const auto read = [](const std::string& rest) {
    return ReadEvictionRequest(R"({"kind": "EvictionRequest", "metadata": {"generation": 1}, )" +
                               rest + "}");
  };
  const auto with_condition = [&](const std::string& condition) {
    return read(R"("spec": {"intent": "Eviction"},
      "status": {"observedGeneration": 1, "conditions": [)" +
                condition + "]}");
  };
  EXPECT_EQ(read(R"("spec": {"intent": "Eviction"})")->kind, RequestKind::kUnseen);
  EXPECT_EQ(read(R"("status": {})")->kind, RequestKind::kUnseen);
  EXPECT_EQ(read(R"("status": {"observedGeneration": 1})")->kind, RequestKind::kTaken);
  EXPECT_EQ(with_condition(R"({"type": "Failed", "status": "False", "reason": "AwaitingEviction"})")
                ->kind,
            RequestKind::kTaken);
  EXPECT_EQ(with_condition(R"({"type": "TargetEvicted", "status": "True", "reason": "PodDeleted"})")
                ->kind,
            RequestKind::kTaken);
  const auto failed = with_condition(
      R"({"type": "Failed", "status": "True", "reason": "NoFurtherResponder", "message": "none"})");
  EXPECT_EQ(failed->kind, RequestKind::kFailed);
  EXPECT_EQ(failed->why, "its EvictionRequest has failed: NoFurtherResponder: none");
  const auto withdrawn = read(R"("spec": {"intent": "Withdrawn"})");
  EXPECT_EQ(withdrawn->kind, RequestKind::kFailed);
  EXPECT_THAT(withdrawn->why, HasSubstr("was withdrawn"));
  EXPECT_FALSE(ReadEvictionRequest(R"({"kind": "Status"})"));
  EXPECT_FALSE(ReadEvictionRequest("{"));
}

TEST(EvictionRequestTest, WhetherTheApiServerHasThem) {
  EXPECT_TRUE(HasEvictionRequests(
      R"({"kind": "APIResourceList", "resources": [{"name": "evictions"}, {"name": "evictionrequests"}]})"));
  EXPECT_FALSE(HasEvictionRequests(R"({"resources": [{"name": "evictions"}]})"));
  EXPECT_FALSE(HasEvictionRequests("404 page not found"));
}

}  // namespace
}  // namespace berth::plan
