// SPDX-License-Identifier: Apache-2.0
// Every fix, applied to the objects of another simulation, lets the pod be bound there by a
// scheduler that evicts no one for it; without any one of its changes, or with an amount that
// changes less, no node takes the pod.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "src/base/clock.h"
#include "src/explain/verdict_json.h"
#include "src/questions/changes.h"
#include "src/questions/fixes.h"
#include "tests/unit/simulator/random_simulation.h"

namespace berth::questions {
namespace {

using explain::Change;
using simulator::Simulation;
using test::Objects;

constexpr size_t kNodes = 6;
constexpr size_t kPlaced = 12;
constexpr size_t kPodsEach = 8;

// BERTH_FIXED_PODS asks for a long run.
size_t NumPods() {
  const char* pods = std::getenv("BERTH_FIXED_PODS");
  return pods == nullptr ? 300 : std::strtoull(pods, nullptr, 10);
}

// Half of the pods on nodes have a controller that makes them again.
Objects WithControllers(Objects objects) {
  bool next = false;
  for (api::ObjectPtr& object : objects) {
    const auto* pod = std::get_if<std::shared_ptr<const api::Pod>>(&object);
    if (pod == nullptr || (*pod)->spec.node_name.empty() || !(next = !next)) continue;
    auto owned = std::make_shared<api::Pod>(**pod);
    owned->metadata.owner_references = {{"apps/v1", "ReplicaSet", "set", "uid", true}};
    object = std::shared_ptr<const api::Pod>(std::move(owned));
  }
  return objects;
}

void Carry(const std::vector<Change>& changes, const std::string& key, Simulation& simulation) {
  for (const Change& change : changes) {
    auto delta = Apply(change, *simulation.FindPod(key), simulation.api());
    ASSERT_TRUE(delta) << ToText(change);
    for (const auto& [kind, removed] : delta->removed) simulation.Delete(kind, removed);
    for (api::ObjectPtr& object : delta->put) simulation.Apply(std::move(object));
  }
  simulation.RunDue();
}

class FixesPropertyTest : public testing::Test {
 protected:
  void Check(const Objects& objects, std::shared_ptr<const api::Pod> pod) {
    with_pod_ = objects;
    with_pod_.emplace_back(pod);
    key_ = pod->metadata.Key();
    const auto simulation = test::MakeSimulation(with_pod_);
    const std::string before = Verdict(*simulation);
    if (before.find("\"result\":\"unschedulable\"") == std::string::npos) return;
    const explain::Fixes fixes = FindFixes(*simulation, simulation->FindPod(key_), clock_);
    EXPECT_EQ(Verdict(*simulation), before) << "the search left something behind";
    ++unschedulable_;
    if (!fixes.fixes.empty()) ++fixed_;
    tried_ += fixes.tried;
    for (const explain::Fix& fix : fixes.fixes) {
      SCOPED_TRACE(fix.changes.size() == 1 ? ToText(fix.changes.front())
                                           : ToText(fix.changes.front()) + " and more");
      CheckSchedules(fix);
      CheckSmallest(fix);
      ++by_name_[fix.changes.size() == 1 ? std::string(ChangeName(fix.changes.front()))
                                         : "several"];
    }
  }

  std::string Verdict(Simulation& simulation) {
    std::string out;
    const auto judgement = simulation.scheduler().Judge(simulation.FindPod(key_));
    judgement->Explain();
    explain::VerdictWriter(simulation.scheduler().cache()).Append(*judgement, out);
    return out;
  }
  bool Schedules(const std::vector<Change>& changes) {
    const auto simulation = test::MakeSimulation(with_pod_);
    Carry(changes, key_, *simulation);
    return simulation->scheduler().Judge(simulation->FindPod(key_))->kind() ==
           engine::Judgement::Kind::kScheduled;
  }
  void CheckSchedules(const explain::Fix& fix) {
    const auto simulation = test::MakeSimulation(with_pod_);
    Carry(fix.changes, key_, *simulation);
    simulation->RunUntilQuiet(std::chrono::minutes(1));
    EXPECT_THAT(fix.nodes, testing::Contains(simulation->FindPod(key_)->spec.node_name));
    EXPECT_TRUE(simulation->api().evicted().empty());
  }
  void CheckSmallest(const explain::Fix& fix) {
    for (size_t i = 0; i < fix.changes.size(); ++i) {
      std::vector<Change> fewer = fix.changes;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(Schedules(fewer)) << ToText(fix.changes[i]) << " is not needed";
      std::vector<Change> less = fix.changes;
      if (auto* lower = std::get_if<explain::LowerRequest>(&less[i])) {
        lower->to = FromAmount(lower->resource, Amount(lower->resource, lower->to) + 1, lower->to);
        EXPECT_FALSE(Schedules(less)) << ToText(less[i]) << " suffices";
      }
      if (auto* relax = std::get_if<explain::RelaxSpread>(&less[i]);
          relax && --relax->to > relax->from) {
        EXPECT_FALSE(Schedules(less)) << ToText(less[i]) << " suffices";
      }
    }
  }

  base::VirtualClock clock_{Time()};
  Objects with_pod_;
  std::string key_;
  size_t unschedulable_ = 0;
  size_t fixed_ = 0;
  size_t tried_ = 0;
  std::map<std::string, size_t> by_name_;
};

TEST_F(FixesPropertyTest, EachFixLetsThePodScheduleAndNoLessDoes) {
  const size_t wanted = NumPods();
  for (uint64_t seed = 1; unschedulable_ < wanted && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Objects objects = WithControllers(test::RandomObjects(random, kNodes, kPlaced));
    for (size_t i = 0; i < kPodsEach && unschedulable_ < wanted && !HasFailure(); ++i) {
      SCOPED_TRACE("pod " + std::to_string(i));
      Check(objects, std::make_shared<const api::Pod>(test::RandomPendingPod(random, i, kNodes)));
    }
  }
  std::string kinds;
  for (const auto& [name, count] : by_name_) kinds += " " + name + "=" + std::to_string(count);
  std::printf("%zu of %zu pods can be fixed, %zu trials each:%s\n", fixed_, unschedulable_,
              tried_ / std::max<size_t>(unschedulable_, 1), kinds.c_str());
  EXPECT_GT(fixed_ * 10, unschedulable_ * 3);
  EXPECT_TRUE(by_name_.contains("MovePods") || wanted < 300);
}

}  // namespace
}  // namespace berth::questions
