// SPDX-License-Identifier: Apache-2.0
#include "src/binding/claim_writes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "src/api/decode.h"
#include "src/base/virtual_time.h"
#include "tests/support/builders.h"
#include "tests/support/device_builders.h"
#include "tests/support/fake_api.h"

namespace berth::binding {
namespace {

using test::MakeDeviceClaim;
using Outcome = ClaimAnswer::Outcome;

class ClaimWritesTest : public testing::Test {
 protected:
  ClaimDone Done() {
    return [this](ClaimAnswer answer) { answer_ = std::move(answer); };
  }
  const client::Request& Sent() {
    executor_.RunDue();
    return api_.last().request;
  }
  Outcome AfterError(client::ApiError error) {
    writes_.AddFinalizer(MakeDeviceClaim("c").Obj(), Done());
    executor_.RunDue();
    api_.last().Fail(std::move(error));
    executor_.RunDue();
    EXPECT_EQ(answer_->claim, nullptr);
    EXPECT_NE(answer_->error, "");
    return answer_->outcome;
  }

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  test::FakeApi api_{executor_};
  ClaimWrites writes_{api_};
  std::optional<ClaimAnswer> answer_;
};

TEST_F(ClaimWritesTest, TheStatusIsReplacedInThisVersionOnlyWithParametersAsTheyAre) {
  auto claim = MakeDeviceClaim("c")
                   .Version("7")
                   .Request("gpu", "gpus")
                   .Allocated("pool/1", "gpu-0")
                   .OnNode("n1")
                   .ReservedFor("p", "pod-uid");
  api::DeviceAllocationConfiguration config;
  config.source = api::kConfigFromClaim;
  config.opaque.emplace().driver = "gpu.example.com";
  config.opaque->parameters.text = R"({"share":null})";
  claim->status.allocation->devices.config.push_back(config);
  writes_.WriteStatus(std::move(claim).Obj(), Done());
  EXPECT_EQ(Sent().verb, client::Verb::kPatch);
  EXPECT_EQ(Sent().priority, client::Priority::kBind);
  EXPECT_EQ(Sent().path, "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c/status");
  EXPECT_EQ(Sent().content_type, "application/json-patch+json");
  EXPECT_EQ(
      Sent().body,
      R"([{"op":"add","path":"/metadata/uid","value":"default/c"},)"
      R"({"op":"add","path":"/metadata/resourceVersion","value":"7"},)"
      R"({"op":"add","path":"/status","value":{"allocation":{"devices":{"results":[{"request":"gpu",)"
      R"("driver":"gpu.example.com","pool":"pool/1","device":"gpu-0"}],"config":[{"source":"FromClaim",)"
      R"("opaque":{"driver":"gpu.example.com","parameters":{"share":null}}}]},)"
      R"("nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name",)"
      R"("operator":"In","values":["n1"]}]}]}},)"
      R"("reservedFor":[{"resource":"pods","name":"p","uid":"pod-uid"}]}}])");
  EXPECT_FALSE(answer_);
  api_.last().Reply(200, api::EncodeJson(MakeDeviceClaim("c").Version("8").Obj()));
  executor_.RunDue();
  ASSERT_TRUE(answer_ && answer_->ok());
  EXPECT_EQ(answer_->claim->metadata.resource_version, "8");
}

TEST_F(ClaimWritesTest, FinalizersAreAddedToAndTakenOutOfTheList) {
  writes_.AddFinalizer(MakeDeviceClaim("c").Version("7").Obj(), Done());
  EXPECT_EQ(Sent().path, "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c");
  EXPECT_EQ(Sent().content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(Sent().body, R"({"metadata":{"uid":"default/c","resourceVersion":"7",)"
                         R"("finalizers":["resource.kubernetes.io/delete-protection"]}})");
  writes_.RemoveFinalizer(MakeDeviceClaim("c").Version("7").Obj(), Done());
  EXPECT_EQ(
      Sent().body,
      R"({"metadata":{"uid":"default/c","resourceVersion":"7",)"
      R"("$deleteFromPrimitiveList/finalizers":["resource.kubernetes.io/delete-protection"]}})");
}

TEST_F(ClaimWritesTest, AReservationIsTakenOutOfAnyVersion) {
  writes_.RemoveReservation(MakeDeviceClaim("c").Version("7").Obj(), "pod-uid", Done());
  EXPECT_EQ(Sent().path, "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c/status");
  EXPECT_EQ(Sent().body, R"({"metadata":{"uid":"default/c"},)"
                         R"("status":{"reservedFor":[{"$patch":"delete","uid":"pod-uid"}]}})");
}

TEST_F(ClaimWritesTest, AClaimIsMadeUnderANameOfTheServers) {
  writes_.Create(MakeDeviceClaim("x")
                     .Owner("p", "pod-uid")
                     .Annotation(api::kExtendedResourceClaimAnnotation, "true")
                     .Request("container-0-request-0", "gpus", 2)
                     .Obj(),
                 "p-extended-resources-", Done());
  EXPECT_EQ(Sent().verb, client::Verb::kCreate);
  EXPECT_EQ(Sent().path, "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims");
  EXPECT_EQ(
      Sent().body,
      R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{)"
      R"("generateName":"p-extended-resources-","namespace":"default",)"
      R"("annotations":{"resource.kubernetes.io/extended-resource-claim":"true"},)"
      R"("ownerReferences":[{"kind":"Pod","name":"p","uid":"pod-uid","apiVersion":"v1",)"
      R"("controller":true}]},"spec":{"devices":{"requests":[{"name":"container-0-request-0",)"
      R"("exactly":{"deviceClassName":"gpus","allocationMode":"ExactCount","count":2}}]}}})");
}

TEST_F(ClaimWritesTest, ADeletionHitsThisClaimOnlyAndAnswersWithoutOne) {
  writes_.Delete(MakeDeviceClaim("c").Obj(), Done());
  EXPECT_EQ(Sent().verb, client::Verb::kDelete);
  EXPECT_THAT(Sent().body, testing::HasSubstr("default/c"));
  api_.last().Reply(200, "{}");
  executor_.RunDue();
  ASSERT_TRUE(answer_ && answer_->ok());
  EXPECT_EQ(answer_->claim, nullptr);
}

TEST_F(ClaimWritesTest, ThePodIsToldOfItsExtendedResources) {
  std::optional<AsyncStatus> done;
  writes_.WriteExtendedResourceClaimStatus(
      *test::MakePod().Name("p").Uid("pod-uid").Ptr(),
      {.request_mappings = {{"main", "example.com/gpu", "container-0-request-0"}},
       .resource_claim_name = "p-1"},
      [&](AsyncStatus status) { done = std::move(status); });
  EXPECT_EQ(Sent().path, "/api/v1/namespaces/default/pods/p/status");
  EXPECT_EQ(Sent().body,
            R"({"metadata":{"uid":"pod-uid"},"status":{"extendedResourceClaimStatus":{)"
            R"("requestMappings":[{"containerName":"main","resourceName":"example.com/gpu",)"
            R"("requestName":"container-0-request-0"}],"resourceClaimName":"p-1"}}})");
  api_.last().Fail(test::Rejection(404, "gone"));
  executor_.RunDue();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->message, "gone");
}

TEST_F(ClaimWritesTest, ErrorsAreToldApartByWhatMayHaveBeenDone) {
  EXPECT_EQ(AfterError(test::Rejection(409, "changed")), Outcome::kConflict);
  EXPECT_EQ(answer_->error, "changed");
  EXPECT_EQ(AfterError(test::Rejection(404, "no such claim")), Outcome::kNotFound);
  EXPECT_EQ(AfterError(test::Rejection(422, "invalid")), Outcome::kFailed);
  EXPECT_EQ(AfterError(test::Rejection(500, "etcd")), Outcome::kUnknown);
  writes_.AddFinalizer(MakeDeviceClaim("c").Obj(), Done());
  executor_.RunDue();
  api_.last().Reply(200, "no claim");
  executor_.RunDue();
  EXPECT_EQ(answer_->outcome, Outcome::kUnknown);
}

}  // namespace
}  // namespace berth::binding
