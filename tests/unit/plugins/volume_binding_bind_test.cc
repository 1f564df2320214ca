// SPDX-License-Identifier: Apache-2.0
// VolumeBinding from Reserve to the end of PreBind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/plugins/volume_binding_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;
using testing::ElementsAre;
using testing::IsEmpty;

class VolumeBindingBindTest : public testing::Test, public VolumeBindingFixture {
 protected:
  PlainListers& shown() { return handle.plain_listers; }

  // One claim that takes volume `v`, one that a volume is made for, on node n1.
  void SetUp() override {
    shown().Set(MakeClaim("static", "local").Obj());
    shown().Set(MakeVolume("v", "local").On("n1").Obj());
    shown().Set(MakeClaim("made", "wait").Obj());
    pod_ = MakePod().Name("web").Uid("u-web").ClaimVolume("static").ClaimVolume("made");
    handle.pending_pods = {std::make_shared<const api::Pod>(pod_)};
  }
  // PreFilter and Reserve on n1.
  void Reserve() {
    ASSERT_TRUE(PreFilter(pod_, {Node("n1"), Node("n2")}).ok());
    ASSERT_EQ(Filter(0), "");
    ASSERT_EQ(Text(plugin().Reserve(state, *info, "n1")), "");
  }
  void PreBind() {
    ASSERT_TRUE(plugin().PreBindPreFlight(state, *info, "n1").ok());
    plugin().PreBind(state, *info, "n1", cancellation_,
                     [this](AsyncStatus status) { done_ = std::move(status); });
  }
  // Answers the write under way.
  void Answer(AsyncStatus status = {}) {
    const auto done = handle.writes.back().done;
    done(std::move(status));
  }
  // Both written; now the pod waits.
  void PreBindAndWrite() {
    Reserve();
    PreBind();
    Answer();
    Answer();
    ASSERT_EQ(handle.waits.size(), 1u);
  }
  // What the wait makes of what is shown now: "", "waiting" or the error.
  std::string Check() {
    const std::optional<AsyncStatus> verdict = handle.waits.back().wait.check();
    if (!verdict) return "waiting";
    EXPECT_EQ(verdict->ok(), verdict->message.empty());
    return verdict->message;
  }
  // What the API server shows once both are written, and once the PV controller and the
  // provisioner are done.
  VolumeBuilder WrittenVolume() {
    return MakeVolume("v", "local").On("n1").Version("2").Claim("static", "default/static");
  }
  ClaimBuilder WrittenClaim() { return MakeClaim("made", "wait").Version("2").SelectedNode("n1"); }
  void ShowWritten() {
    shown().Set(WrittenVolume().Obj());
    shown().Set(WrittenClaim().Obj());
  }
  void ShowBound() {
    shown().Set(WrittenVolume().Phase("Bound").Obj());
    shown().Set(MakeClaim("static", "local").Version("3").BoundTo("v").Obj());
    shown().Set(MakeVolume("pvc-1", "wait").On("n1").Claim("made", "default/made").Obj());
    shown().Set(MakeClaim("made", "wait").Version("4").SelectedNode("n1").BoundTo("pvc-1").Obj());
  }

  api::Pod pod_;
  FakeCancellation cancellation_;
  std::optional<AsyncStatus> done_;
};

TEST_F(VolumeBindingBindTest, ReserveAssumesAndUnreserveRestores) {
  Reserve();
  const api::PersistentVolume& volume = *handle.assumed.FindVolume("v");
  ASSERT_TRUE(volume.spec.claim_ref);
  EXPECT_EQ(*volume.spec.claim_ref, (api::ObjectReference{.kind = "PersistentVolumeClaim",
                                                          .namespace_ = "default",
                                                          .name = "static",
                                                          .uid = "default/static",
                                                          .api_version = "v1",
                                                          .resource_version = "1"}));
  EXPECT_EQ(volume.metadata.annotations,
            (api::StringMap{{std::string(kBoundByControllerAnnotation), "yes"}}));
  EXPECT_EQ(handle.assumed.FindClaim("default", "made")->metadata.annotations,
            (api::StringMap{{std::string(kSelectedNodeAnnotation), "n1"}}));
  EXPECT_EQ(handle.assumed.FindClaim("default", "static")->metadata.annotations, api::StringMap());

  plugin().Unreserve(state, *info, "n1");
  EXPECT_THAT(handle.assumed.volumes, IsEmpty());
  EXPECT_THAT(handle.assumed.claims, IsEmpty());
  plugin().Unreserve(state, *info, "n1");
}

TEST_F(VolumeBindingBindTest, AVolumeThatItsOwnerPromisedGetsNoAnnotation) {
  shown().Set(MakeVolume("v", "local").Claim("static").Obj());
  Reserve();
  EXPECT_EQ(handle.assumed.FindVolume("v")->spec.claim_ref->uid, "default/static");
  EXPECT_THAT(handle.assumed.FindVolume("v")->metadata.annotations, IsEmpty());
}

TEST_F(VolumeBindingBindTest, WhatIsAssumedIsGoneForTheNextPod) {
  Reserve();
  shown().Set(MakeClaim("other", "local").Obj());
  ASSERT_TRUE(PreFilter(MakePod().Name("next").ClaimVolume("other"), {Node("n1")}).ok());
  EXPECT_EQ(Filter(0), Rejected({kBindConflict}));
  // A pod that shares the claim with the selected node must go to that node.
  ASSERT_TRUE(
      PreFilter(MakePod().Name("shares").ClaimVolume("made"), {Node("n1"), Node("n2")}).ok());
  EXPECT_EQ(Filter(0), "");
  EXPECT_EQ(Filter(1), Rejected({kBindConflict}));
}

TEST_F(VolumeBindingBindTest, APodThatSharesWhatIsAssumedDoesNotRestoreIt) {
  Reserve();
  const auto* assumed = handle.assumed.FindVolume("v");
  ASSERT_TRUE(PreFilter(pod_, {Node("n1")}).ok());
  ASSERT_TRUE(plugin().Reserve(state, *info, "n1").ok());
  plugin().Unreserve(state, *info, "n1");
  EXPECT_EQ(handle.assumed.FindVolume("v"), assumed);
}

TEST_F(VolumeBindingBindTest, AReserveThatFailsLeavesNothingAssumed) {
  ASSERT_TRUE(PreFilter(pod_, {Node("n1")}).ok());
  ASSERT_EQ(Filter(0), "");
  handle.assumed.refuse_after = 1;
  EXPECT_EQ(Text(plugin().Reserve(state, *info, "n1")), "Error; out of sync");
  EXPECT_THAT(handle.assumed.volumes, IsEmpty());
  EXPECT_THAT(handle.assumed.claims, IsEmpty());
  EXPECT_EQ(handle.Metric("volume_scheduling_stage_error_total", {"assume"}), 1);
}

TEST_F(VolumeBindingBindTest, ANodeThatDoesNotDoIsNotReserved) {
  ASSERT_TRUE(PreFilter(pod_, {Node("n1"), Node("n2")}).ok());
  ASSERT_EQ(Filter(0), "");
  EXPECT_EQ(Text(plugin().Reserve(state, *info, "n2")), Rejected({kBindConflict}));
  EXPECT_THAT(handle.assumed.volumes, IsEmpty());
}

TEST_F(VolumeBindingBindTest, PreBindIsSkippedWhereAllIsBound) {
  ShowBound();
  ASSERT_TRUE(PreFilter(pod_, {Node("n1")}).ok());
  ASSERT_TRUE(plugin().Reserve(state, *info, "n1").ok());
  EXPECT_TRUE(plugin().PreBindPreFlight(state, *info, "n1").skip());
  EXPECT_TRUE(plugin().AllowParallel());

  ASSERT_TRUE(PreFilter(MakePod(), {Node("n1")}).skip());
  ASSERT_TRUE(plugin().Reserve(state, *info, "n1").ok());
  EXPECT_TRUE(plugin().PreBindPreFlight(state, *info, "n1").skip());
}

TEST_F(VolumeBindingBindTest, AProfileWithoutPreFilterBindsNothing) {
  called.pre_filter = false;
  info = Info(pod_);
  EXPECT_EQ(Text(plugin().Reserve(state, *info, "n1")), "Error; not found");
  EXPECT_EQ(Text(plugin().PreBindPreFlight(state, *info, "n1")), "Error; not found");
}

TEST_F(VolumeBindingBindTest, AProfileWithoutFilterBindsThePodWithoutItsVolumes) {
  called.filter = false;
  ASSERT_TRUE(PreFilter(pod_, {Node("n1"), Node("n2")}).ok());
  for (const char* node : {"n1", "n2"}) {
    ASSERT_TRUE(plugin().Reserve(state, *info, node).ok());
    EXPECT_THAT(handle.assumed.volumes, IsEmpty());
    EXPECT_THAT(handle.assumed.claims, IsEmpty());
    EXPECT_TRUE(plugin().PreBindPreFlight(state, *info, node).skip());
    plugin().Unreserve(state, *info, node);
  }
}

TEST_F(VolumeBindingBindTest, AProfileWithoutReserveFailsPodsWithoutClaims) {
  called.reserve = false;
  ASSERT_TRUE(PreFilter(MakePod(), {Node("n1")}).skip());
  EXPECT_EQ(Text(plugin().PreBindPreFlight(state, *info, "n1")),
            "Error; no pod volume found for node \"n1\"");
}

TEST_F(VolumeBindingBindTest, AProfileWithoutReserveWritesNothingAndTakesNoVolume) {
  called.reserve = false;
  ASSERT_TRUE(PreFilter(pod_, {Node("n1"), Node("n2")}).ok());
  ASSERT_EQ(Filter(0), "");
  PreBind();
  EXPECT_THAT(handle.writes, IsEmpty());
  EXPECT_THAT(handle.assumed.volumes, IsEmpty());
  EXPECT_THAT(handle.assumed.claims, IsEmpty());
  ASSERT_EQ(handle.waits.size(), 1u);
  EXPECT_EQ(Check(), "binding volumes: ClaimRef got reset for pv \"v\"");

  // Nothing is missing once others have bound the claims in between.
  ShowBound();
  EXPECT_EQ(Check(), "");
}

TEST_F(VolumeBindingBindTest, AProfileWithoutReserveFailsPodsThatTakeNoVolume) {
  called.reserve = false;
  for (const char* claim : {"made", "bound"}) {
    shown().Set(MakeVolume("b", "local").On("n1").Claim("bound", "default/bound").Obj());
    shown().Set(MakeClaim("bound", "local").BoundTo("b").Obj());
    const api::Pod pod = MakePod().Name("web").Uid("u-web").ClaimVolume(claim);
    ASSERT_TRUE(PreFilter(pod, {Node("n1")}).ok());
    ASSERT_EQ(Filter(0), "");
    done_.reset();
    PreBind();
    ASSERT_TRUE(done_);
    EXPECT_EQ(done_->message, "failed to get cached bindings for pod \"default/web\"");
  }
  EXPECT_THAT(handle.writes, IsEmpty());
  EXPECT_THAT(handle.waits, IsEmpty());
  handle.RunPosted();
  EXPECT_EQ(handle.Metric("volume_scheduling_stage_error_total", {"bind"}), 2);
}

TEST_F(VolumeBindingBindTest, PreBindWritesVolumesThenClaimsThenWaits) {
  args.bind_timeout = std::chrono::seconds(30);
  Reserve();
  PreBind();
  ASSERT_EQ(handle.writes.size(), 1u);
  ASSERT_NE(handle.writes[0].volume, nullptr);
  EXPECT_EQ(handle.writes[0].volume->spec.claim_ref->uid, "default/static");
  EXPECT_EQ(handle.writes[0].volume->metadata.resource_version, "1");
  Answer();
  ASSERT_EQ(handle.writes.size(), 2u);
  ASSERT_NE(handle.writes[1].claim, nullptr);
  EXPECT_EQ(handle.writes[1].claim->metadata.Key(), "default/made");
  EXPECT_THAT(handle.waits, IsEmpty());
  Answer();
  ASSERT_EQ(handle.waits.size(), 1u);
  const ObjectWait& wait = handle.waits[0].wait;
  EXPECT_EQ(wait.timeout, std::chrono::seconds(30));
  EXPECT_EQ(wait.timed_out.message, "binding volumes: context deadline exceeded");
  EXPECT_THAT(
      wait.objects,
      ElementsAre(ObjectKey{EventResource::kPersistentVolume, "v"},
                  ObjectKey{EventResource::kPersistentVolumeClaim, "default/static"},
                  ObjectKey{EventResource::kPersistentVolumeClaim, "default/made"},
                  ObjectKey{EventResource::kNode, "n1"}, ObjectKey{EventResource::kCsiNode, "n1"},
                  ObjectKey{EventResource::kPod, "default/web"}));
  EXPECT_FALSE(done_);
  handle.waits[0].done({});
  ASSERT_TRUE(done_);
  EXPECT_TRUE(done_->ok());
}

TEST_F(VolumeBindingBindTest, AWriteThatFailsEndsPreBindAndOnlyTheRestIsRestored) {
  Reserve();
  PreBind();
  Answer();
  Answer({Code::kError, "Operation cannot be fulfilled"});
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->message, "Operation cannot be fulfilled");
  EXPECT_THAT(handle.waits, IsEmpty());
  handle.RunPosted();
  EXPECT_EQ(handle.Metric("volume_scheduling_stage_error_total", {"bind"}), 1);

  plugin().Unreserve(state, *info, "n1");
  EXPECT_TRUE(handle.assumed.FindVolume("v")->spec.claim_ref) << "written: it stays until shown";
  EXPECT_THAT(handle.assumed.claims, IsEmpty());
}

// A daemon that died between its writes and the bind: the next one finds them and writes nothing.
TEST_F(VolumeBindingBindTest, WhatWasWrittenBeforeIsTakenUp) {
  ShowWritten();
  Reserve();
  EXPECT_THAT(handle.assumed.volumes, IsEmpty());
  EXPECT_THAT(handle.assumed.claims, IsEmpty());
  PreBind();
  EXPECT_THAT(handle.writes, IsEmpty());
  EXPECT_EQ(Check(), "waiting");
  ShowBound();
  EXPECT_EQ(Check(), "");
}

TEST_F(VolumeBindingBindTest, TheWaitEndsWhenAllClaimsAreBound) {
  PreBindAndWrite();
  EXPECT_EQ(Check(), "waiting") << "the writes are not shown yet";
  ShowWritten();
  EXPECT_EQ(Check(), "waiting");
  ShowBound();
  EXPECT_EQ(Check(), "");
}

TEST_F(VolumeBindingBindTest, TheWaitEndsWithAnErrorWhenThePodMustBeScheduledAgain) {
  const std::string failed = "binding volumes: ";
  const struct {
    const char* name;
    std::function<void()> change;
    std::string want;
  } cases[] = {
      {"the pod is gone", [&] { handle.pending_pods.clear(); },
       failed + "pod does not exist any more: pod \"web\" not found"},
      {"another pod of its name came",
       [&] {
         handle.pending_pods = {
             std::make_shared<const api::Pod>(MakePod().Name("web").Uid("u-2").Obj())};
       },
       failed + "pod does not exist any more: pod \"web\" not found"},
      {"the node is gone",
       [&] { snapshot.emplace(handle.names, std::vector<api::Node>{}, std::vector<api::Pod>{}); },
       failed + "failed to get node \"n1\": node \"n1\" not found"},
      {"the volume is gone", [&] { shown().Remove<api::PersistentVolume>("", "v"); },
       failed + "failed to check binding: persistentvolumes \"v\" not found"},
      {"its claim is gone",
       [&] { shown().Remove<api::PersistentVolumeClaim>("default", "static"); },
       failed + "failed to check binding: persistentvolumeclaims \"default/static\" not found"},
      {"the node cannot reach the volume any more",
       [&] {
         shown().Set(WrittenVolume().RequireNode({}).Obj());
         auto moved = WrittenVolume().Obj();
         moved.spec.node_affinity->required->node_selector_terms[0].match_expressions[0].values = {
             "n2"};
         shown().Set(moved);
       },
       failed + "pv \"v\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms"},
      {"the PV controller took the binding back",
       [&] { shown().Set(MakeVolume("v", "local").On("n1").Version("3").Obj()); },
       failed + "ClaimRef got reset for pv \"v\""},
      {"the volume is promised to the name alone",
       [&] { shown().Set(MakeVolume("v", "local").On("n1").Version("3").Claim("static").Obj()); },
       failed + "ClaimRef got reset for pv \"v\""},
      {"the claim got another volume",
       [&] { shown().Set(MakeClaim("static", "local").Version("3").BoundTo("w").Obj()); },
       failed + "claim \"default/static\" was bound to pv \"w\" instead of \"v\""},
      {"the claim to make a volume for is gone",
       [&] {
         ShowBound();
         shown().Remove<api::PersistentVolumeClaim>("default", "made");
       },
       failed +
           "failed to check provisioning pvc: persistentvolumeclaims \"default/made\" not found"},
      {"the provisioner gave up",
       [&] {
         ShowBound();
         shown().Set(MakeClaim("made", "wait").Version("3").Annotation("a", "b").Obj());
       },
       failed + "provisioning failed for PVC \"made\""},
      {"the provisioner gave up, and no annotation is left",
       [&] {
         ShowBound();
         shown().Set(MakeClaim("made", "wait").Version("3").Obj());
       },
       failed + "selectedNode annotation reset for PVC \"made\""},
      {"the volume was made for another node",
       [&] {
         ShowBound();
         shown().Set(MakeVolume("pvc-1", "wait").On("n2").Claim("made", "default/made").Obj());
       },
       failed +
           "pv \"pvc-1\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms"},
      {"the volume that was made is not shown yet",
       [&] {
         ShowBound();
         shown().Remove<api::PersistentVolume>("", "pvc-1");
       },
       "waiting"},
      {"the claim is bound on one side",
       [&] {
         ShowBound();
         shown().Set(
             MakeClaim("made", "wait").Version("3").SelectedNode("n1").Volume("pvc-1").Obj());
       },
       "waiting"},
  };
  const PlainListers before = shown();
  PreBindAndWrite();
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    shown() = before;
    ShowWritten();
    handle.pending_pods = {std::make_shared<const api::Pod>(pod_)};
    snapshot.emplace(handle.names, std::vector<api::Node>{Node("n1")}, std::vector<api::Pod>{});
    c.change();
    EXPECT_EQ(Check(), c.want);
  }
}

}  // namespace
}  // namespace berth::plugins
