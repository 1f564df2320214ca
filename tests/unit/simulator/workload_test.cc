// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/workload.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::simulator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WorkloadTest, IsReadAndWritten) {
  EXPECT_EQ(Workload::Parse("shop/deploy/web")->ToString(), "shop/Deployment/web");
  EXPECT_EQ(Workload::Parse("shop/deployments.apps/web")->ToString(), "shop/Deployment/web");
  EXPECT_EQ(Workload::Parse("shop/Rollout/web")->ToString(), "shop/Rollout/web");
  EXPECT_EQ(*Workload::Parse("sts/db"), (Workload{"", "StatefulSet", "db"}));
  for (const char* text : {"", "web", "/deploy/web", "deploy/", "a/b/c/d"}) {
    EXPECT_FALSE(Workload::Parse(text)) << text;
  }
}

TEST(WorkloadTest, TheCostOfAPodsDeletionIsItsAnnotations) {
  const auto cost = [](std::string_view text) {
    return DeletionCostOf(
        test::MakePod().Annotation("controller.kubernetes.io/pod-deletion-cost", text).Obj());
  };
  EXPECT_EQ(DeletionCostOf(test::MakePod().Obj()), 0);
  EXPECT_EQ(cost("7"), 7);
  EXPECT_EQ(cost("-7"), -7);
  EXPECT_EQ(cost("dear"), 0);
}

class WorkloadPodsTest : public test::SimulatorFixture {
 protected:
  static test::PodBuilder Owned(std::string_view name, std::string_view kind,
                                std::string_view owner) {
    return test::MakePod().Name(name).Owner(kind, owner, owner);
  }
  std::vector<std::string> Names(std::string_view workload) {
    std::vector<std::string> names;
    for (const auto& pod : PodsMadeBy(*Workload::Parse(workload), *simulation_)) {
      names.push_back(pod->metadata.name);
    }
    return names;
  }
};

TEST_F(WorkloadPodsTest, AreThoseOfItsOwnOrOfItsReplicaSets) {
  auto set = std::make_shared<api::ReplicaSet>();
  set->metadata.namespace_ = "default";
  set->metadata.name = "web-1";
  api::OwnerReference owner;
  owner.kind = "Deployment";
  owner.name = "web";
  owner.controller = true;
  set->metadata.owner_references = {owner};
  simulation_->Apply(std::shared_ptr<const api::ReplicaSet>(std::move(set)));
  const Time deleted = Time(std::chrono::seconds(5));
  Apply(Owned("b", "ReplicaSet", "web-1"));
  Apply(Owned("a", "ReplicaSet", "web-1").OnNode("n1"));
  Apply(Owned("going", "ReplicaSet", "web-1").DeletedAt(deleted));
  Apply(Owned("other", "ReplicaSet", "web-2"));
  Apply(Owned("db-0", "StatefulSet", "db").DeletedAt(deleted));
  EXPECT_THAT(Names("default/deploy/web"), ElementsAre("a", "b"));
  EXPECT_THAT(Names("default/rs/web-2"), ElementsAre("other"));
  EXPECT_THAT(Names("default/sts/db"), ElementsAre("db-0"));
  EXPECT_THAT(Names("shop/deploy/web"), IsEmpty());
}

}  // namespace
}  // namespace berth::simulator
