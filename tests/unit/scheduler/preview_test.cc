// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <sstream>

#include "src/engine/judgement.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::scheduler {
namespace {

using testing::Contains;
using testing::HasSubstr;

class PreviewTest : public test::SchedulerFixture {
 protected:
  // How often the metrics say that plugins, attempts and preemption were heard of.
  std::vector<std::string> Counts() {
    std::vector<std::string> lines;
    std::istringstream text(Metrics());
    for (std::string line; std::getline(text, line);) {
      for (const char* name :
           {"scheduler_framework_extension_point_", "scheduler_plugin_", "scheduler_preemption_",
            "scheduler_schedule_attempts_", "scheduler_scheduling_"}) {
        if (line.starts_with(name) && line.find("_bucket{") == line.npos) lines.push_back(line);
      }
    }
    return lines;
  }
};

TEST_F(PreviewTest, AnExplanationAndItsPreviewOfPreemptionCountInNoMetric) {
  Synced();
  AddNode(test::MakeNode("n1").Allocatable({{"cpu", "1"}}));
  AddNode(test::MakeNode("n2").Allocatable({{"cpu", "1"}}));
  AddPod(test::MakePod().Name("low").OnNode("n2").Req({{"cpu", "1"}}));
  // PreFilter leaves only n2, so that the preview asks about the nominated node by itself.
  const auto pod = test::MakePod()
                       .Name("high")
                       .Priority(10)
                       .Req({{"cpu", "1"}})
                       .NominatedNode("n1")
                       .RequireNode({}, {test::MakeRequirement("metadata.name", "In", {"n2"})})
                       .Ptr();
  AddPod(pod);
  Turn();
  const std::vector<std::string> before = Counts();
  ASSERT_THAT(before, Contains(HasSubstr("scheduler_plugin_evaluation_total{")));
  const auto judgement = scheduler().Judge(pod);
  judgement->Explain();
  judgement->PreviewPreemption();
  ASSERT_EQ(judgement->kind(), engine::Judgement::Kind::kUnschedulable);
  ASSERT_TRUE(judgement->preemption().has_value());
  EXPECT_EQ(judgement->preemption()->candidates.size(), 1u);
  EXPECT_EQ(Counts(), before);
}

}  // namespace
}  // namespace berth::scheduler
