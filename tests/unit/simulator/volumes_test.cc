// SPDX-License-Identifier: Apache-2.0
// Pods with claims, from the queue to their nodes: the scheduler as it is, the test as the PV
// controller and the provisioner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "src/scheduler/binding_cycles.h"
#include "tests/support/volume_builders.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::test {
namespace {

using informers::Kind;
using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class VolumesTest : public SimulatorFixture {
 protected:
  VolumesTest() { Begin(); }

  void Begin() {
    Restart();
    Show(MakeWaitingClass("local", kNoProvisioner));
    Show(MakeWaitingClass("made", "csi.example.com"));
    for (const char* name : {"n1", "n2"}) {
      Apply(MakeNode(name).Label("kubernetes.io/hostname", name).Allocatable({{"pods", "5000"}}));
    }
    simulation_->Start();
  }
  template <typename T>
  void Show(const T& object) {
    simulation_->Apply(std::make_shared<const T>(object));
  }
  void Show(const VolumeBuilder& volume) { Show(volume.Obj()); }
  void Show(const ClaimBuilder& claim) { Show(claim.Obj()); }
  static PodBuilder Web(const std::string& name, const std::string& claim) {
    return PodBuilder().Name(name).Uid("u-" + name).ClaimVolume(claim);
  }

  template <typename T>
  std::shared_ptr<const T> Find(Kind kind, const std::string& key) {
    const api::ObjectPtr object = simulation_->api().Find(kind, key);
    const auto* found = std::get_if<std::shared_ptr<const T>>(&object);
    return found == nullptr ? nullptr : *found;
  }
  api::PersistentVolume Volume(const std::string& name) {
    return *Find<api::PersistentVolume>(Kind::kPersistentVolume, name);
  }
  api::PersistentVolumeClaim Claim(const std::string& name) {
    return *Find<api::PersistentVolumeClaim>(Kind::kPersistentVolumeClaim, "default/" + name);
  }
  // The claim that the volume is bound to, or "".
  std::string ClaimOf(const std::string& volume) {
    const auto& reference = Volume(volume).spec.claim_ref;
    return reference ? reference->name : "";
  }
  std::string SelectedNode(const std::string& claim) {
    const api::PersistentVolumeClaim found = Claim(claim);
    const auto* node = api::Find(found.metadata.annotations, kSelectedNodeAnnotation);
    return node == nullptr ? "" : *node;
  }

  // What the PV controller does once a volume names a claim.
  void Bind(const std::string& claim, const std::string& volume) {
    api::PersistentVolume bound = Volume(volume);
    bound.status.phase = api::kVolumeBound;
    Show(bound);
    api::PersistentVolumeClaim taken = Claim(claim);
    taken.spec.volume_name = volume;
    taken.status.phase = api::kClaimBound;
    taken.metadata.annotations.emplace(taken.metadata.annotations.begin(), kBindCompletedAnnotation,
                                       "yes");
    Show(taken);
  }
  // What a provisioner does for a claim with a selected node, and then the PV controller.
  void Provision(const std::string& claim, const std::string& volume) {
    Show(
        MakeVolume(volume, "made").On(SelectedNode(claim)).Claim(claim, Claim(claim).metadata.uid));
    Bind(claim, volume);
  }
  // What a provisioner does that cannot make a volume there.
  void GiveUp(const std::string& claim) {
    api::PersistentVolumeClaim released = Claim(claim);
    std::erase_if(released.metadata.annotations,
                  [](const auto& entry) { return entry.first == kSelectedNodeAnnotation; });
    Show(released);
  }
  std::vector<std::string> FailedNotes() const {
    std::vector<std::string> notes;
    for (const auto& event : simulation_->api().events()) {
      if (event.reason == "FailedScheduling") notes.push_back(event.note);
    }
    return notes;
  }
  size_t Waiting() const { return simulation_->scheduler().binding_cycles().size(); }
};

TEST_F(VolumesTest, APodGoesWhereAVolumeForItsClaimIsOnceThatIsBound) {
  Show(MakeVolume("v2", "local").On("n2"));
  Show(MakeClaim("data", "local"));
  Apply(Web("web", "data"));
  simulation_->RunDue();
  EXPECT_EQ(ClaimOf("v2"), "data");
  EXPECT_EQ(*api::Find(Volume("v2").metadata.annotations, kBoundByControllerAnnotation), "yes");
  EXPECT_EQ(NodeOf("default/web"), "") << "the claim is not bound yet";
  EXPECT_EQ(simulation_->FindPod("default/web")->status.nominated_node_name, "n2");
  Bind("data", "v2");
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/web"), "n2");
}

TEST_F(VolumesTest, AVolumeIsMadeForTheNodeThatThePodGoesTo) {
  Show(MakeClaim("data", "made"));
  Apply(Web("web", "data"));
  simulation_->RunDue();
  const std::string node = SelectedNode("data");
  EXPECT_THAT(node, testing::AnyOf("n1", "n2"));
  Provision("data", "pvc-1");
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/web"), node);
}

TEST_F(VolumesTest, OfTwoPodsThatWantOneVolumeOneGetsIt) {
  Show(MakeVolume("v", "local").On("n1"));
  Show(MakeClaim("a", "local"));
  Show(MakeClaim("b", "local"));
  Apply(Web("first", "a"));
  Apply(Web("second", "b"));
  simulation_->RunDue();
  EXPECT_EQ(ClaimOf("v"), "a");
  EXPECT_THAT(MessageOf("default/second"),
              HasSubstr("0/2 nodes are available: 2 node(s) didn't find available persistent "
                        "volumes to bind."));
  Bind("a", "v");
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/first"), "n1");
  // Another volume lets the other one go.
  Show(MakeVolume("w", "local").On("n2"));
  simulation_->Advance(seconds(2));
  Bind("b", "w");
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/second"), "n2");
}

TEST_F(VolumesTest, TwoProfilesGiveNoVolumeAwayTwice) {
  simulator::SimulationOptions options = DefaultSimulationOptions();
  auto& profiles = options.scheduler.configuration.profiles;
  profiles.push_back(profiles.front());
  profiles.back().scheduler_name = "other-scheduler";
  Restart(std::move(options));
  Apply(MakeNode("n1").Label("kubernetes.io/hostname", "n1"));
  Show(MakeWaitingClass("local", kNoProvisioner));
  Show(MakeVolume("v", "local"));
  Show(MakeClaim("a", "local"));
  Show(MakeClaim("b", "local"));
  simulation_->Start();
  Apply(Web("first", "a"));
  Apply(Web("second", "b").SchedulerName("other-scheduler"));
  simulation_->RunDue();
  EXPECT_EQ(ClaimOf("v"), "a");
  EXPECT_THAT(FailedNotes(), Not(Contains(HasSubstr("Operation cannot be fulfilled"))))
      << "the second never tried to write";
}

// Another client takes the volume while the scheduler has not seen it yet.
TEST_F(VolumesTest, AVolumeThatIsTakenAtTheLastMomentIsLookedForAgain) {
  Show(MakeVolume("v", "local").On("n1"));
  Show(MakeVolume("w", "local").Capacity("6Gi").On("n2"));
  Show(MakeClaim("a", "local"));
  bool taken = false;
  simulation_->api().set_fault(
      [&](const client::Request& request) -> std::optional<client::ResponseResult> {
        if (taken || request.path != "/api/v1/persistentvolumes/v") return std::nullopt;
        taken = true;
        Show(MakeVolume("v", "local").On("n1").Version("9").Claim("x", "u-x"));
        return std::nullopt;
      });
  Apply(Web("web", "a"));
  simulation_->RunDue();
  ASSERT_TRUE(taken);
  EXPECT_EQ(ClaimOf("v"), "x");
  EXPECT_THAT(FailedNotes(),
              Contains("running PreBind plugin \"VolumeBinding\": Operation cannot be fulfilled on "
                       "persistentvolumes \"v\": the object has been modified; please apply your "
                       "changes to the latest version and try again"));
  simulation_->Advance(seconds(3));
  EXPECT_EQ(ClaimOf("w"), "a");
  Bind("a", "w");
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/web"), "n2");
}

TEST_F(VolumesTest, AProvisionerThatGivesUpHasThePodScheduledAgain) {
  Show(MakeClaim("data", "made"));
  Apply(Web("web", "data"));
  simulation_->RunDue();
  const std::string first = SelectedNode("data");
  ASSERT_NE(first, "");
  // The node goes out of service meanwhile.
  Apply(MakeNode(first).Label("kubernetes.io/hostname", first).Unschedulable());
  GiveUp("data");
  simulation_->RunDue();
  EXPECT_THAT(FailedNotes(), Contains("running PreBind plugin \"VolumeBinding\": binding volumes: "
                                      "selectedNode annotation reset for PVC \"data\""));
  simulation_->Advance(seconds(3));
  EXPECT_NE(SelectedNode("data"), "");
  EXPECT_NE(SelectedNode("data"), first);
  Provision("data", "pvc-1");
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/web"), SelectedNode("data"));
}

TEST_F(VolumesTest, APodWhoseVolumeTakesTooLongTriesAgainAndTakesUpWhatWasWritten) {
  Show(MakeVolume("v", "local").On("n1"));
  Show(MakeClaim("a", "local"));
  Apply(Web("web", "a"));
  simulation_->RunDue();
  simulation_->Advance(seconds(599));
  EXPECT_EQ(Waiting(), 1u);
  EXPECT_THAT(FailedNotes(), testing::IsEmpty());
  simulation_->Advance(seconds(1));
  EXPECT_THAT(FailedNotes(), Contains("running PreBind plugin \"VolumeBinding\": binding volumes: "
                                      "context deadline exceeded"));
  EXPECT_EQ(ClaimOf("v"), "a") << "what was written stays";
  simulation_->Advance(seconds(3));
  EXPECT_EQ(Waiting(), 1u) << "it waits again";
  Bind("a", "v");
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/web"), "n1");
}

TEST_F(VolumesTest, TheVolumeGoesWhileThePodWaits) {
  Show(MakeVolume("v", "local").On("n1"));
  Show(MakeClaim("a", "local"));
  Apply(Web("web", "a"));
  simulation_->RunDue();
  simulation_->Delete(Kind::kPersistentVolume, "v");
  simulation_->RunDue();
  EXPECT_THAT(FailedNotes(),
              Contains("running PreBind plugin \"VolumeBinding\": binding volumes: "
                       "failed to check binding: persistentvolumes \"v\" not found"));
}

TEST_F(VolumesTest, AClaimThatIsBoundElsewhereMeanwhileTakesThePodThere) {
  Show(MakeVolume("v", "local").On("n1"));
  Show(MakeVolume("w", "local").Capacity("6Gi").On("n2"));
  Show(MakeClaim("a", "local"));
  Apply(Web("web", "a"));
  simulation_->RunDue();
  ASSERT_EQ(ClaimOf("v"), "a");
  api::PersistentVolume other = Volume("w");
  other.spec.claim_ref = Volume("v").spec.claim_ref;
  Show(other);
  Bind("a", "w");
  simulation_->RunDue();
  EXPECT_EQ(NodeOf("default/web"), "");
  simulation_->Advance(seconds(3));
  EXPECT_EQ(NodeOf("default/web"), "n2");
}

TEST_F(VolumesTest, APodThatIsDeletedWhileItWaitsIsLetGoAtOnce) {
  Show(MakeVolume("v", "local").On("n1"));
  Show(MakeClaim("a", "local"));
  Apply(Web("web", "a"));
  simulation_->RunDue();
  ASSERT_EQ(Waiting(), 1u);
  simulation_->Delete(Kind::kPod, "default/web");
  simulation_->RunDue();
  EXPECT_EQ(Waiting(), 0u);
  EXPECT_EQ(simulation_->scheduler().cache().num_assumed(), 0u);
}

// Whatever was done before the end of one process, the next goes on from there.
TEST_F(VolumesTest, ADaemonThatDiedBetweenItsWritesAndTheBindLeavesNothingStuck) {
  for (const bool bound : {false, true}) {
    SCOPED_TRACE(bound);
    Begin();
    Show(MakeVolume("v", "local").On("n2"));
    Show(MakeClaim("a", "local"));
    Show(MakeClaim("m", "made"));
    Apply(Web("web", "a").ClaimVolume("m"));
    simulation_->RunDue();
    ASSERT_EQ(SelectedNode("m"), "n2");
    if (bound) Bind("a", "v");
    const api::PersistentVolume volume = Volume("v");
    const api::PersistentVolumeClaim claim = Claim("a");
    const api::PersistentVolumeClaim made = Claim("m");

    Begin();
    Show(volume);
    Show(claim);
    Show(made);
    Apply(Web("web", "a").ClaimVolume("m"));
    simulation_->RunDue();
    EXPECT_EQ(Waiting(), 1u);
    if (!bound) Bind("a", "v");
    Provision("m", "pvc-1");
    simulation_->RunDue();
    EXPECT_EQ(NodeOf("default/web"), "n2");
  }
}

TEST_F(VolumesTest, AThousandPodsThatWaitForVolumesHoldUpNoOthers) {
  for (int i = 0; i < 1000; ++i) {
    const std::string name = std::to_string(i);
    Show(MakeClaim(name, "made"));
    Apply(Web("web-" + name, name));
  }
  simulation_->RunDue();
  EXPECT_EQ(Waiting(), 1000u);
  Apply(PodBuilder().Name("plain"));
  simulation_->RunDue();
  EXPECT_NE(NodeOf("default/plain"), "");
  Provision("500", "pvc-500");
  simulation_->RunDue();
  EXPECT_NE(NodeOf("default/web-500"), "");
  EXPECT_EQ(Waiting(), 999u);
}

}  // namespace
}  // namespace berth::test
