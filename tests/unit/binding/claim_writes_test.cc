// SPDX-License-Identifier: Apache-2.0
#include "src/binding/claim_writes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "src/api/claim_bodies.h"
#include "src/api/decode.h"
#include "src/api/protobuf_writer.h"
#include "src/api/stored_form.h"
#include "src/base/virtual_time.h"
#include "tests/support/builders.h"
#include "tests/support/device_builders.h"
#include "tests/support/fake_api.h"

namespace berth::binding {
namespace {

using test::MakeDeviceClaim;
using Outcome = ClaimAnswer::Outcome;

// As informers keep it.
api::ResourceClaim Stored(api::ResourceClaim claim) {
  std::string message;
  api::EncodeProtobuf(claim, nullptr, message);
  claim.stored = api::StoredFormOf(api::Encoding::kProtobuf, message);
  return claim;
}

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
    writes_.AddFinalizer(Stored(MakeDeviceClaim("c").Obj()), Done());
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

TEST_F(ClaimWritesTest, AClaimIsWrittenWholeFromTheBytesItWasReadFrom) {
  api::ResourceClaim claim = Stored(MakeDeviceClaim("c").Version("7").Request("gpu", "gpus").Obj());
  claim.status =
      MakeDeviceClaim("c").Allocated("pool/1", "gpu-0").ReservedFor("p", "uid").Obj().status;
  writes_.WriteStatus(claim, Done());
  EXPECT_EQ(Sent().verb, client::Verb::kUpdate);
  EXPECT_EQ(Sent().priority, client::Priority::kBind);
  EXPECT_EQ(Sent().path, "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c/status");
  EXPECT_EQ(Sent().content_type, "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(Sent().accept, "application/vnd.kubernetes.protobuf,application/json");
  EXPECT_EQ(api::ReadTypeMeta(api::Encoding::kProtobuf, Sent().body),
            (api::TypeMeta{"resource.k8s.io/v1", "ResourceClaim"}));
  EXPECT_EQ(*api::DecodeProtobuf<api::ResourceClaim>(Sent().body), claim);
  EXPECT_FALSE(answer_);
  api_.last().Reply(200, api::EncodeJson(MakeDeviceClaim("c").Version("8").Obj()));
  executor_.RunDue();
  ASSERT_TRUE(answer_ && answer_->ok());
  EXPECT_EQ(answer_->claim->metadata.resource_version, "8");
  EXPECT_EQ(api_.size(), 1u);

  // The answer is what the next write is made from.
  writes_.AddFinalizer(*answer_->claim, Done());
  EXPECT_EQ(Sent().path, "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c");
  EXPECT_EQ(Sent().content_type, "application/json") << "as it came";
  EXPECT_THAT(Sent().body,
              testing::HasSubstr(R"("finalizers":["resource.kubernetes.io/delete-protection"])"));
}

TEST_F(ClaimWritesTest, AClaimWithoutItsBytesIsReadBeforeItIsWritten) {
  const api::ResourceClaim claim =
      MakeDeviceClaim("c").Version("7").Allocated("n1", "gpu-0").ReservedFor("p", "uid").Obj();
  api::ResourceClaim changed = claim;
  changed.status.reserved_for.push_back({"", "pods", "q", "q-uid"});
  writes_.WriteStatus(changed, Done());
  EXPECT_EQ(Sent().verb, client::Verb::kGet);
  EXPECT_EQ(Sent().path, "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c");
  api_.last().Reply(200, api::EncodeJson(claim));
  executor_.RunDue();
  EXPECT_EQ(Sent().verb, client::Verb::kUpdate);
  EXPECT_EQ(api::DecodeJson<api::ResourceClaim>(Sent().body)->status, changed.status);

  // Another version is there by now.
  writes_.WriteStatus(changed, Done());
  Sent();
  api_.last().Reply(200, api::EncodeJson(MakeDeviceClaim("c").Version("8").Obj()));
  executor_.RunDue();
  ASSERT_TRUE(answer_);
  EXPECT_EQ(answer_->outcome, Outcome::kConflict);
  EXPECT_EQ(answer_->error,
            "ResourceClaim default/c has been modified: it was of version 7, and is of 8");
  EXPECT_EQ(api_.size(), 3u);
}

TEST_F(ClaimWritesTest, AFinalizerIsSentOnlyWhereThatChangesSomething) {
  const api::ResourceClaim bare = Stored(MakeDeviceClaim("c").Obj());
  writes_.RemoveFinalizer(bare, Done());
  executor_.RunDue();
  EXPECT_EQ(api_.size(), 0u);
  ASSERT_TRUE(answer_ && answer_->ok());
  EXPECT_EQ(*answer_->claim, bare);
  api::ResourceClaim finalized = bare;
  finalized.stored = *api::WithFinalizer(bare.stored);
  answer_.reset();
  writes_.AddFinalizer(finalized, Done());
  EXPECT_FALSE(answer_) << "never inside the call";
  executor_.RunDue();
  EXPECT_EQ(api_.size(), 0u);
  ASSERT_TRUE(answer_ && answer_->ok());
  writes_.RemoveFinalizer(finalized, Done());
  EXPECT_EQ(*api::StoredFormOf(api::Encoding::kProtobuf, Sent().body).bytes, *bare.stored.bytes);
}

TEST_F(ClaimWritesTest, AReservationIsTakenOutOfAnyVersion) {
  const auto latest = [](std::string_view version) {
    return api::EncodeJson(MakeDeviceClaim("c")
                               .Version(version)
                               .Allocated("n1", "gpu-0")
                               .ReservedFor("p", "pod-uid")
                               .ReservedFor("q", "q-uid")
                               .Obj());
  };
  writes_.RemoveReservation(MakeDeviceClaim("c").Version("7").Obj(), "pod-uid", Done());
  EXPECT_EQ(Sent().verb, client::Verb::kGet);
  api_.last().Reply(200, latest("8"));
  EXPECT_EQ(Sent().path, "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c/status");
  EXPECT_EQ(Sent().verb, client::Verb::kUpdate);
  api_.last().Fail(test::Rejection(409, "changed"));
  EXPECT_EQ(Sent().verb, client::Verb::kGet);
  EXPECT_FALSE(answer_);
  api_.last().Reply(200, latest("9"));
  const auto sent = api::DecodeJson<api::ResourceClaim>(Sent().body);
  EXPECT_EQ(sent->metadata.resource_version, "9");
  ASSERT_EQ(sent->status.reserved_for.size(), 1u);
  EXPECT_EQ(sent->status.reserved_for[0].name, "q");
  EXPECT_TRUE(sent->status.allocation);
  api_.last().Reply(200, latest("10"));
  executor_.RunDue();
  ASSERT_TRUE(answer_ && answer_->ok());

  // Where there is none, nothing is written; another claim of the name is left alone.
  const size_t before = api_.size();
  writes_.RemoveReservation(MakeDeviceClaim("c").Obj(), "gone", Done());
  Sent();
  api_.last().Reply(200, latest("11"));
  executor_.RunDue();
  executor_.RunDue();
  EXPECT_TRUE(answer_->ok());
  writes_.RemoveReservation(MakeDeviceClaim("c").Uid("other").Obj(), "pod-uid", Done());
  Sent();
  api_.last().Reply(200, latest("11"));
  executor_.RunDue();
  EXPECT_EQ(answer_->outcome, Outcome::kConflict);
  EXPECT_EQ(api_.size(), before + 2);
}

TEST_F(ClaimWritesTest, AFinalizerIsTakenOutOfAnyVersion) {
  const auto version = [](std::string_view number) {
    std::string text = api::EncodeJson(MakeDeviceClaim("c").Version(number).Obj());
    constexpr std::string_view kMetadata = R"("metadata":{)";
    text.insert(text.find(kMetadata) + kMetadata.size(),
                R"("finalizers":["resource.kubernetes.io/delete-protection"],)");
    return text;
  };
  api::ResourceClaim claim = Stored(MakeDeviceClaim("c").Version("7").Obj());
  claim.stored = *api::WithFinalizer(claim.stored);
  writes_.RemoveFinalizer(claim, Done());
  for (const std::string_view now : {"8", "9"}) {
    EXPECT_EQ(Sent().verb, client::Verb::kUpdate);
    api_.last().Fail(test::Rejection(409, "changed"));
    EXPECT_EQ(Sent().verb, client::Verb::kGet);
    EXPECT_FALSE(answer_);
    api_.last().Reply(200, version(now));
  }
  EXPECT_EQ(Sent().path, "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c");
  EXPECT_EQ(api::DecodeJson<api::ResourceClaim>(Sent().body)->metadata.resource_version, "9");
  EXPECT_THAT(Sent().body, testing::Not(testing::HasSubstr("delete-protection")));
  api_.last().Reply(200, api::EncodeJson(MakeDeviceClaim("c").Version("10").Obj()));
  executor_.RunDue();
  ASSERT_TRUE(answer_ && answer_->ok());
  EXPECT_EQ(answer_->claim->metadata.resource_version, "10");
}

TEST_F(ClaimWritesTest, AReservationIsGivenUpAfterFiveConflicts) {
  writes_.RemoveReservation(MakeDeviceClaim("c").Obj(), "pod-uid", Done());
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(Sent().verb, client::Verb::kGet);
    api_.last().Reply(200, api::EncodeJson(MakeDeviceClaim("c").ReservedFor("p", "pod-uid").Obj()));
    ASSERT_EQ(Sent().verb, client::Verb::kUpdate);
    EXPECT_FALSE(answer_);
    api_.last().Fail(test::Rejection(409, "changed"));
  }
  executor_.RunDue();
  ASSERT_TRUE(answer_);
  EXPECT_EQ(answer_->outcome, Outcome::kConflict);
  EXPECT_EQ(api_.size(), 10u);
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

TEST_F(ClaimWritesTest, ThePodsStatusIsWrittenAgainWhereTheServerIsNotReady) {
  std::optional<AsyncStatus> done;
  writes_.WriteExtendedResourceClaimStatus(*test::MakePod().Name("p").Ptr(), {},
                                           [&](AsyncStatus status) { done = std::move(status); });
  EXPECT_TRUE(Sent().repeats_5xx);
  const std::string body = Sent().body;
  for (const int code : {503, 409}) {
    const size_t asked = api_.size();
    api_.last().Fail(test::Rejection(code));
    executor_.Advance(std::chrono::seconds(2));
    EXPECT_FALSE(done);
    ASSERT_EQ(api_.size(), asked + 1);
    EXPECT_EQ(Sent().body, body);
  }
  api_.last().Reply(200, "{}");
  executor_.RunDue();
  EXPECT_TRUE(done && done->ok());
}

TEST_F(ClaimWritesTest, ErrorsAreToldApartByWhatMayHaveBeenDone) {
  EXPECT_EQ(AfterError(test::Rejection(409, "changed")), Outcome::kConflict);
  EXPECT_EQ(answer_->error, "changed");
  EXPECT_EQ(AfterError(test::Rejection(404, "no such claim")), Outcome::kNotFound);
  EXPECT_EQ(AfterError(test::Rejection(422, "invalid")), Outcome::kFailed);
  EXPECT_EQ(AfterError(test::Rejection(500, "etcd")), Outcome::kUnknown);
  writes_.AddFinalizer(Stored(MakeDeviceClaim("c").Obj()), Done());
  executor_.RunDue();
  api_.last().Reply(200, "no claim");
  executor_.RunDue();
  EXPECT_EQ(answer_->outcome, Outcome::kUnknown);
}

}  // namespace
}  // namespace berth::binding
