// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "src/base/virtual_time.h"
#include "src/binding/cancel_source.h"
#include "src/binding/claim_writes.h"
#include "tests/support/fake_api.h"
#include "tests/support/volume_builders.h"

namespace berth::binding {
namespace {

using namespace berth::test;

class VolumeWritesTest : public testing::Test {
 protected:
  template <typename T>
  void Write(const T& object) {
    WriteAssumed(api_, object, cancel_, [this](AsyncStatus status) { done_ = std::move(status); });
    executor_.RunDue();
  }

  base::VirtualClock clock_;
  base::VirtualExecutor executor_{clock_};
  FakeApi api_{executor_};
  CancelSource cancel_;
  std::optional<AsyncStatus> done_;
};

TEST_F(VolumeWritesTest, AVolumeIsPatchedWithItsClaimInThisVersionOnly) {
  VolumeBuilder volume = MakeVolume("pv/1", "fast")
                             .Claim("data", "uid-data")
                             .Annotation(kBoundByControllerAnnotation, "yes");
  volume->metadata.uid = "uid-v";
  volume->spec.claim_ref->resource_version = "12";
  Write(volume.Obj());
  const client::Request& request = api_.last().request;
  EXPECT_EQ(request.verb, client::Verb::kPatch);
  EXPECT_EQ(request.priority, client::Priority::kBind);
  EXPECT_TRUE(request.repeats_5xx) << "it names the version";
  EXPECT_EQ(request.path, "/api/v1/persistentvolumes/pv%2F1");
  EXPECT_EQ(request.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(request.body,
            R"({"metadata":{"uid":"uid-v","resourceVersion":"1",)"
            R"("annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},)"
            R"("spec":{"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim",)"
            R"("namespace":"default","name":"data","uid":"uid-data","resourceVersion":"12"}}})");
  EXPECT_FALSE(done_);
  api_.last().Reply(200, "{}");
  executor_.RunDue();
  ASSERT_TRUE(done_);
  EXPECT_TRUE(done_->ok());
}

TEST_F(VolumeWritesTest, AClaimIsPatchedWithItsNode) {
  Write(MakeClaim("data", "fast").Version("7").SelectedNode("n1").Obj());
  const client::Request& request = api_.last().request;
  EXPECT_EQ(request.path, "/api/v1/namespaces/default/persistentvolumeclaims/data");
  EXPECT_EQ(request.body, R"({"metadata":{"uid":"default/data","resourceVersion":"7",)"
                          R"("annotations":{"volume.kubernetes.io/selected-node":"n1"}}})");
}

TEST_F(VolumeWritesTest, AConflictIsToldInTheServersWords) {
  Write(MakeVolume("v", "fast").Claim("data", "u").Obj());
  api_.last().Fail(Rejection(409, "Operation cannot be fulfilled on persistentvolumes \"v\""));
  executor_.RunDue();
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->code, Code::kError);
  EXPECT_EQ(done_->message, "Operation cannot be fulfilled on persistentvolumes \"v\"");
  EXPECT_EQ(api_.size(), 1u);
}

TEST_F(VolumeWritesTest, CancellingEndsTheRequest) {
  Write(MakeVolume("v", "fast").Claim("data", "u").Obj());
  cancel_.Cancel();
  executor_.RunDue();
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->code, Code::kError);
  EXPECT_TRUE(api_.last().cancelled());
}

}  // namespace
}  // namespace berth::binding
