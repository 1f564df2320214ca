// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/default_preemption.h"

#include <gmock/gmock.h>

#include <chrono>
#include <set>

#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

// Every node has one status, but for those named.
class Statuses final : public NodeToStatus {
 public:
  Status Get(NodeRow row) const override {
    return unresolvable.contains(row) ? Status(Code::kUnschedulableAndUnresolvable)
                                      : Status(Code::kUnschedulable);
  }
  std::set<NodeRow> unresolvable;
};

class DefaultPreemptionTest : public testing::Test, protected test::PluginFixture {
 protected:
  using PlainSnapshot = test::PlainSnapshot;

  static test::PodBuilder Pod(std::string_view name, std::string_view cpu, int32_t priority) {
    return test::MakePod().Name(name).Req({{"cpu", cpu}}).Priority(priority);
  }
  static test::PodBuilder On(std::string_view node, std::string_view name, std::string_view cpu,
                             int32_t priority, int64_t started = 0) {
    return Pod(name, cpu, priority).OnNode(node).StartedAt(Time(seconds(started)));
  }

  void Make(const DefaultPreemptionArgs& args = {}) {
    plugin_ = std::make_unique<DefaultPreemption>(args, handle);
  }
  PostFilterResult PostFilter(const test::PodBuilder& builder, const PlainSnapshot& snapshot) {
    Prepare(builder, snapshot);
    return plugin_->PostFilter(state, *pod_, snapshot, statuses_);
  }
  PreemptionPreview Preview(const test::PodBuilder& builder, const PlainSnapshot& snapshot) {
    Prepare(builder, snapshot);
    return plugin_->Preview(state, *pod_, snapshot, statuses_);
  }
  void Prepare(const test::PodBuilder& builder, const PlainSnapshot& snapshot) {
    snapshot_ = &snapshot;
    handle.current_snapshot = &snapshot;
    handle.make_dry_run = [this](CycleState& cycle_state, const PodInfo& pod) {
      return std::make_unique<test::RoomDryRun>(
          *snapshot_, pod, cycle_state.reasons().Make(Code::kUnschedulable, "Insufficient cpu"));
    };
    handle.on_eviction_answered = [this](const EvictionAnswered& answered) {
      EXPECT_TRUE(plugin_->TakeAnswer(answered));
    };
    if (plugin_ == nullptr) Make();
    pod_ = Info(builder);
    handle.pending_pods = {pod_->pod};
  }
  // Who is asked to go, in order; each answer is yes.
  std::vector<std::string> EvictAll() {
    std::vector<std::string> names;
    for (size_t i = 0; i < handle.evictions.size(); ++i) {
      names.push_back(handle.evictions[i].pod->metadata.name);
      handle.evictions[i].done({});
      handle.RunPosted();
    }
    return names;
  }

  Statuses statuses_;
  std::unique_ptr<DefaultPreemption> plugin_;
  const PlainSnapshot* snapshot_ = nullptr;
  PodInfoPtr pod_;
};

TEST_F(DefaultPreemptionTest, EvictsTheFewestPodsThatMakeRoom) {
  const PlainSnapshot cluster =
      Cluster({test::MakeNode("a").Allocatable({{"cpu", "4"}})},
              {On("a", "small", "1", 1), On("a", "big", "2", 2), On("a", "other", "1", 3)});
  const PostFilterResult result = PostFilter(Pod("high", "2", 10), cluster);
  EXPECT_TRUE(result.status.ok());
  EXPECT_EQ(result.status.message(),
            "preemption: found a potential placement for pod on node a, preempting 1 victims");
  ASSERT_TRUE(result.nominating.has_value());
  EXPECT_EQ(result.nominating->nominated_node_name, "a");
  // They come back by priority: other (1 of 4 taken), not big (3 of 4), small (2 of 4).
  EXPECT_THAT(EvictAll(), ElementsAre("big"));
  EXPECT_THAT(handle.events, ElementsAre("big Preempted: Preempted by pod default/high on node a"));
}

TEST_F(DefaultPreemptionTest, EvictsTheLastVictimOnlyOnceTheOthersAreGoing) {
  const PlainSnapshot cluster =
      Cluster({test::MakeNode("a").Allocatable({{"cpu", "3"}})},
              {On("a", "x", "1", 1), On("a", "y", "1", 1), On("a", "z", "1", 1)});
  ASSERT_TRUE(PostFilter(Pod("high", "3", 10), cluster).status.ok());
  ASSERT_EQ(handle.evictions.size(), 2u);
  EXPECT_EQ(plugin_->PreEnqueue(*pod_).message(),
            "waiting for the preemption for this pod to be finished");
  handle.evictions[0].done({});
  handle.evictions[1].done({});
  handle.RunPosted();
  ASSERT_EQ(handle.evictions.size(), 3u);
  EXPECT_EQ(handle.evictions[2].message,
            "default-scheduler: preempting to accommodate a higher priority pod");
  EXPECT_FALSE(plugin_->PreEnqueue(*pod_).ok());
  handle.evictions[2].done({});
  handle.RunPosted();
  EXPECT_TRUE(plugin_->PreEnqueue(*pod_).ok());
  EXPECT_THAT(handle.activated, IsEmpty());
  EXPECT_EQ(handle.Metric("preemption_goroutines_execution_total", {"success"}), 1);
  EXPECT_EQ(handle.Metric("preemption_victims", {}), 3);
}

TEST_F(DefaultPreemptionTest, LetsThePodGoOnceItsLastVictimIsSeenGoing) {
  test::PodBuilder victim = On("a", "x", "1", 1);
  const PlainSnapshot before = Cluster({test::MakeNode("a").Allocatable({{"cpu", "1"}})}, {victim});
  ASSERT_TRUE(PostFilter(Pod("high", "1", 10), before).status.ok());
  EXPECT_FALSE(plugin_->PreEnqueue(*pod_).ok());
  const PlainSnapshot going = Cluster({test::MakeNode("a").Allocatable({{"cpu", "1"}})},
                                      {victim.DeletedAt(Time(seconds(5)))});
  handle.current_snapshot = &going;
  EXPECT_TRUE(plugin_->PreEnqueue(*pod_).ok());
  const PlainSnapshot gone = Cluster({test::MakeNode("a").Allocatable({{"cpu", "1"}})});
  handle.current_snapshot = &gone;
  EXPECT_TRUE(plugin_->PreEnqueue(*pod_).ok());
}

TEST_F(DefaultPreemptionTest, TriesThePodAgainWhenAnEvictionFails) {
  const PlainSnapshot cluster = Cluster({test::MakeNode("a").Allocatable({{"cpu", "2"}})},
                                        {On("a", "x", "1", 1), On("a", "y", "1", 1)});
  ASSERT_TRUE(PostFilter(Pod("high", "2", 10), cluster).status.ok());
  handle.evictions[0].done({Code::kError, "no"});
  handle.RunPosted();
  EXPECT_EQ(handle.evictions.size(), 1u) << "the last victim is spared";
  EXPECT_THAT(handle.activated, ElementsAre("default/high"));
  EXPECT_TRUE(plugin_->PreEnqueue(*pod_).ok());
  EXPECT_THAT(handle.events, IsEmpty());
}

TEST_F(DefaultPreemptionTest, OfManyVictimsSixteenAreAskedAtATimeAndNoMoreOnceOneFails) {
  std::vector<api::Pod> pods;
  for (int i = 0; i < 40; ++i) pods.push_back(On("a", "x" + std::to_string(i), "1", 1));
  const PlainSnapshot cluster = Cluster({test::MakeNode("a").Allocatable({{"cpu", "40"}})}, pods);
  ASSERT_TRUE(PostFilter(Pod("high", "40", 10), cluster).status.ok());
  ASSERT_EQ(handle.evictions.size(), 16u);
  handle.evictions[0].done({});
  handle.RunPosted();
  ASSERT_EQ(handle.evictions.size(), 17u);
  handle.evictions[1].done({Code::kError, "no"});
  for (size_t i = 2; i < 17; ++i) handle.evictions[i].done({});
  handle.RunPosted();
  EXPECT_EQ(handle.evictions.size(), 17u);
  EXPECT_THAT(handle.activated, ElementsAre("default/high"));
}

TEST_F(DefaultPreemptionTest, APodThatHadGoneAlreadyWasNotPreempted) {
  const PlainSnapshot cluster =
      Cluster({test::MakeNode("a").Allocatable({{"cpu", "1"}})}, {On("a", "x", "1", 1)});
  ASSERT_TRUE(PostFilter(Pod("high", "1", 10), cluster).status.ok());
  ASSERT_EQ(handle.evictions.size(), 1u);
  handle.evictions[0].done({Code::kSkip});
  handle.RunPosted();
  EXPECT_THAT(handle.events, IsEmpty());
  EXPECT_EQ(handle.Metric("preemption_goroutines_execution_total", {"success"}), 1);
  EXPECT_TRUE(plugin_->PreEnqueue(*pod_).ok());
}

TEST_F(DefaultPreemptionTest, AnswersToAnEarlierRunDoNotCountForTheNewOne) {
  const PlainSnapshot cluster =
      Cluster({test::MakeNode("a").Allocatable({{"cpu", "3"}})},
              {On("a", "x", "1", 1), On("a", "y", "1", 1), On("a", "z", "1", 1)});
  ASSERT_TRUE(PostFilter(Pod("high", "3", 10), cluster).status.ok());
  ASSERT_EQ(handle.evictions.size(), 2u);
  // As a pod that is not asked about at PreEnqueue: it is tried, and preempts, again.
  ASSERT_TRUE(PostFilter(Pod("high", "3", 10), cluster).status.ok());
  ASSERT_EQ(handle.evictions.size(), 4u);
  handle.evictions[0].done({});
  handle.evictions[1].done({Code::kError, "late"});
  handle.RunPosted();
  EXPECT_EQ(handle.evictions.size(), 4u) << "the last victim is asked before the others have gone";
  EXPECT_THAT(handle.activated, IsEmpty());
  EXPECT_EQ(handle.events.size(), 1u) << "what was evicted is told all the same";
  handle.evictions[2].done({});
  handle.evictions[3].done({});
  handle.RunPosted();
  ASSERT_EQ(handle.evictions.size(), 5u);
  handle.evictions[4].done({});
  handle.RunPosted();
  EXPECT_EQ(handle.Metric("preemption_goroutines_execution_total", {"success"}), 1);
  EXPECT_EQ(handle.Metric("preemption_goroutines_execution_total", {"error"}), 0);
}

TEST_F(DefaultPreemptionTest, ASuccessorKnowsOfTheEvictionsUnderWay) {
  const PlainSnapshot cluster = Cluster({test::MakeNode("a").Allocatable({{"cpu", "2"}})},
                                        {On("a", "x", "1", 1), On("a", "y", "1", 1)});
  ASSERT_TRUE(PostFilter(Pod("high", "2", 10), cluster).status.ok());
  const std::unique_ptr<DefaultPreemption> predecessor = std::move(plugin_);
  Make();
  EXPECT_TRUE(plugin_->PreEnqueue(*pod_).ok()) << "it knows of none by itself";
  plugin_->TakeOver(*predecessor);
  EXPECT_FALSE(plugin_->PreEnqueue(*pod_).ok());
  EXPECT_THAT(EvictAll(), testing::SizeIs(2));
  EXPECT_TRUE(plugin_->PreEnqueue(*pod_).ok());
}

TEST_F(DefaultPreemptionTest, LetsAPodInPreBindGiveUpItsPlaceWithoutDeletingIt) {
  const PlainSnapshot cluster =
      Cluster({test::MakeNode("a").Allocatable({{"cpu", "1"}})}, {On("a", "x", "1", 1)});
  handle.pods_in_pre_bind = {"default/x"};
  ASSERT_TRUE(PostFilter(Pod("high", "1", 10), cluster).status.ok());
  handle.RunPosted();
  EXPECT_THAT(handle.evictions, IsEmpty());
  EXPECT_THAT(handle.events, ElementsAre("x Preempted: Preempted by pod default/high on node a "
                                         "(in kube-scheduler memory)."));
  EXPECT_THAT(handle.activated, ElementsAre("default/high"));
}

TEST_F(DefaultPreemptionTest, SaysWhyItDoesNotHelp) {
  statuses_.unresolvable = {0};
  const PlainSnapshot cluster = Cluster({test::MakeNode("tainted").Allocatable({{"cpu", "1"}}),
                                         test::MakeNode("important").Allocatable({{"cpu", "1"}}),
                                         test::MakeNode("small").Allocatable({{"cpu", "1"}})},
                                        {On("important", "x", "1", 10), On("small", "y", "1", 1)});
  const PostFilterResult result = PostFilter(Pod("high", "2", 10), cluster);
  EXPECT_EQ(result.status.code(), Code::kUnschedulable);
  EXPECT_EQ(
      result.status.message(),
      "preemption: 0/3 nodes are available: 1 Insufficient cpu, 1 No preemption victims found "
      "for incoming pod, 1 Preemption is not helpful for scheduling.");
  ASSERT_TRUE(result.nominating.has_value());
  EXPECT_EQ(result.nominating->nominated_node_name, "");
}

TEST_F(DefaultPreemptionTest, HonoursPreemptionPolicyNever) {
  const PlainSnapshot cluster =
      Cluster({test::MakeNode("a").Allocatable({{"cpu", "1"}})}, {On("a", "x", "1", 1)});
  const PostFilterResult result =
      PostFilter(Pod("high", "1", 10).PreemptionPolicy("Never"), cluster);
  EXPECT_EQ(result.status.code(), Code::kUnschedulable);
  EXPECT_EQ(result.status.message(), "preemption: not eligible due to preemptionPolicy=Never.");
  EXPECT_FALSE(result.nominating.has_value());
}

TEST_F(DefaultPreemptionTest, WaitsForAPodThatPreemptionIsEndingOnTheNominatedNode) {
  api::Pod going = On("a", "x", "1", 1).DeletedAt(Time(seconds(5)));
  const auto eligible = [&](const api::Pod& placed) {
    const PlainSnapshot cluster =
        Cluster({test::MakeNode("a").Allocatable({{"cpu", "1"}})}, {placed});
    return PostFilter(Pod("high", "1", 10).NominatedNode("a"), cluster).status.ok();
  };
  EXPECT_TRUE(eligible(going)) << "somebody else deleted it";
  going.status.conditions.push_back(
      {"DisruptionTarget", "True", "PreemptionByScheduler", "", 0, {}});
  EXPECT_FALSE(eligible(going));
  statuses_.unresolvable = {0};
  const PlainSnapshot cluster = Cluster({test::MakeNode("a").Allocatable({{"cpu", "1"}})}, {going});
  EXPECT_EQ(PostFilter(Pod("high", "1", 10).NominatedNode("a"), cluster).status.message(),
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.");
}

TEST_F(DefaultPreemptionTest, SparesPodsThatABudgetProtectsWhereItCan) {
  api::PodDisruptionBudget budget;
  budget.metadata.name = "web";
  budget.metadata.namespace_ = "default";
  budget.spec.selector = test::MakeSelector({{"app", "web"}});
  budget.status.disruptions_allowed = 0;
  handle.plain_listers.Set(budget);
  // The protected pod is the less important one, and comes back first all the same.
  const PlainSnapshot cluster = Cluster(
      {test::MakeNode("a").Allocatable({{"cpu", "2"}})},
      {On("a", "web", "1", 1).Label("app", "web"), On("a", "job", "1", 2).Label("app", "job")});
  ASSERT_TRUE(PostFilter(Pod("high", "1", 10), cluster).status.ok());
  EXPECT_THAT(EvictAll(), ElementsAre("job"));
}

TEST_F(DefaultPreemptionTest, ClearsTheNominationsOfLessImportantPods) {
  const PlainSnapshot cluster =
      Cluster({test::MakeNode("a").Allocatable({{"cpu", "1"}})}, {On("a", "x", "1", 1)});
  handle.nominated_pods = {{"a", Info(Pod("lower", "1", 9))},
                           {"a", Info(Pod("equal", "1", 10))},
                           {"b", Info(Pod("elsewhere", "1", 9))}};
  ASSERT_TRUE(PostFilter(Pod("high", "1", 10), cluster).status.ok());
  EXPECT_THAT(handle.cleared_nominations, ElementsAre("default/lower"));
}

// kube-scheduler leaves it then until the pod is tried again (docs/differences.md).
TEST_F(DefaultPreemptionTest, ClearsTheNominationsWhereAllVictimsAreGoingAlready) {
  const api::Pod going = On("a", "x", "1", 1).DeletedAt(Time(seconds(5)));
  const PlainSnapshot cluster = Cluster({test::MakeNode("a").Allocatable({{"cpu", "1"}})}, {going});
  handle.nominated_pods = {{"a", Info(Pod("lower", "1", 9))}};
  ASSERT_TRUE(PostFilter(Pod("high", "1", 10), cluster).status.ok());
  EXPECT_THAT(handle.cleared_nominations, ElementsAre("default/lower"));
}

TEST_F(DefaultPreemptionTest, PreviewTellsOfAllCandidatesAndTheBest) {
  Make({.min_candidate_nodes_percentage = 0, .min_candidate_nodes_absolute = 1});
  const PlainSnapshot cluster = Cluster(
      {test::MakeNode("a").Allocatable({{"cpu", "1"}}),
       test::MakeNode("b").Allocatable({{"cpu", "1"}}),
       test::MakeNode("c").Allocatable({{"cpu", "1"}}),
       test::MakeNode("d").Allocatable({{"cpu", "1"}})},
      {On("a", "w", "1", 1), On("b", "x", "1", 2), On("c", "y", "1", 20), On("d", "z", "1", 1)});
  const PreemptionPreview preview = Preview(Pod("high", "1", 10), cluster);
  ASSERT_EQ(preview.candidates.size(), 3u);
  const char* victims[] = {"w", "x", "z"};
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(preview.candidates[i].victims.size(), 1u);
    EXPECT_EQ(preview.candidates[i].victims.front()->pod->metadata.name, victims[i]);
  }
  EXPECT_THAT(preview.best, ElementsAre(0, 2));
  EXPECT_EQ(preview.message, "");
}

TEST_F(DefaultPreemptionTest, PreviewSaysWhatPostFilterWould) {
  const struct {
    const char* name;
    test::PodBuilder pod;
  } cases[] = {
      {"no victims", Pod("low", "2", 1)},
      {"too large", Pod("large", "9", 10)},
      {"never", Pod("never", "2", 10).PreemptionPolicy("Never")},
  };
  const PlainSnapshot cluster =
      Cluster({test::MakeNode("a").Allocatable({{"cpu", "2"}})}, {On("a", "x", "2", 1)});
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string message = Preview(c.pod, cluster).message;
    EXPECT_NE(message, "");
    EXPECT_EQ(message, PostFilter(c.pod, cluster).status.message());
  }
}

TEST_F(DefaultPreemptionTest, PreviewChangesNothing) {
  const PlainSnapshot cluster = Cluster({test::MakeNode("a").Allocatable({{"cpu", "1"}}),
                                         test::MakeNode("b").Allocatable({{"cpu", "1"}})},
                                        {On("a", "x", "1", 1), On("b", "y", "1", 1)});
  Random untouched = handle.seeded_random;
  EXPECT_EQ(Preview(Pod("high", "1", 10), cluster).best.size(), 2u);
  EXPECT_THAT(handle.evictions, IsEmpty());
  EXPECT_THAT(handle.events, IsEmpty());
  EXPECT_EQ(handle.Metric("preemption_attempts_total", {}), 0);
  EXPECT_EQ(handle.Metric("preemption_victims", {}), 0);
  EXPECT_TRUE(plugin_->PreEnqueue(*pod_).ok());
  EXPECT_EQ(handle.seeded_random.Below(uint64_t{1} << 40), untouched.Below(uint64_t{1} << 40));
}

TEST(DisruptionBudgetsTest, CountEvictionsAgainstWhatTheyAllow) {
  test::PlainListers listers;
  api::PodDisruptionBudget budget;
  budget.metadata.name = "web";
  budget.metadata.namespace_ = "default";
  budget.spec.selector = test::MakeSelector({{"app", "web"}});
  budget.status.disruptions_allowed = 1;
  budget.status.disrupted_pods = {{"granted", Time()}};
  listers.Set(budget);
  budget.metadata.name = "empty";
  budget.spec.selector = api::LabelSelector();
  budget.status.disruptions_allowed = 0;
  listers.Set(budget);
  test::PlainResourceNames names;
  const auto pod = [&](std::string_view name, std::string_view app) {
    return test::MakePod().Name(name).Label("app", app).Info(names);
  };
  DisruptionBudgets budgets(listers);
  for (int round = 0; round < 2; ++round) {
    SCOPED_TRACE(round);
    budgets.Restart();
    EXPECT_FALSE(budgets.Violates(*pod("job", "job")));
    EXPECT_FALSE(budgets.Violates(*pod("granted", "web")));
    EXPECT_FALSE(budgets.Violates(*pod("first", "web")));
    EXPECT_TRUE(budgets.Violates(*pod("second", "web")));
  }
  EXPECT_FALSE(budgets.Violates(*test::MakePod().Name("bare").Info(names)));
}

TEST(PickCandidateTest, GoesByEachCriterionInTurn) {
  test::PlainResourceNames names;
  std::vector<PodInfoPtr> pods;
  const auto victim = [&](int32_t priority, int64_t started) {
    pods.push_back(
        test::MakePod().Priority(priority).StartedAt(Time(seconds(started))).Info(names));
    return pods.back().get();
  };
  const auto candidate = [&](int64_t violations, std::vector<const PodInfo*> victims) {
    return Candidate{0, std::move(victims), violations};
  };
  struct Case {
    const char* what;
    std::vector<Candidate> candidates;
    size_t best;
  };
  const std::vector<Case> cases = {
      {"fewest broken budgets",
       {candidate(1, {victim(1, 9)}), candidate(0, {victim(5, 1), victim(5, 1)})},
       1},
      {"lowest highest priority",
       {candidate(0, {victim(5, 9)}), candidate(0, {victim(4, 1), victim(4, 1)})},
       1},
      {"lowest sum", {candidate(0, {victim(5, 9), victim(4, 9)}), candidate(0, {victim(5, 1)})}, 1},
      {"a negative priority counts as a victim, too",
       {candidate(0, {victim(-1, 9), victim(-5, 9)}), candidate(0, {victim(-1, 1)})},
       1},
      {"latest start of the earliest among the most important",
       {candidate(0, {victim(5, 3), victim(4, 9)}), candidate(0, {victim(5, 4), victim(4, 1)})},
       1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Random random(1);
    EXPECT_EQ(PickCandidate(c.candidates, Time(seconds(100)), random), c.best);
  }
}

TEST(PickCandidateTest, DrawsAmongEquals) {
  test::PlainResourceNames names;
  const PodInfoPtr pod = test::MakePod().StartedAt(Time(seconds(1))).Info(names);
  const std::vector<Candidate> equal = {{0, {pod.get()}, 0}, {1, {pod.get()}, 0}};
  std::set<size_t> seen;
  Random random(1);
  for (int i = 0; i < 50; ++i) seen.insert(PickCandidate(equal, Time(seconds(100)), random));
  EXPECT_THAT(seen, ElementsAre(0, 1));
}

TEST(MoreImportantTest, PriorityThenKindOfGroupThenSizeThenAge) {
  const Time now(seconds(100));
  test::PlainResourceNames names;
  const PodInfoPtr old_pod = test::MakePod().StartedAt(Time(seconds(1))).Info(names);
  const PodInfoPtr young = test::MakePod().StartedAt(Time(seconds(2))).Info(names);
  const PodInfoPtr pending = test::MakePod().Info(names);
  const auto alone = [](const PodInfoPtr& pod, int32_t priority = 0) {
    return Victim(PlacedPod{pod.get(), 0}, priority, Disrupts::kPod);
  };
  const std::vector<PlacedPod> two = {{young.get(), 0}, {pending.get(), 1}};
  const std::vector<PlacedPod> older_two = {{pending.get(), 0}, {old_pod.get(), 1}};
  const std::vector<PlacedPod> one = {{old_pod.get(), 0}};
  const std::vector<Victim> ordered = {alone(pending, 1),
                                       Victim(one, 0, Disrupts::kCompositePodGroup),
                                       Victim(older_two, 0, Disrupts::kPodGroup),
                                       Victim(two, 0, Disrupts::kPodGroup),
                                       Victim(one, 0, Disrupts::kPodGroup),
                                       Victim(PlacedPod{young.get(), 0}, 0, Disrupts::kPodGroup),
                                       alone(old_pod),
                                       alone(young),
                                       alone(pending)};
  for (size_t i = 0; i < ordered.size(); ++i) {
    for (size_t j = 0; j < ordered.size(); ++j) {
      EXPECT_EQ(MoreImportant(ordered[i], ordered[j], now), i < j) << i << " and " << j;
    }
  }
}

TEST(DefaultPreemptionArgsTest, SaysWhichFieldIsWrong) {
  struct Case {
    ConfigValue::Map args;
    std::string error;
  };
  const auto number = [](int64_t value) { return ConfigValue(value); };
  const std::vector<Case> cases = {
      {{}, ""},
      {{{"minCandidateNodesPercentage", number(101)}},
       "minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"},
      {{{"minCandidateNodesAbsolute", number(-1)}},
       "minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)"},
      {{{"minCandidateNodesPercentage", number(0)}, {"minCandidateNodesAbsolute", number(0)}},
       "[minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
       "minCandidateNodesAbsolute, minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at "
       "the same time as minCandidateNodesPercentage]"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.error);
    const auto args = kDefaultPreemptionArgs.parse(ConfigValue(c.args));
    EXPECT_EQ(args ? "" : args.error().message, c.error);
  }
}

}  // namespace
}  // namespace berth::plugins
