// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "berth/in_tree/pod_group_points.h"
#include "berth/random.h"
#include "tests/support/volume_builders.h"
#include "tests/unit/scheduler/pod_group_fixture.h"

namespace berth::scheduler {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class PodGroupPreemptionTest : public test::PodGroupFixture {
 protected:
  // The group may only be evicted whole.
  static GroupPtr MakeWhole(const std::string& name, int32_t priority) {
    api::PodGroup group = *MakeGroup(name, 0, priority);
    group.spec.disruption_mode.emplace().all.emplace();
    return std::make_shared<const api::PodGroup>(std::move(group));
  }
  static test::PodBuilder Placed(const std::string& name, int32_t priority,
                                 const std::string& node) {
    return test::MakePod()
        .Name(name)
        .Uid("uid-" + name)
        .Req({{"cpu", "1"}})
        .Priority(priority)
        .OnNode(node);
  }
  // `count` pods of the gang, which all must start, with that priority.
  void AddGang(const std::string& name, int count, int32_t priority) {
    AddGroup(MakeGroup(name, count, priority));
    for (int i = 0; i < count; ++i) AddPod(Member(name, i).Priority(priority));
  }
};

TEST_F(PodGroupPreemptionTest, AGangMakesRoomOnSeveralNodesAndStartsWholeOnceItIsThere) {
  std::map<std::string, std::shared_ptr<const api::Pod>> low;
  for (const std::string node : {"n1", "n2", "n3"}) {
    AddNodeWithCpu(node, 1);
    AddPod(low["low-" + node] = Placed("low-" + node, 1, node).Ptr());
  }
  AddGang("train", 3, 10);
  Turn();
  EXPECT_THAT(Deletions(),
              UnorderedElementsAre("default/low-n1", "default/low-n2", "default/low-n3"));
  EXPECT_THAT(StatusPatches("low-n1"),
              ElementsAre(HasSubstr("default-scheduler: preempting to accommodate a higher "
                                    "priority podgroup")));
  EXPECT_THAT(Events("Preempted"), Each("Preempted by podgroup uid-group-train on node cluster"));
  EXPECT_THAT(RelatedTo("Preempted"),
              Each("scheduling.k8s.io/v1beta1 PodGroup default/train uid-group-train"));
  EXPECT_THAT(GroupStatusPatches("train"),
              ElementsAre(HasSubstr("pod group preemption: found a placement for podgroup, "
                                    "preempting 3 victims")));
  EXPECT_THAT(StatusPatches("train-0"), ElementsAre(HasSubstr("\"nominatedNodeName\":\"n")));
  EXPECT_EQ(scheduler().cache().num_assumed(), 0u);
  EXPECT_EQ(scheduler().cache().num_pods(), 3u) << "what was imagined is undone";

  DeletePod(low["low-n1"]);
  DeletePod(low["low-n2"]);
  const auto going = Placed("low-n3", 1, "n3").DeletedAt(Now()).Ptr();
  UpdatePod(low["low-n3"], going);
  Advance(seconds(5));
  EXPECT_THAT(Bindings(), IsEmpty()) << "a victim is still there";
  DeletePod(going);
  Advance(seconds(20));
  EXPECT_THAT(Bindings(), SizeIs(3));
  EXPECT_THAT(Deletions(), SizeIs(3));
}

// Else an equal pod that was nominated later would take the place of one pod of the gang.
TEST_F(PodGroupPreemptionTest, ATryThatFailsLeavesTheGangItsPlaceAmongTheNominated) {
  for (const char* name : {"n1", "n2"}) {
    AddNode(test::MakeNode(name)
                .Label("node", name)
                .Allocatable({{"cpu", "2"}, {"memory", "32Gi"}, {"pods", "110"}}));
  }
  AddPod(Placed("low-a", 1, "n1"));
  const auto low_b = Placed("low-b", 1, "n2").Ptr();
  const auto low_c = Placed("low-c", 1, "n2").Ptr();
  AddPod(low_b);
  AddPod(low_c);
  AddGroup(MakeGroup("train", 2, 10));
  AddPod(Member("train", 0).Priority(10).NodeSelector("node", "n1"));
  AddPod(Member("train", 1).Priority(10).NodeSelector("node", "n2").Req({{"cpu", "1"}}));
  Turn();
  ASSERT_THAT(Deletions(), UnorderedElementsAre("default/low-b", "default/low-c"));
  AddPod(test::MakePod().Name("urgent").Uid("uid-urgent").Priority(10).Req({{"cpu", "1"}}));
  Turn();
  const cache::Nominator& nominator = scheduler().nominator();
  ASSERT_EQ(nominator.NominatedNode("uid-urgent"), "n1");
  ASSERT_TRUE(nominator.GoesBefore("uid-train-0", "uid-urgent"));

  UpdatePod(low_c, Placed("low-c", 1, "n2").DeletedAt(Now()).Ptr());
  DeletePod(low_b);
  Advance(seconds(5));
  EXPECT_THAT(Metrics(), Not(HasSubstr("scheduler_podgroup_schedule_attempts_total{profile="
                                       "\"default-scheduler\",result=\"waiting_on_preemption\"} "
                                       "1\n")))
      << "it is tried again";
  EXPECT_TRUE(nominator.GoesBefore("uid-train-0", "uid-urgent"));
}

TEST_F(PodGroupPreemptionTest, OnlyAsManyGoAsAreNeededAndTheLeastImportant) {
  AddNodeWithCpu("n1", 4);
  for (int i = 0; i < 4; ++i) AddPod(Placed("low-" + std::to_string(i), i, "n1"));
  AddGang("train", 2, 10);
  Turn();
  EXPECT_THAT(Deletions(), UnorderedElementsAre("default/low-0", "default/low-1"));
}

// The second pod is judged again by what it found of the claim while the first was reserved.
TEST_F(PodGroupPreemptionTest, AGangWithAClaimInCommonMakesRoomOnItsNode) {
  AddNodeWithCpu("n1", 4);
  for (int i = 0; i < 4; ++i) AddPod(Placed("low-" + std::to_string(i), i, "n1"));
  PostEvent(informers::EventType::kAdded, informers::Kind::kStorageClass, {},
            std::make_shared<const api::StorageClass>(
                test::MakeWaitingClass("made", "disk.csi.example")));
  PostEvent(informers::EventType::kAdded, informers::Kind::kPersistentVolumeClaim, {},
            test::MakeClaim("shared", "made").Ptr());
  AddGroup(MakeGroup("train", 2, 10));
  for (int i = 0; i < 2; ++i) AddPod(Member("train", i).Priority(10).ClaimVolume("shared"));
  Turn();
  EXPECT_THAT(Deletions(), UnorderedElementsAre("default/low-0", "default/low-1"));
}

// A victim that comes back takes its volume with it.
TEST_F(PodGroupPreemptionTest, AsManyGoAsHaveTheVolumesThatTheNodeTakesNoMoreOf) {
  constexpr const char* kDriver = "disk.csi.example";
  AddNodeWithCpu("n1", 8);
  auto csi_node = std::make_shared<api::CSINode>();
  csi_node->metadata.name = "n1";
  api::CSINodeDriver& driver = csi_node->spec.drivers.emplace_back();
  driver.name = kDriver;
  driver.allocatable = api::VolumeNodeResources{2};
  PostEvent(informers::EventType::kAdded, informers::Kind::kCsiNode, {}, csi_node);
  for (const std::string name : {"low-0", "low-1", "high"}) {
    auto volume = test::MakeVolume("v-" + name, "fast").Claim("c-" + name, "default/c-" + name);
    volume->spec.csi.emplace();
    volume->spec.csi->driver = kDriver;
    volume->spec.csi->volume_handle = name;
    PostEvent(informers::EventType::kAdded, informers::Kind::kPersistentVolume, {}, volume.Ptr());
    PostEvent(informers::EventType::kAdded, informers::Kind::kPersistentVolumeClaim, {},
              test::MakeClaim("c-" + name, "fast").BoundTo("v-" + name).Ptr());
  }
  for (int i = 0; i < 2; ++i) {
    const std::string name = "low-" + std::to_string(i);
    AddPod(Placed(name, i, "n1").ClaimVolume("c-" + name));
  }
  AddGroup(MakeGroup("train", 1, 10));
  AddPod(Member("train", 0).Priority(10).ClaimVolume("c-high"));
  Turn();
  EXPECT_THAT(Deletions(), ElementsAre("default/low-0"));
}

TEST_F(PodGroupPreemptionTest, AGroupOfModeAllGoesWholeWithItsPodsOnOtherNodes) {
  AddNodeWithCpu("n1", 1);
  AddNodeWithCpu("n2", 1);
  AddGroup(MakeWhole("batch", 1));
  for (const std::string node : {"n1", "n2"}) {
    AddPod(Placed("batch-" + node, 1, node).SchedulingGroup("batch"));
  }
  AddGang("train", 1, 10);
  Turn();
  EXPECT_THAT(Deletions(), UnorderedElementsAre("default/batch-n1", "default/batch-n2"));
}

TEST_F(PodGroupPreemptionTest, AGroupOfModeAllGoesWholeWithItsPodsOnNodesThatAreGone) {
  AddNodeWithCpu("n1", 1);
  AddGroup(MakeWhole("batch", 1));
  AddGroup(MakeWhole("other", 1));
  for (const std::string node : {"n1", "gone"}) {
    AddPod(Placed("batch-" + node, 1, node).SchedulingGroup("batch"));
  }
  AddPod(Placed("other-gone", 1, "gone").SchedulingGroup("other"));
  AddGang("train", 1, 10);
  Turn();
  EXPECT_THAT(Deletions(), UnorderedElementsAre("default/batch-n1", "default/batch-gone"));
}

TEST_F(PodGroupPreemptionTest, APodEvictsAGroupWholeWithItsPodsOnNodesThatAreGone) {
  AddNodeWithCpu("n1", 1);
  AddGroup(MakeWhole("batch", 1));
  for (const std::string node : {"n1", "gone"}) {
    AddPod(Placed("batch-" + node, 1, node).SchedulingGroup("batch"));
  }
  AddPod(test::MakePod().Name("urgent").Req({{"cpu", "1"}}).Priority(10));
  Turn();
  EXPECT_THAT(Deletions(), UnorderedElementsAre("default/batch-n1", "default/batch-gone"));
}

TEST_F(PodGroupPreemptionTest, OfAnotherGroupSinglePodsGo) {
  AddNodeWithCpu("n1", 1);
  AddNodeWithCpu("n2", 1);
  AddGroup(MakeGroup("batch", 0, 1));
  for (const std::string node : {"n1", "n2"}) {
    AddPod(Placed("batch-" + node, 1, node).SchedulingGroup("batch"));
  }
  AddGang("train", 1, 10);
  Turn();
  EXPECT_THAT(Deletions(), SizeIs(1));
}

TEST_F(PodGroupPreemptionTest, APodEvictsAGroupWholeAndCountsItsPriority) {
  AddNodeWithCpu("n1", 1);
  AddNodeWithCpu("n2", 1);
  AddNodeWithCpu("n3", 1);
  AddGroup(MakeWhole("batch", 1));
  AddGroup(MakeWhole("dear", 20));
  for (const std::string node : {"n1", "n2"}) {
    AddPod(Placed("batch-" + node, 1, node).SchedulingGroup("batch"));
  }
  AddPod(Placed("dear-0", 20, "n3").SchedulingGroup("dear"));
  AddPod(test::MakePod().Name("urgent").Req({{"cpu", "1"}}).Priority(10));
  Turn();
  EXPECT_THAT(Deletions(), UnorderedElementsAre("default/batch-n1", "default/batch-n2"));
}

// Fails over nodes with a pod that has the label "odd".
class OddFilter final : public FilterPlugin {
 public:
  Status Filter(const CycleState& state, const PodInfo&, const NodeView& node) const override {
    bool odd = false;
    node.ForEachPod([&odd](const PodInfo& pod) {
      odd = odd || api::Find(pod.pod->metadata.labels, "odd") != nullptr;
    });
    return odd ? state.reasons().Error("odd") : Status::Success();
  }
};

// A victim beside which a filter fails does not come back.
TEST_F(PodGroupPreemptionTest, AFilterThatFailsBesideAVictimDoesNotSpareIt) {
  plugins_.push_back({"Odd", [](const ConfigValue&, Handle&) -> Result<Plugin> {
                        return AsPlugin("Odd", std::make_unique<OddFilter>());
                      }});
  options_.configuration.profiles[0].plugins.multi_point.enabled.push_back({"Odd"});
  Restart();
  Synced();
  AddNodeWithCpu("n1", 2);
  AddPod(Placed("odd", 2, "n1").Label("odd", "yes"));
  AddPod(Placed("low", 1, "n1"));
  AddGang("train", 1, 10);
  Turn();
  EXPECT_THAT(Deletions(), ElementsAre("default/odd"));
}

class BrokenGroupPostFilter final : public PodGroupPostFilterPlugin {
 public:
  explicit BrokenGroupPostFilter(int& calls) : calls_(calls) {}
  PodGroupPostFilterResult PodGroupPostFilter(CycleState& state, const PodGroupInfo&,
                                              const Snapshot&, PodGroupDryRun&) override {
    ++calls_;
    return {.status = state.reasons().Error("broken"), .nominations = {}};
  }

 private:
  int& calls_;
};

// Its backoff is that of a group that was rejected as often, as in kube-scheduler: 1, 2, 4 s.
TEST_F(PodGroupPreemptionTest, AGroupOverWhichPostFilterFailsBacksOffAsARejectedOne) {
  int calls = 0;
  plugins_.push_back({"Broken", [&calls](const ConfigValue&, Handle&) -> Result<Plugin> {
                        return AsPlugin("Broken", std::make_unique<BrokenGroupPostFilter>(calls));
                      }});
  auto& enabled = options_.configuration.profiles[0].plugins.multi_point.enabled;
  std::erase_if(enabled, [](const auto& ref) { return ref.name == "DefaultPreemption"; });
  enabled.push_back({"Broken"});
  Restart();
  Synced();
  AddNodeWithCpu("n1", 1);
  AddGang("train", 2, 10);
  Advance(seconds(20));
  EXPECT_THAT(calls, AllOf(testing::Ge(3), testing::Le(5)));
}

TEST_F(PodGroupPreemptionTest, WithoutTheGateEveryPodStandsForItself) {
  options_.features.generic_workload = false;
  Restart();
  Synced();
  AddNodeWithCpu("n1", 1);
  AddNodeWithCpu("n2", 1);
  AddGroup(MakeWhole("batch", 50));
  for (const std::string node : {"n1", "n2"}) {
    AddPod(Placed("batch-" + node, 1, node).SchedulingGroup("batch"));
  }
  AddPod(test::MakePod().Name("urgent").Req({{"cpu", "1"}}).Priority(10));
  Turn();
  EXPECT_THAT(Deletions(), SizeIs(1));
}

TEST_F(PodGroupPreemptionTest, AGangThatDoesNotFitEvenThenEvictsNothing) {
  AddNodeWithCpu("n1", 2);
  AddPod(Placed("low", 1, "n1"));
  AddPod(Placed("high", 10, "n1"));
  AddGang("train", 2, 10);
  Turn();
  EXPECT_THAT(Deletions(), IsEmpty());
  EXPECT_THAT(GroupStatusPatches("train"),
              ElementsAre(HasSubstr(
                  "pod group preemption: minCount (2) cannot be satisfied: 1 scheduled, 0 "
                  "remaining")));
}

TEST_F(PodGroupPreemptionTest, AGangOfPolicyNeverEvictsNothing) {
  AddNodeWithCpu("n1", 1);
  AddPod(Placed("low", 1, "n1"));
  AddGroup(MakeGroup("train", 1, 10));
  AddPod(Member("train", 0).Priority(10).PreemptionPolicy("Never"));
  Turn();
  EXPECT_THAT(Deletions(), IsEmpty());
  EXPECT_THAT(GroupStatusPatches("train"),
              ElementsAre(HasSubstr("not eligible due to preemptionPolicy=Never.")));
}

// Pods and groups of random size and priority fill nodes; a gang of higher priority comes.
TEST(PodGroupPreemptionPropertyTest, AfterwardsTheGangFitsAndNoVictimIsNeedless) {
  class World : public PodGroupPreemptionTest {
   public:
    void TestBody() override {}
    // How many victims there were.
    size_t Run(uint64_t seed) {
      Random random(seed);
      const int num_nodes = 2 + static_cast<int>(random.Below(4));
      struct Unit {
        std::set<std::string> pods;
        int32_t priority = 0;
      };
      std::map<std::string, Unit> units;  // what is evicted as one
      std::map<std::string, std::string> unit_of;
      std::map<std::string, std::string> node_of;
      std::map<std::string, std::shared_ptr<const api::Pod>> pods;
      std::map<std::string, int> free;
      for (int i = 0; i < 3; ++i) {
        const auto priority = static_cast<int32_t>(random.Below(15));
        units["g" + std::to_string(i)].priority = priority;
        AddGroup(MakeWhole("g" + std::to_string(i), priority));
      }
      int number = 0;
      for (int n = 0; n < num_nodes; ++n) {
        const std::string node = "n" + std::to_string(n);
        const int cpu = 2 + static_cast<int>(random.Below(3));
        AddNodeWithCpu(node, cpu);
        free[node] = cpu;
        while (free[node] > 0 && random.Below(8) > 0) {
          const std::string name = "low-" + std::to_string(number++);
          const auto priority = static_cast<int32_t>(random.Below(15));
          test::PodBuilder pod = Placed(name, priority, node);
          std::string unit = name;
          if (random.Below(2) == 0) {
            unit = "g" + std::to_string(random.Below(3));
            pod.Priority(units[unit].priority).SchedulingGroup(unit);
          } else {
            units[unit].priority = priority;
          }
          units[unit].pods.insert(name);
          unit_of[name] = unit;
          node_of[name] = node;
          pods[name] = pod.Ptr();
          AddPod(pods[name]);
          --free[node];
        }
      }
      int room = 0;
      for (const auto& [node, cpu] : free) room += cpu;
      const int size = 1 + static_cast<int>(random.Below(6));
      AddGang("train", size, 10);
      Turn();

      std::set<std::string> gone;
      for (const std::string& key : Deletions()) gone.insert(key.substr(key.find('/') + 1));
      int could_go = 0;
      for (const auto& [name, unit] : units) {
        const size_t evicted = static_cast<size_t>(std::ranges::count_if(
            unit.pods, [&gone](const std::string& pod) { return gone.contains(pod); }));
        EXPECT_TRUE(evicted == 0 || evicted == unit.pods.size()) << name << " goes in part";
        if (evicted > 0) {
          EXPECT_LT(unit.priority, 10) << name;
        }
        if (unit.priority < 10) could_go += static_cast<int>(unit.pods.size());
      }
      if (size <= room) {
        EXPECT_EQ(Bindings().size(), static_cast<size_t>(size));
        EXPECT_TRUE(gone.empty());
        return 0;
      }
      if (size > room + could_go) {
        EXPECT_TRUE(gone.empty()) << "nothing helps";
        return 0;
      }
      EXPECT_GE(room + static_cast<int>(gone.size()), size);
      // Where the gang is to go no victim could have stayed.
      std::map<std::string, int> left = free;
      for (const std::string& pod : gone) ++left[node_of[pod]];
      for (int i = 0; i < size; ++i) {
        const std::string uid = "uid-train-" + std::to_string(i);
        const std::string node(scheduler().nominator().NominatedNode(uid));
        EXPECT_TRUE(left.contains(node)) << uid << " is nominated for \"" << node << "\"";
        --left[node];
      }
      for (const auto& [node, cpu] : left) EXPECT_GE(cpu, 0) << node;
      std::set<std::string> gone_units;
      for (const std::string& pod : gone) gone_units.insert(unit_of[pod]);
      for (const std::string& name : gone_units) {
        std::map<std::string, int> with = left;
        for (const std::string& pod : units[name].pods) --with[node_of[pod]];
        EXPECT_TRUE(std::ranges::any_of(with, [](const auto& entry) { return entry.second < 0; }))
            << name << " need not go";
      }
      for (const std::string& pod : gone) DeletePod(pods[pod]);
      Advance(seconds(30));
      EXPECT_EQ(Bindings().size(), static_cast<size_t>(size));
      return gone.size();
    }
  };
  size_t victims = 0;
  for (uint64_t seed = 1; seed <= 150 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    victims += World().Run(seed);
  }
  EXPECT_GT(victims, 50u);
}

}  // namespace
}  // namespace berth::scheduler
