// SPDX-License-Identifier: Apache-2.0
// What an engine keeps between decisions stays within its limit, and the limit counts all of it.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>

#include "src/cache/cache.h"
#include "src/config/types.h"
#include "src/engine/dry_run.h"
#include "src/engine/engine.h"
#include "src/engine/kept_evaluations.h"
#include "src/framework/runtime.h"
#include "tests/support/builders.h"
#include "tests/support/default_profile.h"
#include "tests/support/fake_handle.h"
#include "tests/support/heap_bytes.h"

namespace berth::engine {
namespace {

constexpr size_t kNodes = 2000;
constexpr size_t kClasses = 40;

class KeptBytesTest : public testing::Test {
 protected:
  KeptBytesTest() {
    handle_.current_snapshot = &cache_;
    profile_ = test::DefaultProfile(handle_);
    cache_.SetSignatureParts(profile_->signature_parts());
    for (size_t i = 0; i < kNodes; ++i) {
      const std::string name = "n" + std::to_string(i);
      cache_.SetNode(test::MakeNode(name)
                         .Label("kubernetes.io/hostname", name)
                         .Label("zone", std::to_string(i % 3))
                         .Allocatable({{"cpu", "8"}, {"memory", "16Gi"}, {"pods", "110"}})
                         .Ptr());
    }
  }

  // One decision; pods with the same number are alike.
  void Decide(Engine& engine, size_t number, bool spread) {
    const std::string app = "app-" + std::to_string(number);
    test::PodBuilder pod = test::MakePod().Label("app", app).Req({{"cpu", "100m"}});
    if (spread) {
      pod.Spread(1, "zone", "DoNotSchedule", {{"app", app}})
          .Spread(1, "kubernetes.io/hostname", "ScheduleAnyway", {{"app", app}});
    }
    // Each class asks for other amounts, so that they share little.
    api::Pod made = pod;
    made.spec.containers.front().resources.requests.front().second =
        api::Quantity::FromMilli(100 + static_cast<int64_t>(number));
    framework::Cycle cycle;
    const PodInfoPtr info = cache_.MakePodInfo(std::make_shared<const api::Pod>(std::move(made)));
    infos_.push_back(info);
    const ClusterState world{cache_, nominations_, handle_.plain_listers.generation()};
    EXPECT_EQ(engine.Schedule(*profile_, cycle, *info, world, 0).kind, Decision::Kind::kScheduled);
  }

  test::FakeHandle handle_;
  cache::Cache cache_;
  std::unique_ptr<framework::Profile> profile_;
  cache::Nominator nominations_;
  std::vector<PodInfoPtr> infos_;
};

TEST_F(KeptBytesTest, AClassThatIsNotDecidedAnyMoreGoes) {
  Engine engine(Random(1), cache_, size_t{1} << 30);
  for (size_t i = 0; i < 4; ++i) Decide(engine, i % 2, true);
  const size_t both = engine.kept()->bytes();
  for (uint32_t age = 1; age < KeptEvaluations::kMaxAge; ++age) engine.AgeKept();
  Decide(engine, 1, true);
  EXPECT_EQ(engine.kept()->num_classes(), 2u);
  engine.AgeKept();
  EXPECT_EQ(engine.kept()->num_classes(), 1u);
  EXPECT_LT(engine.kept()->bytes(), both * 2 / 3);
  Decide(engine, 1, true);
  EXPECT_GT(engine.kept()->num_decided(), 1u);
}

TEST_F(KeptBytesTest, WhatIsCountedIsAboutWhatIsTaken) {
  for (const bool spread : {false, true}) {
    Engine engine(Random(1), cache_, size_t{1} << 30);
    for (size_t i = 0; i < 4; ++i) Decide(engine, i % 2, spread);
    const size_t counted_before = engine.kept()->bytes();
    const size_t before = test::HeapBytes();
    for (size_t i = 2; i < kClasses; ++i) {
      for (int twice = 0; twice < 2; ++twice) Decide(engine, i, spread);
    }
    const size_t counted = engine.kept()->bytes() - counted_before;
    const size_t taken = test::HeapBytes() - before;
    std::cout << (spread ? "spread" : "plain") << " pods on " << kNodes << " nodes: counted "
              << counted / (kClasses - 2) << " bytes a class, taken " << taken / (kClasses - 2)
              << "\n";
    EXPECT_EQ(engine.kept()->num_classes(), kClasses);
    EXPECT_GT(counted, (kClasses - 2) * kNodes * 8);
    if (taken == 0) continue;  // a sanitizer does not say
    EXPECT_LT(counted, taken * 5 / 4);
    EXPECT_GT(counted, taken * 3 / 4);
    engine.ForgetKept();
    EXPECT_EQ(engine.kept()->bytes(), 0u);
  }
}

TEST_F(KeptBytesTest, WhatHappensBetweenDecisionsTakesNothing) {
  constexpr size_t kManyChanges = 4 * kNodes;
  Engine engine(Random(1), cache_, size_t{1} << 30);
  const auto change = [this](size_t times) {
    for (size_t i = 0; i < times / 2; ++i) {
      const std::string node = "n" + std::to_string(i % kNodes);
      const PodInfoPtr pod =
          cache_.MakePodInfo(test::MakePod().Name("passing").Uid("passing").OnNode(node).Ptr());
      ASSERT_TRUE(cache_.AddPod(pod).has_value());
      ASSERT_TRUE(cache_.RemovePod("passing"));
    }
  };
  for (int i = 0; i < 3; ++i) {
    change(2);
    for (size_t number = 0; number < kClasses; ++number) Decide(engine, number, true);
  }
  change(kManyChanges);
  Decide(engine, 0, true);
  const size_t before = test::HeapBytes();
  for (size_t number = 1; number < kClasses; ++number) Decide(engine, number, true);
  if (before == 0) GTEST_SKIP() << "a sanitizer does not say";
  const size_t each = (test::HeapBytes() - before) / (kClasses - 1);
  std::cout << each << " bytes a class after " << kManyChanges << " changes\n";
  EXPECT_LT(each, kManyChanges * sizeof(NodeRow));
}

// What preemption remembers of a pod is more than the limit has room for; the next pod is refused
// as one before it was.
TEST_F(KeptBytesTest, TheLimitHoldsWhereARefusalIsKept) {
  for (size_t i = 0; i < kNodes; ++i) {
    const std::string name = "low-" + std::to_string(i);
    ASSERT_TRUE(cache_.AddPod(cache_.MakePodInfo(test::MakePod()
                                                     .Name(name)
                                                     .Uid(name)
                                                     .OnNode("n" + std::to_string(i))
                                                     .Priority(-1)
                                                     .Req({{"cpu", "2"}})
                                                     .Ptr())));
  }
  framework::Cycle* running = nullptr;
  const auto world = [this] {
    return ClusterState{cache_, nominations_, handle_.plain_listers.generation()};
  };
  handle_.make_dry_run = [&](CycleState&, const PodInfo& pod) {
    return std::make_unique<PreemptionDryRun>(*profile_, *running, pod, world());
  };
  // Whether the pod is refused by what is kept.
  const auto ask = [&](Engine& engine, const char* cpu) {
    const PodInfoPtr pod = cache_.MakePodInfo(test::MakePod().Req({{"cpu", cpu}}).Ptr());
    infos_.push_back(pod);
    framework::Cycle cycle;
    running = &cycle;
    const Decision decision = engine.Schedule(*profile_, cycle, *pod, world(), 0);
    EXPECT_EQ(decision.kind, Decision::Kind::kUnfit);
    if (decision.refusal != nullptr) return true;
    handle_.pending_pods = {pod->pod};
    const auto preview = framework::RunPreemptionPreview(*profile_, cycle, *pod, cache_,
                                                         engine.diagnosis().statuses);
    EXPECT_TRUE(preview);
    if (preview && preview->best.empty()) {
      engine.KeepRefusal(*profile_, *pod, world(), {});
    }
    return false;
  };
  handle_.virtual_clock.Advance(std::chrono::hours(1));  // all of them have started
  Engine without_limit(Random(1), cache_, size_t{1} << 30);
  EXPECT_FALSE(ask(without_limit, "90"));
  EXPECT_FALSE(ask(without_limit, "7"));
  EXPECT_TRUE(ask(without_limit, "90"));
  const size_t limit = without_limit.kept()->bytes() - 1;
  Engine engine(Random(1), cache_, limit);
  EXPECT_FALSE(ask(engine, "90"));
  EXPECT_FALSE(ask(engine, "7"));
  EXPECT_GT(engine.kept()->bytes(), limit);
  EXPECT_TRUE(ask(engine, "90"));
  EXPECT_LE(engine.kept()->bytes(), limit);
}

TEST_F(KeptBytesTest, TheLimitHolds) {
  constexpr size_t kLimit = size_t{1} << 20;
  Engine engine(Random(1), cache_, kLimit);
  for (size_t i = 0; i < kClasses; ++i) {
    for (int twice = 0; twice < 2; ++twice) Decide(engine, i, true);
    EXPECT_LE(engine.kept()->bytes(), kLimit);
  }
  EXPECT_GT(engine.kept()->num_classes(), 1u);
  EXPECT_LT(engine.kept()->num_classes(), kClasses);
}

}  // namespace
}  // namespace berth::engine
