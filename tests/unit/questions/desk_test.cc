// SPDX-License-Identifier: Apache-2.0
#include "src/questions/desk.h"

#include <gmock/gmock.h>

#include <future>
#include <nlohmann/json.hpp>

#include "src/base/clock.h"
#include "src/base/virtual_time.h"
#include "src/documents/parse.h"
#include "src/questions/answers.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::questions {
namespace {

using informers::InformerEvent;
using informers::Kind;
using testing::HasSubstr;

constexpr Duration kPatience = std::chrono::seconds(20);

// A cluster of two kinds that tells of what it has at once, on the caller's thread.
class FakeCluster final : public LiveCluster {
 public:
  Result<std::unique_ptr<simulator::Simulation>> MakeSimulation() override {
    if (broken) return Fail("no profile");
    return simulator::Simulation::Make(options, registry);
  }
  size_t num_kinds() const override { return 2; }
  void Follow(ChangeSink sink) override {
    base::MutexLock lock(mutex_);
    sink_ = std::move(sink);
    for (const ClusterChange& change : changes_) sink_(change);
    if (!synced) return;
    for (const Kind kind : {Kind::kNode, Kind::kPod}) {
      sink_(InformerEvent{kind, informers::EventType::kSynced, {}, {}, {}});
    }
  }
  void Unfollow() override {
    base::MutexLock lock(mutex_);
    sink_ = nullptr;
    if (++unfollowed_count == 1) unfollowed.set_value();
  }

  void Put(api::ObjectPtr object) {
    InformerEvent event;
    event.kind = simulator::KindOf(object);
    event.new_object = std::move(object);
    Add(std::move(event));
  }
  void Add(ClusterChange change) {
    base::MutexLock lock(mutex_);
    changes_.push_back(change);
    if (sink_) sink_(std::move(change));
  }

  // Set before the first question.
  simulator::SimulationOptions options = test::DefaultSimulationOptions();
  std::vector<PluginRegistration> registry = plugins::InTreeRegistry();
  bool broken = false;
  bool synced = true;
  std::promise<void> unfollowed;  // for the first time
  std::atomic<size_t> unfollowed_count = 0;

 private:
  base::Mutex mutex_;
  std::vector<ClusterChange> changes_;
  ChangeSink sink_;
};

std::vector<std::shared_ptr<const api::Pod>> Pods(std::string_view json) {
  const auto document = documents::ParseJson(json, "");
  EXPECT_TRUE(document);
  const auto pods = ParsePods(*document);
  EXPECT_TRUE(pods) << pods.error().message;
  return *pods;
}

class DeskTest : public testing::Test {
 protected:
  DeskTest() {
    cluster_.Put(test::MakeNode("n1").Allocatable({{"cpu", "4"}, {"pods", "10"}}).Ptr());
  }
  Desk& desk() {
    if (!desk_) desk_.emplace(cluster_, clock_, limits_);
    return *desk_;
  }
  std::future<Reply> Ask(Size size, Desk::How how,
                         std::shared_ptr<const std::atomic<bool>> gone = nullptr) {
    const auto promise = std::make_shared<std::promise<Reply>>();
    desk().Ask(size, std::move(how), std::move(gone),
               [promise](Reply reply) { promise->set_value(std::move(reply)); });
    return promise->get_future();
  }
  static Reply Get(std::future<Reply> reply) {
    if (reply.wait_for(kPatience) != std::future_status::ready) return {0, "no reply"};
    return reply.get();
  }
  Reply Judge(std::string_view json) {
    return Get(Ask(Size::kSmall, [pods = Pods(json)](Mirror& mirror, const auto& spent) {
      return JudgePods(pods, mirror, spent);
    }));
  }
  Reply WhatIf(std::string_view json, Form form = Form::kJson) {
    const auto question = questions::ParseWhatIf(json);
    EXPECT_TRUE(question);
    return Get(Ask(Size::kLarge, [&, question = *question](Mirror& mirror, const auto& spent) {
      return AnswerWhatIf(question, form, cluster_, mirror, spent);
    }));
  }
  Reply FindPlan(std::string_view json, Form form = Form::kJson,
                 std::shared_ptr<const std::atomic<bool>> gone = nullptr) {
    const auto question = ParsePlanQuestion(json);
    EXPECT_TRUE(question);
    const auto how = [&, question = *question](Mirror& mirror, const auto& spent) {
      return AnswerPlan(question, form, cluster_, mirror, spent);
    };
    return Get(Ask(Size::kLarge, how, std::move(gone)));
  }
  // One that is under way now, until `go` is set.
  std::future<Reply> AskBusy(std::shared_future<void> go) {
    const auto begun = std::make_shared<std::promise<void>>();
    auto reply = Ask(Size::kSmall, [begun, go](Mirror&, const auto&) {
      begun->set_value();
      go.wait();
      return Reply{200, "waited"};
    });
    EXPECT_EQ(begun->get_future().wait_for(kPatience), std::future_status::ready);
    return reply;
  }

  base::RealClock clock_;
  FakeCluster cluster_;
  DeskLimits limits_;
  std::optional<Desk> desk_;
};

constexpr std::string_view kPods = R"({"pods": [
  {"metadata": {"name": "fits"}, "spec": {"containers": [
    {"name": "c", "resources": {"limits": {"cpu": "3"}}}]}},
  {"metadata": {"name": "large"}, "spec": {"containers": [
    {"name": "c", "resources": {"requests": {"cpu": "5"}}}]}},
  {"metadata": {"name": "other"}, "spec": {"schedulerName": "other", "containers": []}}]})";

TEST_F(DeskTest, PodsAreJudgedEachAlone) {
  const Reply reply = Judge(kPods);
  EXPECT_EQ(reply.code, 200);
  EXPECT_EQ(reply.text,
            R"({"pods":[{"best":["n1"],"bestNodes":1,"feasibleNodes":1,"pod":"default/fits",)"
            R"("profile":"default-scheduler","result":"scheduled"},)"
            R"({"message":"0/1 nodes are available: 1 Insufficient cpu.","pod":"default/large",)"
            R"("profile":"default-scheduler","result":"unschedulable"},)"
            R"({"pod":"default/other","result":"ignored"}]})"
            "\n");
}

TEST_F(DeskTest, AnAnswerOfOnePodTellsWhatIsInTheWay) {
  cluster_.Put(test::MakePod().Name("there").OnNode("n1").HostPort(80).Ptr());
  cluster_.Put(test::MakePod().Name("late").HostPort(80).Ptr());
  const auto explain = [](Mirror& mirror, const auto& spent) {
    return ExplainPod({.pod = "default/late"}, explain::PodPosition{}, mirror, spent);
  };
  EXPECT_THAT(Get(Ask(Size::kSmall, explain)).text,
              HasSubstr(R"("inTheWay":{"n1":"pod default/there has host port 80/TCP"})"));
}

TEST_F(DeskTest, AnAnswerKnowsWhatHasChangedSinceTheOneBefore) {
  EXPECT_THAT(Judge(kPods).text, HasSubstr(R"("best":["n1"])"));
  cluster_.Put(test::MakePod().Name("a").Req({{"cpu", "3"}}).OnNode("n1").Ptr());
  EXPECT_THAT(Judge(kPods).text, Not(HasSubstr("best")));
  cluster_.Put(test::MakeNode("n2").Allocatable({{"cpu", "8"}, {"pods", "10"}}).Ptr());
  EXPECT_THAT(Judge(kPods).text, HasSubstr(R"("best":["n2"])"));
  EXPECT_EQ(desk().num_mirrors(), 1u);
}

TEST_F(DeskTest, WhatTheSchedulerHasDecidedCounts) {
  const auto pod = test::MakePod().Name("a").Req({{"cpu", "3"}}).Ptr();
  cluster_.Add(scheduler::PodAssignment{pod, "n1"});
  cluster_.Put(pod);
  EXPECT_THAT(Judge(kPods).text, Not(HasSubstr("best")));
  cluster_.Add(scheduler::PodAssignment{pod, ""});
  EXPECT_THAT(Judge(kPods).text, HasSubstr(R"("best":["n1"])"));
}

TEST_F(DeskTest, AWhatIfIsAnsweredAndLeavesTheMirrorAsItWas) {
  cluster_.Put(test::MakePod().Name("a").Req({{"cpu", "3"}}).OnNode("n1").Ptr());
  const Reply reply = WhatIf(R"({"addNodes": {"count": 1, "like": "n1"}, "fill": {"pod": {
    "metadata": {"name": "p"}, "spec": {"containers": [
      {"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}}})");
  ASSERT_EQ(reply.code, 200) << reply.text;
  const auto answer = nlohmann::json::parse(reply.text);
  EXPECT_EQ(answer["before"]["nodes"], 1);
  EXPECT_EQ(answer["after"]["nodes"], 2);
  EXPECT_EQ(answer["filled"]["pods"], 5);
  EXPECT_THAT(WhatIf(R"({"drain": ["n1"]})", Form::kTable).text, HasSubstr("Drain of n1"));
  EXPECT_THAT(Judge(kPods).text, Not(HasSubstr("best")));
  EXPECT_EQ(desk().num_mirrors(), 1u);
}

TEST_F(DeskTest, APlanIsThatOfTheCommandLineAndLeavesTheMirrorAsItWas) {
  const auto replica = [this](std::string_view name, std::string_view cpu, std::string_view node) {
    cluster_.Put(test::MakePod()
                     .Name(name)
                     .Req({{"cpu", cpu}})
                     .Owner("ReplicaSet", "web", "uid")
                     .OnNode(node)
                     .Ptr());
  };
  cluster_.Put(test::MakeNode("n2").Allocatable({{"cpu", "4"}, {"pods", "10"}}).Ptr());
  replica("a", "1", "n1");
  replica("b", "2", "n1");
  replica("c", "2", "n2");
  cluster_.Put(test::MakePod().Name("big").Req({{"cpu", "3"}}).Ptr());
  const Reply reply = FindPlan(R"({"goal": "fit=big"})");
  ASSERT_EQ(reply.code, 200) << reply.text;
  const auto plan = nlohmann::json::parse(reply.text);
  EXPECT_EQ(plan["goal"], "fit=default/big");
  EXPECT_EQ(plan["outcome"], "found");
  EXPECT_EQ(plan["moves"][0]["pod"], "default/b");
  EXPECT_EQ(plan["moves"][0]["to"], "n2");
  EXPECT_EQ(plan["moves"][1]["to"], "n1");
  EXPECT_EQ(plan["proved"], true);
  EXPECT_TRUE(plan.contains("made")) << "it is of a live cluster";
  EXPECT_THAT(FindPlan(R"({"goal": "fit=big"})", Form::kTable).text,
              testing::StartsWith("default/big fits after 1 move; no plan has fewer.\n"));
  EXPECT_THAT(Judge(kPods).text, Not(HasSubstr("best"))) << "no move is made";
  EXPECT_EQ(desk().num_mirrors(), 1u);
}

TEST_F(DeskTest, WhatAGoalNamesMustBeThere) {
  for (const auto& [goal, message] :
       {std::pair("fit=none", "goal: the cluster has no pod default/none"),
        std::pair("empty=n9", "goal: the cluster has no node n9")}) {
    const Reply reply = FindPlan(R"({"goal": ")" + std::string(goal) + "\"}");
    EXPECT_EQ(reply.code, 400);
    EXPECT_EQ(reply.text, message);
  }
}

TEST_F(DeskTest, ThePodThatHasWaitedForLongerComesFirstWhateverItsName) {
  for (const auto& [name, created] : {std::pair("a", 9), {"b", 2}}) {
    const Time at{std::chrono::hours(created)};
    cluster_.Put(test::MakePod().Name(name).CreatedAt(at).Req({{"cpu", "3"}}).Ptr());
  }
  const auto answer = nlohmann::json::parse(WhatIf(R"({"removeNodes": ["n1"]})").text);
  ASSERT_EQ(answer["pods"].size(), 1u);
  EXPECT_EQ(answer["pods"][0]["pod"], "default/b");
}

TEST_F(DeskTest, WhatTheQuestionRefersToAndIsNotThereIsNamed) {
  constexpr std::string_view kPod = R"({"metadata": {"name": "p"}, "spec": {
    "runtimeClassName": "kata", "containers": [{"name": "c"}],
    "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]}})";
  constexpr const char* kKata = "RuntimeClasses of manifests were not read: kata; ";
  constexpr const char* kGone = "PersistentVolumeClaims of pods were not read: default/gone; ";
  const std::string fill = R"({"fill": {"most": 1, "pod": )" + std::string(kPod) + "}}";
  for (const std::string& text :
       {WhatIf(fill).text, Judge(R"({"pods": [)" + std::string(kPod) + "]}").text}) {
    const auto answer = nlohmann::json::parse(text);
    ASSERT_EQ(answer["warnings"].size(), 2u) << text;
    EXPECT_THAT(answer["warnings"][0], testing::StartsWith(kKata));
    EXPECT_THAT(answer["warnings"][1], testing::StartsWith(kGone));
  }
  EXPECT_THAT(WhatIf(fill, Form::kTable).text,
              testing::StartsWith("Warning: " + std::string(kKata)));
}

TEST_F(DeskTest, WhatTheQuestionNamesMustBeThere) {
  const Reply reply = WhatIf(R"({"drain": ["n9"]})");
  EXPECT_EQ(reply.code, 400);
  EXPECT_EQ(reply.text, "drain: the cluster has no node n9");
}

TEST_F(DeskTest, AnotherConfigurationIsForOthersToTry) {
  const Reply reply = WhatIf(R"({"newConfig": "apiVersion: v1"})");
  EXPECT_EQ(reply.code, 400);
  EXPECT_THAT(reply.text, testing::StartsWith("newConfig: Forbidden: "));
}

TEST_F(DeskTest, WithoutTimeThereIsNoAnswer) {
  limits_.small_time = limits_.large_time = Duration(-1);
  EXPECT_EQ(Judge(kPods).code, 504);
  EXPECT_EQ(WhatIf(R"({"drain": ["n1"]})").code, 504);
  EXPECT_EQ(FindPlan(R"({"goal": "empty=n1"})").code, 504);
}

// Takes a second for each node.
class SecondANode final : public FilterPlugin {
 public:
  SecondANode(base::VirtualClock& clock, std::atomic<int>& asked) : clock_(clock), asked_(asked) {}
  Status Filter(const CycleState&, const PodInfo&, const NodeView&) const override {
    clock_.Advance(std::chrono::seconds(1));
    ++asked_;
    return {};
  }

 private:
  base::VirtualClock& clock_;
  std::atomic<int>& asked_;
};

TEST_F(DeskTest, TheLimitHoldsWithinADecision) {
  base::VirtualClock clock;  // the questions' thread's
  std::atomic<int> asked = 0;
  cluster_.registry.push_back({"Slow", [&](const ConfigValue&, Handle&) {
                                 return Result<Plugin>(
                                     AsPlugin("Slow", std::make_unique<SecondANode>(clock, asked)));
                               }});
  cluster_.options.scheduler.configuration.profiles[0].plugins.filter.enabled.push_back({"Slow"});
  for (int i = 2; i <= 100; ++i) {
    cluster_.Put(
        test::MakeNode("n" + std::to_string(i)).Allocatable({{"cpu", "4"}, {"pods", "10"}}).Ptr());
  }
  desk_.emplace(cluster_, clock, limits_);
  EXPECT_EQ(Judge(kPods).code, 504);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(WhatIf(R"({"fill": {"pod": {"metadata": {"name": "p"}, "spec": {"containers": [
    {"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}}})")
                .code,
            504);
  EXPECT_LE(asked, 2 + 8);
  cluster_.Put(test::MakePod().Name("waits").Ptr());
  EXPECT_EQ(FindPlan(R"({"goal": "fit=waits"})").code, 504);
  EXPECT_LE(asked, 2 + 8 + 8);
  desk_.reset();
}

// Whoever asks goes while the first node is filtered.
class GoesThen final : public FilterPlugin {
 public:
  GoesThen(std::atomic<bool>& gone, std::atomic<int>& asked) : gone_(gone), asked_(asked) {}
  Status Filter(const CycleState&, const PodInfo&, const NodeView&) const override {
    gone_ = true;
    ++asked_;
    return {};
  }

 private:
  std::atomic<bool>& gone_;
  std::atomic<int>& asked_;
};

TEST_F(DeskTest, ASearchForAPlanEndsOnceTheClientHasGone) {
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  std::atomic<int> asked = 0;
  cluster_.registry.push_back({"Goes", [&](const ConfigValue&, Handle&) {
                                 return Result<Plugin>(
                                     AsPlugin("Goes", std::make_unique<GoesThen>(*gone, asked)));
                               }});
  cluster_.options.scheduler.configuration.profiles[0].plugins.filter.enabled.push_back({"Goes"});
  cluster_.Put(test::MakeNode("n2").Allocatable({{"cpu", "4"}, {"pods", "10"}}).Ptr());
  cluster_.Put(test::MakePod().Name("waits").Ptr());
  EXPECT_EQ(FindPlan(R"({"goal": "fit=waits"})", Form::kJson, gone).code, 504);
  EXPECT_EQ(asked, 1);
  desk_.reset();
}

TEST_F(DeskTest, BeyondTheBoundQuestionsAreRefusedAndSmallOnesGoFirst) {
  limits_.small_waiting = 1;
  limits_.large_waiting = 2;
  std::promise<void> go;
  auto busy = AskBusy(go.get_future().share());
  std::vector<std::string> order;
  const auto note = [&order](const std::string& name) {
    return [&order, name](Mirror&, const auto&) {
      order.push_back(name);
      return Reply{};
    };
  };
  std::vector<std::future<Reply>> others;
  others.push_back(Ask(Size::kLarge, note("large")));
  others.push_back(Ask(Size::kSmall, note("small")));
  others.push_back(Ask(Size::kLarge, note("second")));
  EXPECT_EQ(Get(Ask(Size::kSmall, note("refused"))).code, 429);
  EXPECT_EQ(Get(Ask(Size::kLarge, note("refused"))).code, 429);
  go.set_value();
  EXPECT_EQ(Get(std::move(busy)).text, "waited");
  for (auto& other : others) EXPECT_EQ(Get(std::move(other)).code, 200);
  EXPECT_THAT(order, testing::ElementsAre("small", "large", "second"));
}

TEST_F(DeskTest, AQuestionWhoseClientHasGoneIsNotAsked) {
  bool asked = false;
  const auto how = [&asked](Mirror&, const auto&) {
    asked = true;
    return Reply{};
  };
  EXPECT_EQ(Get(Ask(Size::kSmall, how, std::make_shared<std::atomic<bool>>(true))).code, 504);
  EXPECT_FALSE(asked);
}

TEST_F(DeskTest, TheMirrorIsGivenUpWhenNothingIsAsked) {
  limits_.keep = std::chrono::milliseconds(1);
  EXPECT_EQ(Judge(kPods).code, 200);
  EXPECT_EQ(cluster_.unfollowed.get_future().wait_for(kPatience), std::future_status::ready);
  desk_.reset();
  EXPECT_EQ(cluster_.unfollowed_count, 1u);
}

TEST_F(DeskTest, OnceStoppedThereAreNoAnswers) {
  std::promise<void> go;
  auto busy = AskBusy(go.get_future().share());
  auto waits = Ask(Size::kSmall, [](Mirror&, const auto&) { return Reply{}; });
  auto stopped = std::async(std::launch::async, [this] { desk().Stop(); });
  go.set_value();
  EXPECT_EQ(stopped.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(Get(std::move(busy)).text, "waited");
  EXPECT_NE(Get(std::move(waits)).code, 0);
  EXPECT_EQ(Judge(kPods).code, 503);
}

TEST_F(DeskTest, AnotherConfigurationMakesAnotherMirror) {
  EXPECT_EQ(Judge(kPods).code, 200);
  desk().Renew();
  EXPECT_EQ(Judge(kPods).code, 200);
  EXPECT_EQ(desk().num_mirrors(), 2u);
}

TEST_F(DeskTest, WhereMoreChangesWaitThanTheBoundTheMirrorIsMadeAgain) {
  limits_.changes_waiting = 10;
  EXPECT_EQ(Judge(kPods).code, 200);
  std::promise<void> go;
  auto busy = AskBusy(go.get_future().share());
  for (int i = 0; i < 20; ++i) cluster_.Put(test::MakeNode("n2").Allocatable({{"cpu", "8"}}).Ptr());
  go.set_value();
  EXPECT_EQ(Get(std::move(busy)).code, 200);
  // What there is may be more.
  EXPECT_THAT(Judge(kPods).text, HasSubstr(R"("best":["n2"])"));
  EXPECT_EQ(desk().num_mirrors(), 2u);
}

TEST_F(DeskTest, WithoutObjectsOrProfilesThereIsNoAnswer) {
  limits_.sync = std::chrono::milliseconds(1);
  cluster_.synced = false;
  const Reply late = Judge(kPods);
  EXPECT_EQ(late.code, 503);
  EXPECT_EQ(late.text, "the objects have not come");
  cluster_.broken = true;
  EXPECT_EQ(Judge(kPods).text, "no profile");
}

TEST(PodsTest, WhatIsWrongIsToldWithItsPath) {
  const auto message = [](std::string_view json) {
    const auto pods = ParsePods(*documents::ParseJson(json, ""));
    return pods ? "" : pods.error().message;
  };
  EXPECT_THAT(message(R"({"pods": 7})"), HasSubstr("pods: Invalid value: 7"));
  EXPECT_THAT(message(R"({"pods": [{"metadata": {}}]})"), HasSubstr("pods[0]: metadata.name"));
  EXPECT_THAT(message(R"({"pods": [], "drain": []})"), HasSubstr(R"(unknown field "drain")"));
  EXPECT_THAT(message(R"({"pods": [{"apiVersion": "v1", "kind": "Node",
                                    "metadata": {"name": "n"}}]})"),
              HasSubstr("pods[0]: must be a pod"));
  std::string many = "7";
  for (size_t i = 0; i < kMostPods; ++i) many += ",7";
  EXPECT_THAT(message(R"({"pods": [)" + many + "]}"), HasSubstr("pods: Too many"));
}

}  // namespace
}  // namespace berth::questions
