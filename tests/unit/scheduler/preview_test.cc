// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <sstream>

#include "src/engine/judgement.h"
#include "tests/support/fake_extender.h"
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

TEST_F(PreviewTest, AnExplanationAsksNoExtenderAndSaysWhich) {
  config::Extender all;
  all.url_prefix = "http://all";
  all.filter_verb = "filter";
  config::Extender of_gpus = all;
  of_gpus.url_prefix = "http://gpus";
  of_gpus.managed_resources = {{"example.com/gpu", false}};
  config::Extender binder = all;
  binder.url_prefix = "http://binder";
  binder.filter_verb.clear();
  binder.bind_verb = "bind";
  options_.configuration.extenders = {all, of_gpus, binder};
  const auto fake = std::make_shared<test::FakeExtender>();
  fake->filters = true;
  fake->failed["n1"] = "busy";
  options_.extenders = {fake};
  Restart();
  AddNode(test::MakeNode("n1"));
  const auto pod = test::MakePod().Name("web").Ptr();
  AddPod(pod);
  Turn();
  const auto judgement = scheduler().Judge(pod);
  EXPECT_EQ(judgement->kind(), engine::Judgement::Kind::kScheduled);
  EXPECT_THAT(judgement->extenders_not_asked(), testing::ElementsAre("http://all"));
  EXPECT_THAT(fake->calls, testing::IsEmpty());
  const auto with_gpu = test::MakePod().Name("ai").Req({{"example.com/gpu", "1"}}).Ptr();
  EXPECT_THAT(scheduler().Judge(with_gpu)->extenders_not_asked(),
              testing::ElementsAre("http://all", "http://gpus"));
}

}  // namespace
}  // namespace berth::scheduler
