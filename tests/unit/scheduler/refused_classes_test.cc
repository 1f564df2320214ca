// SPDX-License-Identifier: Apache-2.0
// When pods of a class that fits nowhere are refused without an evaluation, and when they are not.
#include <gmock/gmock.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/test_plugins.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// What a test has its own plugins answer, and what they were asked.
struct Answers {
  std::function<bool(const NodeView&)> passes = [](const NodeView&) { return true; };
  std::set<std::string> gated;  // names of pods
  int pre_filters = 0;
  int filters = 0;
  int post_filters = 0;
};

// Registers for new nodes only: nothing that happens to pods wakes one that it rejected.
class NodesOnly : public FilterPlugin, public EnqueueExtensions {
 public:
  NodesOnly(Inputs inputs, Answers& answers) : inputs_(std::move(inputs)), answers_(answers) {}
  Inputs DeclaredInputs() const { return inputs_; }
  Status Filter(const CycleState& state, const PodInfo&, const NodeView& node) const override {
    ++answers_.filters;
    if (answers_.passes(node)) return Status::Success();
    return state.reasons().Make(Code::kUnschedulable, "not here");
  }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kNode, action::kAdd}, nullptr}};
  }

 private:
  const Inputs inputs_;
  Answers& answers_;
};

class UndeclaredPreFilter : public PreFilterPlugin {
 public:
  explicit UndeclaredPreFilter(Answers& answers) : answers_(answers) {}
  PreFilterResult PreFilter(CycleState&, const PodInfo&, const Snapshot&) override {
    ++answers_.pre_filters;
    return {};
  }

 private:
  Answers& answers_;
};

class UndeclaredPostFilter : public PostFilterPlugin {
 public:
  explicit UndeclaredPostFilter(Answers& answers) : answers_(answers) {}
  PostFilterResult PostFilter(CycleState& state, const PodInfo&, const Snapshot&,
                              const NodeToStatus&) override {
    ++answers_.post_filters;
    return {state.reasons().Make(Code::kUnschedulable, "asked")};
  }

 private:
  Answers& answers_;
};

class GateByName : public PreEnqueuePlugin, public EnqueueExtensions {
 public:
  explicit GateByName(Answers& answers) : answers_(answers) {}
  Inputs DeclaredInputs() const { return Inputs::Of(0, {}); }
  Status PreEnqueue(const PodInfo& pod) override {
    return answers_.gated.contains(pod.pod->metadata.name)
               ? Status(Code::kUnschedulableAndUnresolvable)
               : Status::Success();
  }
  std::vector<ClusterEventWithHint> EventsToRegister() const override { return {}; }

 private:
  Answers& answers_;
};

class RefusedClassesTest : public test::SchedulerFixture {
 protected:
  template <typename Make>
  void Add(std::string_view name, Make make) {
    plugins_.push_back(
        {.name = name, .factory = [make, name](const ConfigValue&, Handle&) -> Result<Plugin> {
           return AsPlugin(name, make());
         }});
    options_.configuration.profiles[0].plugins.multi_point.enabled.push_back(
        {std::string(name), 0});
  }
  void AddFilter(std::string_view name, const Inputs& inputs) {
    Add(name, [=, this] { return std::make_unique<NodesOnly>(inputs, answers_); });
  }
  void Disable(std::string_view plugin) {
    std::erase_if(options_.configuration.profiles[0].plugins.multi_point.enabled,
                  [&](const config::PluginRef& ref) { return ref.name == plugin; });
  }
  void Begin() {
    Restart();
    Synced();
  }
  static test::PodBuilder Pod(std::string_view name, std::string_view cpu, int32_t priority = 0) {
    return test::MakePod().Name(name).Req({{"cpu", cpu}}).Priority(priority);
  }

  Answers answers_;
};

TEST_F(RefusedClassesTest, ThePodsOfAClassThatFitsNowhereAreRefusedAlike) {
  Begin();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "2"}, {"pods", "9"}}));
  AddPod(Pod("small", "100m").OnNode("n1"));
  for (const char* name : {"a", "b", "c"}) AddPod(Pod(name, "4"));
  Turn();
  EXPECT_EQ(scheduler().num_reused_refusals(), 2u);
  EXPECT_THAT(Events("FailedScheduling"),
              testing::AllOf(SizeIs(3), testing::Each(Events("FailedScheduling").front())));
  EXPECT_THAT(Metrics(), HasSubstr("\nscheduler_preemption_attempts_total 3\n"));
  // A pod that takes some of the room changes no verdict.
  AddPod(Pod("fits", "200m"));
  AddPod(Pod("d", "4"));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/fits -> n1"));
  EXPECT_EQ(scheduler().num_reused_refusals(), 3u);
  // One that takes the last of it changes what the others are told.
  AddPod(Pod("last", "1700m"));
  for (int i = 0; i < 6; ++i) AddPod(test::MakePod().Name("idle-" + std::to_string(i)));
  Turn();
  ASSERT_THAT(Bindings(), SizeIs(8));
  AddPod(Pod("e", "4"));
  Turn();
  EXPECT_EQ(scheduler().num_reused_refusals(), 3u);
  EXPECT_THAT(Events("FailedScheduling").back(), HasSubstr("1 Too many pods"));
}

TEST_F(RefusedClassesTest, APodThatEndsMakesRoomThoughNoPluginHearsOfIt) {
  Begin();
  AddNode(test::MakeNode("n1").Label("zone", "east").Allocatable({{"cpu", "4"}, {"pods", "9"}}));
  AddNode(test::MakeNode("n2").Label("zone", "west").Allocatable({{"cpu", "100m"}, {"pods", "9"}}));
  const auto web = [](const char* name) {
    return Pod(name, "1").Label("app", "web").Spread(1, "zone", "DoNotSchedule", {{"app", "web"}});
  };
  const auto placed = web("web-0").OnNode("n1").Ptr();
  AddPod(placed);
  AddPod(web("web-1"));
  Turn();
  ASSERT_THAT(Bindings(), IsEmpty());
  // A pod that ends does not count any more.
  UpdatePod(placed, web("web-0").OnNode("n1").DeletedAt(Now()).Ptr());
  AddPod(web("web-2"));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/web-2 -> n1"));
}

TEST_F(RefusedClassesTest, AnAssumedPodThatIsDeletedMakesRoomThoughNoPluginHearsOfIt) {
  AddFilter("OnePod", Inputs::Of(0, {{Reach::kUsage}}));
  answers_.passes = [](const NodeView& node) { return node.pod_count() == 0; };
  Begin();
  hold_binds_ = true;
  AddNode(test::MakeNode("n1"));
  const auto first = test::MakePod().Name("first").Ptr();
  AddPod(first);
  AddPod(test::MakePod().Name("second"));
  Turn();
  ASSERT_THAT(Bindings(), ElementsAre("default/first -> n1"));
  DeletePod(first);
  AddPod(test::MakePod().Name("third"));
  Turn();
  EXPECT_THAT(Bindings(), Contains("default/third -> n1"));
}

TEST_F(RefusedClassesTest, WhereOnePodOfTheClassFitsTheNextIsEvaluated) {
  // Its answer changes though nothing does that it declares.
  bool open = false;
  AddFilter("Door", Inputs::Of(0, {{Reach::kNode}}));
  answers_.passes = [&open](const NodeView&) { return open; };
  Begin();
  AddNode(test::MakeNode("n1"));
  AddPod(test::MakePod().Name("first"));
  Advance(minutes(2));
  AddPod(test::MakePod().Name("second"));
  Turn();
  open = true;
  // Parked for so long that it is tried again.
  Advance(minutes(3) + seconds(40));
  ASSERT_THAT(Bindings(), ElementsAre("default/first -> n1"));
  AddPod(test::MakePod().Name("third"));
  Turn();
  EXPECT_THAT(Bindings(), Contains("default/third -> n1"));
}

TEST_F(RefusedClassesTest, NewPodsDoNotKeepARefusalAlive) {
  bool open = false;
  AddFilter("Door", Inputs::Of(0, {{Reach::kNode}}));
  answers_.passes = [&open](const NodeView&) { return open; };
  Begin();
  AddNode(test::MakeNode("n1"));
  // None waits for so long that it is tried again.
  std::vector<std::shared_ptr<const api::Pod>> pods;
  const auto add = [&] {
    pods.push_back(test::MakePod().Name("pod-" + std::to_string(pods.size())).Ptr());
    AddPod(pods.back());
    if (pods.size() > 4) DeletePod(pods[pods.size() - 5]);
  };
  add();
  Advance(seconds(30));
  open = true;
  for (int i = 0; i < 20; ++i) {
    add();
    Advance(seconds(30));
  }
  EXPECT_THAT(Bindings(), testing::Not(IsEmpty()));
}

TEST_F(RefusedClassesTest, AnUndeclaredFilterThatOnlyPreemptionAsksIsAskedForEachPod) {
  bool open = false;
  AddFilter("Undeclared", Inputs::Undeclared());
  answers_.passes = [&open](const NodeView&) { return open; };
  Begin();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "2"}, {"pods", "9"}}));
  AddPod(Pod("low", "2", 1).OnNode("n1"));
  AddPod(Pod("high-1", "2", 10));
  Turn();
  ASSERT_THAT(Deletions(), IsEmpty());
  ASSERT_EQ(answers_.filters, 1) << "only once the low one is imagined away";
  open = true;
  AddPod(Pod("high-2", "2", 10));
  Turn();
  EXPECT_THAT(Deletions(), ElementsAre("default/low"));
}

TEST_F(RefusedClassesTest, AnUndeclaredPreFilterIsAskedForEachPod) {
  Add("UndeclaredPreFilter", [this] { return std::make_unique<UndeclaredPreFilter>(answers_); });
  Begin();
  AddNode(test::MakeNode("n1").Taint("closed", "", "NoSchedule"));
  for (const char* name : {"a", "b", "c"}) AddPod(test::MakePod().Name(name));
  Turn();
  EXPECT_EQ(answers_.pre_filters, 3);
}

TEST_F(RefusedClassesTest, AnUndeclaredPostFilterIsAskedForEachPod) {
  Add("UndeclaredPostFilter", [this] { return std::make_unique<UndeclaredPostFilter>(answers_); });
  Begin();
  AddNode(test::MakeNode("n1").Taint("closed", "", "NoSchedule"));
  for (const char* name : {"a", "b", "c"}) AddPod(test::MakePod().Name(name));
  Turn();
  EXPECT_EQ(answers_.post_filters, 3);
}

TEST_F(RefusedClassesTest, APodThatIsNominatedOnlyInMemoryKeepsItsNomination) {
  Begin();
  refuse_deletions_ = 1;
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "2"}, {"pods", "9"}}));
  AddPod(Pod("low", "2", 1).OnNode("n1"));
  AddPod(Pod("high-1", "2", 10));
  AddPod(Pod("high-2", "2", 10));
  // The first is nominated, the second refused; then the eviction fails, and the first tries again.
  Turn();
  EXPECT_EQ(refuse_deletions_, 0);
  EXPECT_THAT(Deletions(), ElementsAre("default/low"));
  EXPECT_THAT(StatusPatches("high-1"), testing::Each(HasSubstr("\"nominatedNodeName\":\"n1\"")));
}

TEST_F(RefusedClassesTest, ARefusalDoesNotOutliveBackoffAndAGate) {
  Add("GateByName", [this] { return std::make_unique<GateByName>(answers_); });
  Begin();
  const auto closed = test::MakeNode("n1").Taint("closed", "", "NoSchedule").Ptr();
  AddNode(closed);
  AddPod(test::MakePod().Name("a"));
  Turn();
  answers_.gated = {"a"};
  UpdateNode(closed, test::MakeNode("n1").Ptr());
  Advance(seconds(5));
  ASSERT_EQ(scheduler().queue().counts().gated, 1u);
  AddPod(test::MakePod().Name("b"));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/b -> n1"));
}

TEST_F(RefusedClassesTest, WhomANominationRefusesDependsOnPriority) {
  Disable("DefaultPreemption");
  Begin();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "2"}, {"pods", "9"}}));
  AddPod(Pod("promised", "2", 10).NominatedNode("n1").Gate("later"));
  AddPod(Pod("low", "2", 1));
  Turn();
  ASSERT_THAT(Bindings(), IsEmpty());
  AddPod(Pod("high", "2", 20));
  Turn();
  EXPECT_THAT(Bindings(), ElementsAre("default/high -> n1"));
}

}  // namespace
}  // namespace berth::scheduler
