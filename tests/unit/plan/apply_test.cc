// SPDX-License-Identifier: Apache-2.0
#include "src/plan/apply.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/judgement.h"
#include "src/questions/node_changes.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::plan {
namespace {

using informers::Kind;
using questions::PodPtr;
using simulator::Simulation;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using State = AppliedMove::State;
using namespace std::chrono_literals;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";

struct Killed {};

// A cluster with controllers, a kubelet, a disruption controller and Berth, which work while the
// run waits: a pod that is evicted ends one step later, its successor comes at once, gets its node
// with the next step and is ready with the one after.
class FakeCluster final : public Edge {
 public:
  Result<std::unique_ptr<Simulation>> Read() override {
    ++reads;
    return Picture();
  }
  std::vector<PodPtr> PodsOf(std::string_view pod_namespace) override {
    std::vector<PodPtr> found;
    for (const auto& [key, pod] : pods) {
      if (pod->metadata.namespace_ == pod_namespace) found.push_back(pod);
    }
    return found;
  }
  Answer Evict(const api::Pod& pod) override {
    const Write write(*this, "evict " + pod.metadata.name);
    const auto found = pods.find(pod.metadata.Key());
    if (found == pods.end() || found->second->metadata.uid != pod.metadata.uid) {
      return {Answer::Kind::kGone, "not found"};
    }
    if (forbidden) return {Answer::Kind::kRefused, "forbidden"};
    if (!found->second->metadata.deletion_timestamp) {
      if (IsWeb(*found->second) && Allowed() <= 0) {
        return {Answer::Kind::kLater, "would violate the budget"};
      }
      if (IsUnderWay()) ++overlaps;
      auto ending = std::make_shared<api::Pod>(*found->second);
      ending->metadata.deletion_timestamp = now_;
      ending->status.conditions.clear();
      found->second = std::move(ending);
      evicted.push_back(pod.metadata.name);
      owed_.push_back(found->second);
      lowest = std::min(lowest, Ready());
      if (after_eviction) after_eviction();
      if (lost_answers > 0) {
        --lost_answers;
        return {Answer::Kind::kLater, "the connection was lost"};
      }
    }
    return {};
  }
  Answer Request(const api::Pod& pod) override {
    const Write write(*this, "request " + pod.metadata.name);
    if (forbidden) return {Answer::Kind::kRefused, "forbidden"};
    requests.try_emplace(pod.metadata.uid, RequestState{RequestState::Kind::kUnseen, ""});
    return {};
  }
  Result<RequestState> FindRequest(const api::Pod& pod) override {
    const Write write(*this, "");
    const auto found = requests.find(pod.metadata.uid);
    return found == requests.end() ? RequestState() : found->second;
  }
  Answer Withdraw(const api::Pod& pod) override {
    const Write write(*this, "withdraw " + pod.metadata.name);
    requests.erase(pod.metadata.uid);
    return {};
  }
  Answer Cordon(std::string_view node) override {
    const Write write(*this, "cordon " + std::string(node));
    if (forbidden) return {Answer::Kind::kRefused, "forbidden"};
    api::Node& found = nodes.at(std::string(node));
    found = *what_if_cordoned(found);
    return {};
  }
  Answer Nominate(const api::Pod& pod, std::string_view node) override {
    const Write write(*this, "nominate " + pod.metadata.name + " " + std::string(node));
    auto nominated = std::make_shared<api::Pod>(*pods.at(pod.metadata.Key()));
    nominated->status.nominated_node_name = node;
    pods[pod.metadata.Key()] = std::move(nominated);
    return {};
  }
  void RecordEvent(const api::Pod& pod, std::string_view note) override {
    const Write write(*this, "event " + pod.metadata.name);
    events[pod.metadata.name] = note;
  }
  Time Now() override { return now_; }
  void Wait(Duration time) override {
    const Write write(*this, "");
    now_ += time;
    Step();
  }
  void AwaitNews(Duration time) override { Wait(time); }
  void Say(std::string_view) override {}

  void Put(const test::PodBuilder& pod) {
    const PodPtr made = pod.Ptr();
    pods[made->metadata.Key()] = made;
  }
  void PutReady(const test::PodBuilder& pod) {
    auto ready = std::make_shared<api::Pod>(*pod.Ptr());
    MakeReady(*ready);
    CopyZone(*ready);
    pods[ready->metadata.Key()] = std::move(ready);
  }
  void Put(const test::NodeBuilder& node) {
    const auto made = node.Ptr();
    nodes.insert_or_assign(made->metadata.name, *made);
  }
  std::string NodeOf(const std::string& name) const {
    const auto found = pods.find("default/" + name);
    return found == pods.end() ? "(no pod)" : found->second->spec.node_name;
  }
  int Ready() const {
    int ready = 0;
    for (const auto& [key, pod] : pods) {
      if (IsWeb(*pod) && IsReady(*pod) && !pod->metadata.deletion_timestamp) ++ready;
    }
    return ready;
  }
  std::unique_ptr<Simulation> Picture() const {
    auto made = Simulation::Make(test::DefaultSimulationOptions(), plugins::InTreeRegistry());
    std::unique_ptr<Simulation> simulation = *std::move(made);
    for (const auto& [name, node] : nodes) {
      simulation->Apply(std::make_shared<const api::Node>(node));
    }
    api::PodDisruptionBudget budget;
    budget.metadata.name = "keep";
    budget.metadata.namespace_ = "default";
    budget.spec.selector = test::MakeSelector({{"app", "web"}});
    budget.status.disruptions_allowed = Allowed();
    simulation->Apply(std::make_shared<const api::PodDisruptionBudget>(budget));
    for (const auto& [key, pod] : pods) simulation->Apply(pod);
    simulation->RunDue();
    return simulation;
  }

  std::map<std::string, api::Node> nodes;
  std::map<std::string, PodPtr> pods;
  int least_ready = 0;
  int lowest = 1000;
  // Evictions while the successor of an earlier one had no node.
  size_t overlaps = 0;
  bool makes_pods = true;
  // So often big is tried, in vain, just before a successor.
  size_t big_first_times = 0;
  std::string goes_to;  // of the next pod, whatever its scores say
  bool forbidden = false;
  // So many evictions are done, and their answers lost.
  size_t lost_answers = 0;
  std::function<void()> after_eviction;
  std::map<std::string, RequestState> requests;  // by UID
  enum class Responder {
    kNone,
    kEvicts,         // by the Eviction subresource
    kReplacesFirst,  // the pod goes once its successor is ready
    kEnds,           // the pod ends by itself, which a watch shows as a deletion
    kGivesUp,
    kHesitates,
  };
  Responder responder = Responder::kNone;
  std::function<void()> after_request;  // once it is seen
  size_t reads = 0;
  std::vector<std::string> evicted;
  std::vector<std::string> writes;
  std::map<std::string, std::string> events;
  // The process is killed at this call, before or after it has done its work; 0: never.
  size_t kill_at = 0;
  bool kill_after = false;
  size_t calls = 0;

 private:
  // One call of the run; kills it.
  class Write {
   public:
    Write(FakeCluster& cluster, std::string what) : cluster_(cluster) {
      if (!what.empty()) cluster_.writes.push_back(std::move(what));
      if (++cluster_.calls == cluster_.kill_at && !cluster_.kill_after) throw Killed();
    }
    ~Write() noexcept(false) {
      if (cluster_.calls == cluster_.kill_at && cluster_.kill_after) throw Killed();
    }
    Write(const Write&) = delete;
    Write& operator=(const Write&) = delete;

   private:
    FakeCluster& cluster_;
  };

  static std::shared_ptr<api::Node> what_if_cordoned(const api::Node& node) {
    auto cordoned = std::make_shared<api::Node>(node);
    cordoned->spec.unschedulable = true;
    return cordoned;
  }
  static bool IsWeb(const api::Pod& pod) {
    const std::string* app = api::Find(pod.metadata.labels, "app");
    return app != nullptr && *app == "web";
  }
  bool IsUnderWay() const {
    return std::ranges::any_of(pods, [](const auto& entry) {
      const api::Pod& pod = *entry.second;
      return ControllerOf(pod.metadata) != nullptr &&
             (pod.spec.node_name.empty() || pod.metadata.deletion_timestamp);
    });
  }
  static void MakeReady(api::Pod& pod) {
    pod.status.phase = "Running";
    api::PodCondition ready;
    ready.type = "Ready";
    ready.status = "True";
    pod.status.conditions = {ready};
  }
  int Allowed() const { return Ready() - least_ready; }
  // The API server's PodTopologyLabels.
  void CopyZone(api::Pod& pod) const {
    const auto node = nodes.find(pod.spec.node_name);
    const std::string* zone =
        node == nodes.end() ? nullptr : api::Find(node->second.metadata.labels, kZone);
    if (zone != nullptr) pod.metadata.labels.emplace_back(kZone, *zone);
    std::ranges::sort(pod.metadata.labels);
  }

  // Who carries EvictionRequests out, one step after they are seen.
  void Respond() {
    for (auto it = pods.begin(); it != pods.end(); ++it) {
      const PodPtr pod = it->second;
      const auto request = requests.find(pod->metadata.uid);
      if (request == requests.end() || pod->metadata.deletion_timestamp) continue;
      using Kind = RequestState::Kind;
      if (request->second.kind == Kind::kUnseen) {
        if (responder == Responder::kNone) continue;
        request->second.kind = Kind::kTaken;
        if (after_request) after_request();
        return;
      }
      CarryOut(it, request->second);
      return;
    }
  }
  void CarryOut(std::map<std::string, PodPtr>::iterator it, RequestState& request) {
    const PodPtr pod = it->second;
    const std::string& uid = pod->metadata.uid;
    auto next = std::make_shared<api::Pod>(*pod);
    switch (responder) {
      case Responder::kNone:
      case Responder::kHesitates:
        return;
      case Responder::kGivesUp:
        request = {RequestState::Kind::kFailed, "its EvictionRequest has failed"};
        return;
      case Responder::kReplacesFirst:
        if (replaced_.insert(uid).second) {
          owed_.push_back(pod);
          return;
        }
        if (Allowed() <= 1) return;
        next->metadata.deletion_timestamp = now_;
        break;
      case Responder::kEvicts:
        if (Allowed() <= 0) return;
        next->metadata.deletion_timestamp = now_;
        owed_.push_back(pod);
        break;
      case Responder::kEnds:
        owed_.push_back(pod);
        evicted.push_back(pod->metadata.name);
        pods.erase(it);
        lowest = std::min(lowest, Ready());
        return;
    }
    next->status.conditions.clear();
    evicted.push_back(pod->metadata.name);
    it->second = std::move(next);
    lowest = std::min(lowest, Ready());
  }

  void Step() {
    Respond();
    // The kubelets.
    for (auto it = pods.begin(); it != pods.end();) {
      const PodPtr pod = it->second;
      if (pod->metadata.deletion_timestamp) {
        if (!ending_.insert(it->first).second) {
          it = pods.erase(it);
          continue;
        }
      } else if (!pod->spec.node_name.empty() && !IsReady(*pod)) {
        auto ready = std::make_shared<api::Pod>(*pod);
        MakeReady(*ready);
        it->second = std::move(ready);
      }
      ++it;
    }
    // The controllers.
    for (; makes_pods && !owed_.empty(); owed_.pop_back()) {
      const PodPtr made = PendingCopy(*owed_.back(), "next-" + std::to_string(++made_));
      pods[made->metadata.Key()] = made;
    }
    // The scheduler: the newest first, unless it tries big again at that very moment.
    std::vector<std::string> waiting;
    for (const auto& [key, pod] : pods) {
      if (pod->spec.node_name.empty()) waiting.push_back(key);
    }
    if (waiting.size() > 1 && big_first_times > 0) {
      --big_first_times;
    } else {
      std::ranges::reverse(waiting);
    }
    for (const std::string& key : waiting) Decide(pods[key]);
  }
  // Preemption takes the nomination of a pod away for which it finds no victims.
  void Decide(PodPtr& pod) {
    const std::unique_ptr<Simulation> simulation = Picture();
    const auto judgement = simulation->scheduler().Judge(pod);
    auto decided = std::make_shared<api::Pod>(*pod);
    decided->status.nominated_node_name.clear();
    if (judgement->kind() == engine::Judgement::Kind::kScheduled) {
      const NodeRow row = judgement->Best().front();
      decided->spec.node_name = judgement->snapshot().node(row).metadata.name;
      if (!goes_to.empty()) decided->spec.node_name = std::exchange(goes_to, "");
      CopyZone(*decided);
    }
    pod = std::move(decided);
  }

  Time now_{};
  std::set<std::string> ending_;
  std::set<std::string> replaced_;  // UIDs
  std::vector<PodPtr> owed_;        // evicted, and no other was made in their place yet
  size_t made_ = 0;
};

class ApplyTest : public testing::Test {
 protected:
  ApplyTest() {
    char name[] = "/tmp/berth-apply-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~ApplyTest() override {
    std::remove(path().c_str());
    rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/progress"; }

  static test::NodeBuilder Node(std::string_view name, std::string_view cpu) {
    return test::MakeNode(name).Label("kubernetes.io/hostname", name).Allocatable({{"cpu", cpu}});
  }
  static test::PodBuilder Replica(std::string_view name) {
    return test::MakePod()
        .Name(name)
        .Label("app", "web")
        .Req({{"cpu", "1"}})
        .Owner("ReplicaSet", "web", "uid");
  }
  // big needs all of n1, which has two of the four that may go one by one; the nodes may be there.
  static void Fill(FakeCluster& cluster) {
    if (cluster.nodes.empty()) {
      cluster.Put(Node("n1", "4"));
      cluster.Put(Node("n2", "2"));
      cluster.Put(Node("n3", "2"));
    }
    cluster.PutReady(Replica("a").OnNode("n1"));
    cluster.PutReady(Replica("b").OnNode("n1"));
    cluster.PutReady(Replica("c").OnNode("n2"));
    cluster.PutReady(Replica("d").OnNode("n3"));
    cluster.Put(test::MakePod().Name("big").Req({{"cpu", "4"}}));
    cluster.least_ready = 3;
  }
  static Plan PlanOf(const FakeCluster& cluster, const std::string& goal = "fit=default/big") {
    const auto plan = FindPlan(*Goal::Parse(goal), *cluster.Picture());
    EXPECT_EQ(plan->outcome, Plan::Outcome::kFound) << plan->why;
    return *plan;
  }
  Applied Run(const Plan& plan, FakeCluster& cluster, const ApplyOptions& options = {}) {
    auto progress = Progress::Open(path(), "digest");
    EXPECT_TRUE(progress) << progress.error().message;
    return Apply(plan, options, cluster, progress->get());
  }
  static std::vector<State> States(const Applied& applied) {
    std::vector<State> states;
    for (const AppliedMove& move : applied.moves) states.push_back(move.state);
    return states;
  }

  std::string folder_;
};

TEST_F(ApplyTest, APlanIsCarriedOutWaveByWave) {
  FakeCluster cluster;
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  ASSERT_EQ(plan.moves.size(), 3u);
  ASSERT_EQ(plan.moves.back().wave, 2u);
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_THAT(States(applied), ElementsAre(State::kDone, State::kDone, State::kDone));
  EXPECT_EQ(cluster.NodeOf("big"), "n1");
  EXPECT_EQ(cluster.lowest, 3);
  EXPECT_THAT(cluster.evicted, testing::UnorderedElementsAre("a", "b"));
  EXPECT_EQ(cluster.events.size(), 2u);
  EXPECT_THAT(cluster.events.begin()->second, HasSubstr("fit=default/big"));
  // The place is held before the first pod goes.
  ASSERT_FALSE(cluster.writes.empty());
  EXPECT_EQ(cluster.writes.front(), "nominate big n1");

  std::string text;
  AppendJson(plan, applied, text);
  const auto document = nlohmann::json::parse(text);
  EXPECT_EQ(document["outcome"], "done");
  EXPECT_EQ(document["moves"][2]["state"], "done");
  EXPECT_EQ(document["moves"][2]["node"], "n1");

  // The same once more: nothing is left to do.
  const size_t writes = cluster.writes.size();
  EXPECT_EQ(Run(plan, cluster).outcome, Applied::Outcome::kDone);
  EXPECT_EQ(cluster.writes.size(), writes);
}

// The API server copies the zone of a pod's node onto the pod, which its template does not have.
TEST_F(ApplyTest, ASuccessorInAnotherZoneIsRecognised) {
  FakeCluster cluster;
  cluster.Put(Node("n1", "4").Label(kZone, "a"));
  cluster.Put(Node("n2", "2").Label(kZone, "b"));
  cluster.Put(Node("n3", "2").Label(kZone, "b"));
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_EQ(cluster.NodeOf("big"), "n1");
  EXPECT_EQ(cluster.evicted.size(), 2u);
}

TEST_F(ApplyTest, KilledAnywhereItGoesOnWhereItStood) {
  size_t kills = 0;
  for (const bool after : {false, true}) {
    for (size_t at = 1;; ++at) {
      SCOPED_TRACE(testing::Message() << "killed at call " << at << (after ? ", after" : ""));
      FakeCluster cluster;
      Fill(cluster);
      const Plan plan = PlanOf(cluster);
      cluster.kill_at = at;
      cluster.kill_after = after;
      bool killed = false;
      try {
        (void)Run(plan, cluster);
      } catch (const Killed&) {
        killed = true;
        ++kills;
      }
      if (killed) {
        const Applied applied = Run(plan, cluster);
        EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
      }
      EXPECT_EQ(cluster.NodeOf("big"), "n1");
      EXPECT_THAT(cluster.evicted, testing::UnorderedElementsAre("a", "b"));
      EXPECT_EQ(cluster.lowest, 3);
      EXPECT_EQ(cluster.Ready(), 4);
      EXPECT_EQ(cluster.events.size(), 2u);
      std::remove(path().c_str());
      if (!killed || HasFailure()) break;
    }
  }
  EXPECT_GT(kills, 10u);
}

// big has the higher priority: its place is kept from the pod that its controller makes next.
TEST_F(ApplyTest, APodThatIsEvictedForGoodWaits) {
  FakeCluster cluster;
  cluster.Put(Node("n1", "1"));
  cluster.PutReady(Replica("low").OnNode("n1"));
  cluster.Put(test::MakePod().Name("big").Req({{"cpu", "1"}}).Priority(10));
  Goal goal = *Goal::Parse("fit=default/big");
  goal.evict = true;
  const auto plan = FindPlan(goal, *cluster.Picture());
  ASSERT_EQ(plan->moves.size(), 2u);
  ASSERT_EQ(plan->moves[0].to, "");
  const Applied applied = Run(*plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_THAT(States(applied), ElementsAre(State::kDone, State::kDone));
  EXPECT_THAT(cluster.evicted, ElementsAre("low"));
  EXPECT_EQ(cluster.NodeOf("big"), "n1");
  EXPECT_EQ(cluster.NodeOf("next-1"), "");
  EXPECT_THAT(cluster.events["low"], HasSubstr("pods of higher priority need its room on n1"));
  EXPECT_EQ(Run(*plan, cluster).outcome, Applied::Outcome::kDone);
  EXPECT_EQ(cluster.evicted.size(), 1u);
}

TEST_F(ApplyTest, WhereAPodThatIsEvictedForGoodHasNoSuccessorTheRestIsDone) {
  FakeCluster cluster;
  cluster.makes_pods = false;
  cluster.Put(Node("n1", "1"));
  cluster.PutReady(Replica("low").OnNode("n1"));
  cluster.Put(test::MakePod().Name("big").Req({{"cpu", "1"}}).Priority(10));
  Goal goal = *Goal::Parse("fit=default/big");
  goal.evict = true;
  const auto plan = FindPlan(goal, *cluster.Picture());
  const Applied applied = Run(*plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_THAT(applied.moves[0].why, HasSubstr("no pod like it"));
  EXPECT_EQ(cluster.NodeOf("big"), "n1");
}

// The second move is about the pod in its place.
TEST_F(ApplyTest, APodThatIsMovedTwiceIsMovedOnKilledAnywhere) {
  size_t kills = 0;
  for (const bool after : {false, true}) {
    for (size_t at = 1;; ++at) {
      SCOPED_TRACE(testing::Message() << "killed at call " << at << (after ? ", after" : ""));
      FakeCluster cluster;
      for (const char* name : {"n1", "n2", "n3"}) cluster.Put(Node(name, "1"));
      cluster.PutReady(Replica("a").OnNode("n1"));
      cluster.goes_to = "n2";
      const std::string uid = cluster.pods.at("default/a")->metadata.uid;
      Plan plan{.goal = *Goal::Parse("empty=n1"), .outcome = Plan::Outcome::kFound};
      plan.moves = {
          {.pod = "default/a", .uid = uid, .from = "n1", .to = "n2"},
          {.pod = "default/a", .uid = uid, .from = "n2", .to = "n3", .wave = 2},
      };
      cluster.kill_at = at;
      cluster.kill_after = after;
      bool killed = false;
      try {
        (void)Run(plan, cluster);
      } catch (const Killed&) {
        killed = true;
        ++kills;
      }
      if (killed) {
        const Applied applied = Run(plan, cluster);
        EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
      }
      EXPECT_THAT(cluster.evicted, ElementsAre("a", "next-1"));
      EXPECT_EQ(cluster.NodeOf("next-2"), "n3");
      std::remove(path().c_str());
      if (!killed || HasFailure()) break;
    }
  }
  EXPECT_GT(kills, 8u);
}

// It went elsewhere, so that it has not to leave the place where the second move begins.
TEST_F(ApplyTest, APodThatIsNotWhereItsSecondMoveBeginsStays) {
  FakeCluster cluster;
  for (const char* name : {"n1", "n2", "n3", "n4"}) cluster.Put(Node(name, "1"));
  cluster.PutReady(Replica("a").OnNode("n1"));
  cluster.goes_to = "n4";
  const std::string uid = cluster.pods.at("default/a")->metadata.uid;
  Plan plan{.goal = *Goal::Parse("empty=n1"), .outcome = Plan::Outcome::kFound};
  plan.moves = {
      {.pod = "default/a", .uid = uid, .from = "n1", .to = "n2"},
      {.pod = "default/a", .uid = uid, .from = "n2", .to = "n3", .wave = 2},
  };
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_THAT(States(applied), ElementsAre(State::kDone, State::kSkipped));
  EXPECT_THAT(cluster.evicted, ElementsAre("a"));
}

TEST_F(ApplyTest, ALineThatAKillCutOffIsDropped) {
  FakeCluster cluster;
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  cluster.kill_at = 2;
  EXPECT_THROW((void)Run(plan, cluster), Killed);
  std::ofstream(path(), std::ios::app) << R"({"uid":"half)";
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
}

TEST_F(ApplyTest, TheProgressOfManyReplicasIsReadAgain) {
  Progress::Eviction eviction{.owner = "owner"};
  for (int i = 0; i < 5000; ++i) {
    eviction.before.insert("00000000-0000-0000-0000-" + std::to_string(100'000'000'000 + i));
  }
  {
    const auto progress = Progress::Open(path(), "digest");
    ASSERT_TRUE(progress);
    for (int i = 0; i < 100; ++i) {
      const std::string uid = std::to_string(i);
      ASSERT_TRUE((*progress)->Begin(uid, eviction));
      // Refused for now, and tried again.
      ASSERT_TRUE((*progress)->Begin(uid, eviction));
      eviction.before.insert("successor-" + uid);
    }
  }
  EXPECT_LT(std::filesystem::file_size(path()), 1u << 20);
  const auto again = Progress::Open(path(), "digest");
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_NE((*again)->Find("99"), nullptr);
  EXPECT_EQ((*again)->Find("0")->before.size(), 5000u);
  EXPECT_EQ((*again)->Find("99")->before.size(), 5099u);
}

TEST_F(ApplyTest, TwoRunsOfOnePlanExcludeEachOther) {
  const auto first = Progress::Open(path(), "digest");
  ASSERT_TRUE(first);
  const auto second = Progress::Open(path(), "digest");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another run"));
}

TEST_F(ApplyTest, TheProgressOfAnotherPlanIsRefused) {
  ASSERT_TRUE((*Progress::Open(path(), "digest"))->Begin("uid", {.owner = "owner"}));
  const auto other = Progress::Open(path(), "other");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("another plan"));
}

TEST_F(ApplyTest, ARunThatBeganNothingLeavesNoProgress) {
  {
    ASSERT_TRUE(Progress::Open(path(), "digest"));
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
  {
    const auto begun = Progress::Open(path(), "digest");
    ASSERT_TRUE(begun);
    ASSERT_TRUE((*begun)->Begin("uid", {.owner = "owner"}));
  }
  {
    ASSERT_TRUE(Progress::Open(path(), "digest"));
  }
  const auto again = Progress::Open(path(), "digest");
  ASSERT_TRUE(again);
  EXPECT_NE((*again)->Find("uid"), nullptr);
}

TEST_F(ApplyTest, ADryRunWritesNothing) {
  FakeCluster cluster;
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  const Applied applied = Apply(plan, {.dry_run = true}, cluster, nullptr);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDryRun) << applied.why;
  EXPECT_THAT(States(applied), ElementsAre(State::kAllowed, State::kAllowed, State::kAllowed));
  EXPECT_THAT(cluster.writes, IsEmpty());
}

// Each way in which the cluster is not the one that the plan was made for: nothing is evicted.
TEST_F(ApplyTest, NothingIsEvictedWhereThePlanIsNotAllowedNow) {
  const auto change = [](const std::string& what, FakeCluster& cluster, Plan& plan) {
    const std::string first = plan.moves[0].pod.substr(8);
    const std::string to = plan.moves[0].to;
    if (what == "the target is full") {
      cluster.Put(test::MakePod().Name("other").Req({{"cpu", "1"}}).OnNode(to));
    } else if (what == "the target is gone") {
      cluster.nodes.erase(to);
    } else if (what == "a later target is full") {
      cluster.Put(test::MakePod().Name("other").Req({{"cpu", "1"}}).OnNode(plan.moves[1].to));
    } else if (what == "the pod stays") {
      cluster.PutReady(
          Replica(first).Annotation("karpenter.sh/do-not-disrupt", "true").OnNode("n1"));
    } else if (what == "the pod is elsewhere") {
      plan.moves[0].from = "n9";
    } else if (what == "another cluster") {
      for (Move& move : plan.moves) move.uid += "-of-another";
    } else {
      cluster.least_ready = 4;
    }
  };
  const std::pair<const char*, const char*> cases[] = {
      {"the target is full", "does not take it now: Insufficient cpu"},
      {"the target is gone", "the cluster has no node"},
      {"a later target is full", "does not take it now: Insufficient cpu"},
      {"the pod stays", "it may not be moved: karpenter.sh/do-not-disrupt"},
      {"the pod is elsewhere", "it is on n1, and not on n9"},
      {"another cluster", "is the plan of another one?"},
      {"the budget allows none", "its PodDisruptionBudget allows no eviction now: default/keep"},
  };
  for (const auto& [what, why] : cases) {
    SCOPED_TRACE(what);
    FakeCluster cluster;
    Fill(cluster);
    Plan plan = PlanOf(cluster);
    change(what, cluster, plan);
    const Applied applied = Run(plan, cluster, {.patience = 1min});
    EXPECT_EQ(applied.outcome, Applied::Outcome::kStopped);
    EXPECT_THAT(applied.why, HasSubstr(why));
    EXPECT_THAT(cluster.writes, IsEmpty());
    std::string text;
    AppendTable(plan, applied, text);
    EXPECT_THAT(text, HasSubstr("stopped at wave "));
  }
}

TEST_F(ApplyTest, APlaceThatWasHeldInVainIsGivenBack) {
  FakeCluster cluster;
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  cluster.makes_pods = false;
  const Applied applied = Run(plan, cluster, {.patience = 10s});
  EXPECT_EQ(applied.outcome, Applied::Outcome::kStopped);
  EXPECT_THAT(applied.why, HasSubstr("its controller has made no pod like it"));
  EXPECT_THAT(States(applied), ElementsAre(State::kFailed, State::kNotBegun, State::kNotBegun));
  EXPECT_EQ(cluster.evicted.size(), 1u);
  EXPECT_EQ(cluster.pods.at("default/big")->status.nominated_node_name, "");
  // Once the controller works again the plan goes on.
  cluster.makes_pods = true;
  EXPECT_EQ(Run(plan, cluster).outcome, Applied::Outcome::kDone);
  EXPECT_EQ(cluster.NodeOf("big"), "n1");
  EXPECT_EQ(cluster.evicted.size(), 2u);
}

TEST_F(ApplyTest, ASuccessorThatGoesBackIsEvictedAgain) {
  FakeCluster cluster;
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  cluster.big_first_times = 2;
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_EQ(cluster.NodeOf("big"), "n1");
  EXPECT_GT(cluster.evicted.size(), 2u);
  EXPECT_EQ(applied.moves[0].evictions + applied.moves[1].evictions, cluster.evicted.size());
  EXPECT_EQ(cluster.lowest, 3);

  // Not without end.
  std::remove(path().c_str());
  FakeCluster other;
  Fill(other);
  other.big_first_times = 1000;
  const Applied stopped = Run(plan, other);
  EXPECT_EQ(stopped.outcome, Applied::Outcome::kStopped);
  EXPECT_THAT(stopped.why, HasSubstr("n1 does not take it now: Insufficient cpu"));
  EXPECT_LE(other.evicted.size(), 5u);
  EXPECT_EQ(other.lowest, 3);
}

// The first successor takes the place of the second, which then takes that of the first.
TEST_F(ApplyTest, APodWhoseTargetIsTakenByAnotherOfThePlanGetsItsOwn) {
  FakeCluster cluster;
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  cluster.goes_to = plan.moves[1].to;
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_EQ(applied.moves[0].node, plan.moves[1].to);
  EXPECT_EQ(applied.moves[0].why, "was to go to " + plan.moves[0].to);
  EXPECT_EQ(applied.moves[1].node, plan.moves[0].to);
  EXPECT_EQ(cluster.NodeOf("big"), "n1");
  EXPECT_EQ(cluster.evicted.size(), 2u);
}

TEST_F(ApplyTest, ARefusedEvictionEndsTheRun) {
  FakeCluster cluster;
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  cluster.forbidden = true;
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kStopped);
  EXPECT_THAT(applied.why, HasSubstr("the eviction is refused: forbidden"));
  EXPECT_THAT(cluster.evicted, IsEmpty());
}

TEST_F(ApplyTest, ANodeIsCordonedBeforeItIsEmptied) {
  FakeCluster cluster;
  Fill(cluster);
  cluster.pods.erase("default/big");
  const Plan plan = PlanOf(cluster, "empty=n1");
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_EQ(cluster.writes.front(), "cordon n1");
  EXPECT_TRUE(cluster.nodes.at("n1").spec.unschedulable);
  for (const auto& [key, pod] : cluster.pods) EXPECT_NE(pod->spec.node_name, "n1") << key;
  EXPECT_EQ(cluster.lowest, 3);
}

// The pod that the room was for is gone, or has found a node: no other pod goes for it.
TEST_F(ApplyTest, NothingIsEvictedForAGoalThatIsReachedOrVoid) {
  for (const bool bound : {false, true}) {
    SCOPED_TRACE(bound);
    FakeCluster cluster;
    Fill(cluster);
    const Plan plan = PlanOf(cluster);
    cluster.pods.erase("default/big");
    if (bound) {
      cluster.Put(Node("n9", "4"));
      cluster.Put(test::MakePod().Name("big").Req({{"cpu", "4"}}).OnNode("n9"));
    }
    const Applied applied = Run(plan, cluster);
    EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
    EXPECT_THAT(States(applied), ElementsAre(State::kSkipped, State::kSkipped,
                                             bound ? State::kDone : State::kSkipped));
    EXPECT_THAT(applied.moves[0].why, HasSubstr("no pod waits for its room any more"));
    EXPECT_THAT(cluster.evicted, IsEmpty());
    EXPECT_THAT(cluster.writes, IsEmpty());
    std::remove(path().c_str());
  }
}

TEST_F(ApplyTest, AGoalThatIsReachedMeanwhileEndsTheEvictions) {
  FakeCluster cluster;
  Fill(cluster);
  cluster.least_ready = 0;
  const Plan plan = PlanOf(cluster);
  ASSERT_EQ(plan.moves.back().wave, 1u);
  cluster.goes_to = plan.moves[0].to;
  cluster.after_eviction = [&cluster] {
    cluster.Put(Node("n9", "4"));
    cluster.Put(test::MakePod().Name("big").Req({{"cpu", "4"}}).OnNode("n9"));
  };
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_THAT(States(applied), ElementsAre(State::kDone, State::kSkipped, State::kDone));
  EXPECT_EQ(cluster.evicted.size(), 1u);
}

// The eviction was done, and its answer is lost.
TEST_F(ApplyTest, AnEvictionWhoseOutcomeIsUnknownIsAwaited) {
  FakeCluster cluster;
  Fill(cluster);
  cluster.least_ready = 0;
  const Plan plan = PlanOf(cluster);
  ASSERT_EQ(plan.moves.back().wave, 1u);
  cluster.lost_answers = 1;
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_THAT(States(applied), ElementsAre(State::kDone, State::kDone, State::kDone));
  EXPECT_EQ(cluster.evicted.size(), 2u);
  EXPECT_EQ(cluster.events.size(), 2u);
  EXPECT_EQ(cluster.overlaps, 0u);
}

// A place on n2 that is held for late from the start would keep a's successor out.
TEST_F(ApplyTest, APlaceIsHeldOnceTheMovesToItsNodeAreDone) {
  FakeCluster cluster;
  cluster.Put(Node("n1", "4"));
  cluster.Put(Node("n2", "4"));
  cluster.Put(Node("n3", "2").Taint("only", "c", "NoSchedule"));
  cluster.PutReady(Replica("a").OnNode("n1"));
  cluster.PutReady(test::MakePod()
                       .Name("c")
                       .Req({{"cpu", "2"}})
                       .Tolerate("only", "Exists", "", "")
                       .Owner("ReplicaSet", "other", "other")
                       .OnNode("n2"));
  cluster.Put(test::MakePod().Name("first").Req({{"cpu", "4"}}).Priority(10));
  cluster.Put(test::MakePod()
                  .Name("late")
                  .Req({{"cpu", "3"}})
                  .NodeSelector("kubernetes.io/hostname", "n2"));
  Plan plan{.goal = *Goal::Parse("pending"), .outcome = Plan::Outcome::kFound};
  plan.moves = {{.pod = "default/a", .uid = "default/a", .from = "n1", .to = "n2"},
                {.pod = "default/first", .uid = "default/first", .from = "", .to = "n1"},
                {.pod = "default/c", .uid = "default/c", .from = "n2", .to = "n3"},
                {.pod = "default/late", .uid = "default/late", .from = "", .to = "n2"}};
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_EQ(cluster.NodeOf("first"), "n1");
  EXPECT_EQ(cluster.NodeOf("late"), "n2");
  EXPECT_EQ(cluster.evicted.size(), 2u);
}

// Of several pending pods one has found a node: what was to make room for that one stays.
TEST_F(ApplyTest, NothingIsEvictedForAPodOfThePlanThatHasItsNode) {
  FakeCluster cluster;
  for (const char* name : {"n1", "n2", "n3", "n9"}) cluster.Put(Node(name, "4"));
  cluster.PutReady(Replica("a").OnNode("n1"));
  cluster.PutReady(Replica("c").OnNode("n2"));
  cluster.Put(test::MakePod().Name("first").Req({{"cpu", "4"}}).OnNode("n9"));
  cluster.Put(test::MakePod()
                  .Name("late")
                  .Req({{"cpu", "4"}})
                  .NodeSelector("kubernetes.io/hostname", "n2"));
  Plan plan{.goal = *Goal::Parse("pending"), .outcome = Plan::Outcome::kFound};
  plan.moves = {{.pod = "default/a", .uid = "default/a", .from = "n1", .to = "n3"},
                {.pod = "default/first", .uid = "default/first", .from = "", .to = "n1"},
                {.pod = "default/c", .uid = "default/c", .from = "n2", .to = "n3"},
                {.pod = "default/late", .uid = "default/late", .from = "", .to = "n2"}};
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_EQ(cluster.evicted.size(), 1u);
  EXPECT_THAT(States(applied),
              ElementsAre(State::kSkipped, State::kDone, State::kDone, State::kDone));
  EXPECT_THAT(applied.moves[0].why, HasSubstr("no pod waits for its room any more"));
}

TEST_F(ApplyTest, ANodeThatGotAPodSinceIsNotEmptiedOfTheOthers) {
  FakeCluster cluster;
  Fill(cluster);
  cluster.pods.erase("default/big");
  const Plan plan = PlanOf(cluster, "empty=n1");
  cluster.PutReady(test::MakePod().Name("new").OnNode("n1"));
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kStopped);
  EXPECT_THAT(applied.why, HasSubstr("n1 has default/new, which is not in the plan"));
  EXPECT_THAT(cluster.evicted, IsEmpty());
}

TEST_F(ApplyTest, ANodeIsEmptyOnceWhatIsBeingDeletedHasEnded) {
  FakeCluster cluster;
  cluster.Put(Node("n1", "4"));
  cluster.Put(Node("n2", "4"));
  const Plan plan = PlanOf(cluster, "empty=n1");
  ASSERT_THAT(plan.moves, IsEmpty());
  cluster.Put(test::MakePod().Name("going").OnNode("n1").DeletedAt(Time(std::chrono::seconds(5))));
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_EQ(cluster.pods.count("default/going"), 0u);
  cluster.Put(test::MakePod().Name("stays").OnNode("n1"));
  std::remove(path().c_str());
  EXPECT_EQ(Run(plan, cluster).why, "n1 still has default/stays");
}

// The cordon keeps no pod away that tolerates anything.
TEST_F(ApplyTest, ANodeIsNotEmptyWhereAPodGoesBackToIt) {
  FakeCluster cluster;
  cluster.Put(Node("n1", "8"));
  cluster.Put(Node("n2", "2"));
  cluster.PutReady(Replica("a").Tolerate("", "Exists", "", "").OnNode("n1"));
  const Plan plan = PlanOf(cluster, "empty=n1");
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kStopped);
  EXPECT_THAT(applied.why, HasSubstr("went back to n1 each of 5 times"));
  EXPECT_THAT(States(applied), ElementsAre(State::kFailed));
  EXPECT_EQ(applied.moves[0].node, "n1");
  EXPECT_EQ(cluster.evicted.size(), 5u);
  // Nor is it evicted more often where the run is repeated.
  EXPECT_EQ(Run(plan, cluster).outcome, Applied::Outcome::kStopped);
  EXPECT_EQ(cluster.evicted.size(), 5u);
}

TEST_F(ApplyTest, ANodeThatIsEmptyAlreadyIsCordoned) {
  FakeCluster cluster;
  Fill(cluster);
  cluster.Put(Node("n9", "4"));
  const Plan plan = PlanOf(cluster, "empty=n9");
  ASSERT_THAT(plan.moves, IsEmpty());
  EXPECT_EQ(Apply(plan, {.dry_run = true}, cluster, nullptr).outcome, Applied::Outcome::kDryRun);
  EXPECT_THAT(cluster.writes, IsEmpty());
  cluster.forbidden = true;
  const Applied refused = Run(plan, cluster);
  EXPECT_EQ(refused.outcome, Applied::Outcome::kStopped);
  EXPECT_EQ(refused.why, "the cordon of n9: forbidden");
  cluster.forbidden = false;
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_TRUE(applied.cordoned);
  std::string text;
  AppendTable(plan, applied, text);
  EXPECT_EQ(text, "empty=n9: 0 moves of the plan carried out.\n");
  EXPECT_TRUE(cluster.nodes.at("n9").spec.unschedulable);
}

class ApplyByRequestTest : public ApplyTest {
 protected:
  using Responder = FakeCluster::Responder;
  Applied RunByRequest(const Plan& plan, FakeCluster& cluster, Duration patience = 10min) {
    return Run(plan, cluster, {.patience = patience, .evict_by = EvictBy::kRequest});
  }
};

// The plan is the same, whatever carries them out.
TEST_F(ApplyByRequestTest, PodsGoByWhoCarriesTheirRequestsOut) {
  for (const auto responder : {Responder::kEvicts, Responder::kReplacesFirst, Responder::kEnds}) {
    SCOPED_TRACE(static_cast<int>(responder));
    FakeCluster cluster;
    Fill(cluster);
    const Plan plan = PlanOf(cluster);
    cluster.responder = responder;
    const Applied applied = RunByRequest(plan, cluster);
    EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
    EXPECT_THAT(States(applied), ElementsAre(State::kDone, State::kDone, State::kDone));
    EXPECT_EQ(cluster.NodeOf("big"), "n1");
    EXPECT_THAT(cluster.evicted, testing::UnorderedElementsAre("a", "b"));
    EXPECT_EQ(cluster.lowest, responder == Responder::kReplacesFirst ? 4 : 3);
    EXPECT_EQ(cluster.events.size(), 2u);
    EXPECT_THAT(cluster.writes, testing::Not(testing::Contains(HasSubstr("evict "))));
    EXPECT_EQ(cluster.writes.front(), "nominate big n1");
    std::remove(path().c_str());
  }
}

TEST_F(ApplyByRequestTest, KilledAnywhereItGoesOnWhereItStood) {
  size_t kills = 0;
  for (const bool after : {false, true}) {
    for (size_t at = 1;; ++at) {
      SCOPED_TRACE(testing::Message() << "killed at call " << at << (after ? ", after" : ""));
      FakeCluster cluster;
      Fill(cluster);
      const Plan plan = PlanOf(cluster);
      cluster.responder = Responder::kReplacesFirst;
      cluster.kill_at = at;
      cluster.kill_after = after;
      bool killed = false;
      try {
        (void)RunByRequest(plan, cluster);
      } catch (const Killed&) {
        killed = true;
        ++kills;
      }
      if (killed) {
        const Applied applied = RunByRequest(plan, cluster);
        EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
      }
      EXPECT_EQ(cluster.NodeOf("big"), "n1");
      EXPECT_THAT(cluster.evicted, testing::UnorderedElementsAre("a", "b"));
      EXPECT_EQ(cluster.events.size(), 2u);
      std::remove(path().c_str());
      if (!killed || HasFailure()) break;
    }
  }
  EXPECT_GT(kills, 10u);
}

// What nobody carries out is withdrawn, and no pod goes.
TEST_F(ApplyByRequestTest, ARequestInVainIsWithdrawn) {
  const std::pair<Responder, const char*> cases[] = {
      {Responder::kNone,
       "no controller has looked at its EvictionRequest within 30s; it is "
       "withdrawn"},
      {Responder::kGivesUp, "its EvictionRequest has failed; it is withdrawn"},
      {Responder::kHesitates, "after 1m0s its EvictionRequest has not made it go; it is withdrawn"},
  };
  for (const auto& [responder, why] : cases) {
    SCOPED_TRACE(why);
    FakeCluster cluster;
    Fill(cluster);
    const Plan plan = PlanOf(cluster);
    cluster.responder = responder;
    const Applied applied = RunByRequest(plan, cluster, 1min);
    EXPECT_EQ(applied.outcome, Applied::Outcome::kStopped);
    EXPECT_THAT(applied.why, HasSubstr(why));
    EXPECT_THAT(cluster.requests, IsEmpty());
    EXPECT_THAT(cluster.evicted, IsEmpty());
    EXPECT_THAT(cluster.events, IsEmpty());
    EXPECT_EQ(cluster.pods.at("default/big")->status.nominated_node_name, "");
    // Once they are carried out the plan goes on.
    cluster.responder = Responder::kEvicts;
    EXPECT_EQ(RunByRequest(plan, cluster).outcome, Applied::Outcome::kDone);
    EXPECT_EQ(cluster.NodeOf("big"), "n1");
    std::remove(path().c_str());
  }
}

TEST_F(ApplyByRequestTest, ARequestIsWithdrawnWhereNoPodWaitsForItsRoomAnyMore) {
  FakeCluster cluster;
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  cluster.responder = Responder::kHesitates;
  cluster.after_request = [&cluster] {
    cluster.Put(Node("n9", "4"));
    cluster.Put(test::MakePod().Name("big").Req({{"cpu", "4"}}).OnNode("n9"));
  };
  const Applied applied = RunByRequest(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_THAT(States(applied), ElementsAre(State::kSkipped, State::kSkipped, State::kDone));
  EXPECT_THAT(cluster.requests, IsEmpty());
  EXPECT_THAT(cluster.evicted, IsEmpty());
}

TEST_F(ApplyByRequestTest, ARequestThatAnotherDeletesEndsTheRun) {
  FakeCluster cluster;
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  cluster.responder = Responder::kHesitates;
  cluster.after_request = [&cluster] { cluster.requests.clear(); };
  EXPECT_THAT(RunByRequest(plan, cluster).why, HasSubstr("its EvictionRequest was deleted"));
  EXPECT_THAT(cluster.evicted, IsEmpty());
}

TEST_F(ApplyByRequestTest, ARefusedRequestEndsTheRun) {
  FakeCluster cluster;
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  cluster.forbidden = true;
  EXPECT_THAT(RunByRequest(plan, cluster).why,
              HasSubstr("the EvictionRequest is refused: forbidden"));
}

// A pod that went by itself needs no eviction, and one that is bound already no room.
class ApplyMeasuredTest : public ApplyTest {
 protected:
  static constexpr const char* kGoal = "skew=default/rs/web:1";
  // Four pods in one zone, none in the other; n3 is in the zone that has them.
  static void FillZones(FakeCluster& cluster) {
    cluster.Put(Node("n1", "4").Label(kZone, "a"));
    cluster.Put(Node("n2", "4").Label(kZone, "b"));
    cluster.Put(Node("n3", "1").Label(kZone, "a"));
    for (const char* name : {"a", "b", "c", "d"}) cluster.PutReady(Replica(name).OnNode("n1"));
    cluster.least_ready = 3;
  }
};

TEST_F(ApplyMeasuredTest, PodsAreSpread) {
  FakeCluster cluster;
  FillZones(cluster);
  const Plan plan = PlanOf(cluster, kGoal);
  ASSERT_EQ(plan.moves.size(), 2u);
  ASSERT_EQ(plan.moves.back().wave, 2u);
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_THAT(States(applied), ElementsAre(State::kDone, State::kDone));
  EXPECT_THAT(cluster.evicted, ElementsAre("a", "b"));
  EXPECT_EQ(cluster.NodeOf("next-1"), "n2");
  EXPECT_EQ(cluster.NodeOf("next-2"), "n2");
  EXPECT_EQ(cluster.lowest, 3);
  EXPECT_THAT(cluster.events.at("a"), HasSubstr("skew=default/ReplicaSet/web:1"));
}

TEST_F(ApplyMeasuredTest, AGoalThatIsReachedMeanwhileEndsTheEvictions) {
  FakeCluster cluster;
  FillZones(cluster);
  const Plan plan = PlanOf(cluster, kGoal);
  cluster.after_eviction = [&cluster] { cluster.pods.erase("default/c"); };
  cluster.least_ready = 2;
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_THAT(States(applied), ElementsAre(State::kDone, State::kSkipped));
  EXPECT_EQ(applied.moves[1].why, "the goal is reached already");
  EXPECT_THAT(cluster.evicted, ElementsAre("a"));
}

TEST_F(ApplyMeasuredTest, WherePodsLandedDecidesAtTheEnd) {
  FakeCluster cluster;
  FillZones(cluster);
  cluster.pods.erase("default/c");
  cluster.pods.erase("default/d");
  cluster.least_ready = 1;
  const Plan plan = PlanOf(cluster, kGoal);
  ASSERT_EQ(plan.moves.size(), 1u);
  cluster.goes_to = "n3";
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kStopped);
  EXPECT_EQ(applied.why,
            "the end: the skew of default/ReplicaSet/web over topology.kubernetes.io/zone is 2");
  EXPECT_THAT(States(applied), ElementsAre(State::kDone));
  EXPECT_EQ(applied.moves[0].node, "n3");
}

// Where a target is taken by another pod of the plan, the next best node is in the zone that is too
// full.
TEST_F(ApplyMeasuredTest, APodGetsNoTargetInAnotherDomain) {
  FakeCluster cluster;
  FillZones(cluster);
  cluster.Put(Node("n2", "1").Label(kZone, "b"));
  cluster.Put(Node("n4", "1").Label(kZone, "b"));
  cluster.Put(Node("n5", "8").Label(kZone, "a"));
  const Plan plan = PlanOf(cluster, kGoal);
  ASSERT_EQ(plan.moves.size(), 2u);
  ASSERT_NE(plan.moves[0].to, plan.moves[1].to);
  cluster.after_eviction = [&] {
    cluster.goes_to = plan.moves[cluster.evicted.size() == 1 ? 1 : 0].to;
  };
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_EQ(applied.moves[0].node, plan.moves[1].to);
  EXPECT_EQ(applied.moves[1].node, plan.moves[0].to);
  EXPECT_THAT(cluster.events.at("b"), HasSubstr("is to go from n1 to " + plan.moves[0].to));
}

TEST_F(ApplyMeasuredTest, WhatIsStrandedIsFreed) {
  FakeCluster cluster;
  cluster.Put(Node("g1", "1").Allocatable({{"example.com/gpu", "2"}}));
  cluster.Put(Node("n1", "1"));
  cluster.PutReady(Replica("a").OnNode("g1"));
  cluster.Put(test::MakePod().Name("train").Req({{"cpu", "1"}, {"example.com/gpu", "2"}}));
  const Plan plan = PlanOf(cluster, "stranded=example.com/gpu:1");
  ASSERT_EQ(plan.moves.size(), 1u);
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_THAT(cluster.evicted, ElementsAre("a"));
  EXPECT_EQ(cluster.NodeOf("next-1"), "n1");
}

TEST_F(ApplyTest, WhatIsDoneByOthersIsSkipped) {
  FakeCluster cluster;
  Fill(cluster);
  const Plan plan = PlanOf(cluster);
  cluster.pods.erase(plan.moves[0].pod);
  cluster.PutReady(Replica("z").OnNode(plan.moves[0].to));
  const Applied applied = Run(plan, cluster);
  EXPECT_EQ(applied.outcome, Applied::Outcome::kDone) << applied.why;
  EXPECT_THAT(States(applied), ElementsAre(State::kSkipped, State::kDone, State::kDone));
  EXPECT_EQ(cluster.evicted.size(), 1u);
}

}  // namespace
}  // namespace berth::plan
