// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/unit/scheduler/pod_group_fixture.h"

namespace berth::scheduler {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class PodGroupPreviewTest : public test::PodGroupFixture {};

TEST_F(PodGroupPreviewTest, TellsWhereEachPodWouldGoAndWhatIsMissing) {
  AddNodeWithCpu("n1", 2);
  AddGroup(MakeGroup("train", 3));
  AddMembers("train", 3);
  Turn();
  const auto group = scheduler().PreviewPodGroup(*Member("train", 0).Ptr());
  ASSERT_TRUE(group);
  EXPECT_FALSE(group->starts);
  EXPECT_EQ(group->fitting, 2u);
  ASSERT_THAT(group->waiting, SizeIs(3));
  EXPECT_EQ(group->waiting[0].node, "n1");
  EXPECT_THAT(group->waiting[2].message, HasSubstr("Insufficient cpu"));
  EXPECT_THAT(group->message, HasSubstr("minCount (3) cannot be satisfied"));
  EXPECT_EQ(scheduler().cache().num_assumed(), 0u);
}

TEST_F(PodGroupPreviewTest, AGroupWhosePodsAreNominatedIsNotTried) {
  AddNodeWithCpu("n1", 1);
  AddPod(test::MakePod().Name("low").Req({{"cpu", "1"}}).Priority(1).OnNode("n1"));
  AddGroup(MakeGroup("train", 1, 10));
  AddPod(Member("train", 0).Priority(10));
  Turn();
  ASSERT_THAT(Deletions(), SizeIs(1));
  const auto group = scheduler().PreviewPodGroup(*Member("train", 0).Ptr());
  ASSERT_TRUE(group);
  EXPECT_EQ(group->message, "not tried: default/train-0 is nominated for a node");
  EXPECT_EQ(group->fitting, 0u);
  EXPECT_EQ(scheduler().nominator().NominatedNode("uid-train-0"), "n1");
}

// Nodes that are equal are drawn by lot, also for the pods of a preview.
TEST(PodGroupPreviewPropertyTest, LaterDecisionsAreTheSame) {
  class World : public PodGroupPreviewTest {
   public:
    void TestBody() override {}
    std::vector<std::string> Run(int previews) {
      for (int i = 0; i < 6; ++i) AddNodeWithCpu("n" + std::to_string(i), 4);
      AddGroup(MakeGroup("train", 30));
      AddMembers("train", 30);
      for (int i = 0; i < 12; ++i) {
        Turn();
        for (int k = 0; k < previews; ++k) {
          const auto group = scheduler().PreviewPodGroup(*Member("train", 0).Ptr());
          EXPECT_TRUE(group && !group->starts);
        }
        AddPod(test::MakePod().Name("p" + std::to_string(i)).Req({{"cpu", "1"}}));
      }
      Turn();
      return Bindings();
    }
  };
  const std::vector<std::string> without = World().Run(0);
  EXPECT_THAT(without, SizeIs(12));
  EXPECT_EQ(World().Run(1), without);
  EXPECT_EQ(World().Run(3), without);
}

}  // namespace
}  // namespace berth::scheduler
