// SPDX-License-Identifier: Apache-2.0
// A question is answered alike, draws included, by a picture whose pods came in the order of their
// creation and by a copy of one to which they came in any other: as dumps, the page and a running
// scheduler have theirs.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/questions/what_if.h"
#include "tests/unit/simulator/random_simulation.h"

namespace berth::questions {
namespace {

constexpr uint64_t kClusters = 40;
constexpr size_t kNodes = 6;
constexpr size_t kPlaced = 8;
constexpr size_t kPending = 10;

using PodPtr = std::shared_ptr<const api::Pod>;

constexpr const char* kQuestions[] = {
    R"({"addNodes": {"count": 1, "like": "node-0"}})", R"({"removeNodes": ["node-1"]})",
    R"({"drain": ["node-0", "node-2"]})", R"({"cordon": ["node-3"], "reschedule": true})"};

struct Objects {
  test::Objects others;
  std::vector<PodPtr> pods;

  test::Objects All() const {
    test::Objects all = others;
    all.insert(all.end(), pods.begin(), pods.end());
    return all;
  }
};

// Pods of few priorities and times, some of which a controller makes again.
Objects RandomPicture(Random& random) {
  Objects objects;
  const auto add = [&](api::Pod pod) {
    pod.metadata.name = "pod-" + std::to_string(objects.pods.size());
    pod.metadata.uid = pod.metadata.Key();
    pod.metadata.creation_timestamp = Time(std::chrono::seconds(random.Below(kPending)));
    // Victims of one priority are those that the node's list has first.
    pod.spec.preemption_policy = "Never";
    if (random.Below(3) > 0) {
      pod.metadata.owner_references = {{.api_version = "apps/v1",
                                        .kind = "ReplicaSet",
                                        .name = "web",
                                        .uid = "web",
                                        .controller = true}};
    }
    objects.pods.push_back(std::make_shared<const api::Pod>(std::move(pod)));
  };
  for (const api::ObjectPtr& object : test::RandomObjects(random, kNodes, kPlaced)) {
    if (const auto* pod = api::As<api::Pod>(object)) {
      add(*pod);
    } else {
      objects.others.push_back(object);
    }
  }
  for (size_t i = 0; i < kPending; ++i) add(test::RandomPendingPod(random, i, kNodes));
  return objects;
}

std::string Answer(const char* question, simulator::Simulation& simulation) {
  const auto parsed = ParseWhatIf(question);
  EXPECT_TRUE(parsed);
  const auto answer = AskWhatIf(*parsed, simulation);
  if (!answer) return answer.error().message;
  std::string text;
  AppendAnswer(*answer, text);
  return text;
}

TEST(CopiesPropertyTest, ACopyAnswersAsAPictureToWhichPodsCameByTheirCreation) {
  size_t moved = 0;
  for (uint64_t seed = 1; seed <= kClusters; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Objects objects = RandomPicture(random);
    const auto shuffled = test::MakeSimulation(objects.All());
    std::ranges::sort(objects.pods, simulator::CreatedBefore,
                      [](const PodPtr& pod) -> const api::ObjectMeta& { return pod->metadata; });
    for (const char* question : kQuestions) {
      SCOPED_TRACE(question);
      const auto by_creation = test::MakeSimulation(objects.All());
      const auto copy = test::MakeSimulation({});
      simulator::CopyObjects(*shuffled, *copy);
      const std::string answer = Answer(question, *by_creation);
      EXPECT_EQ(Answer(question, *copy), answer);
      if (answer.find(R"("pods":[])") == std::string::npos) ++moved;
    }
  }
  EXPECT_GT(moved, kClusters);
}

}  // namespace
}  // namespace berth::questions
