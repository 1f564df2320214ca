// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/engine/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/bench/engine/run_workload.h"

namespace berth::bench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// The workload that the text is.
Result<Workload> Read(const std::string& text) {
  const fs::path file = fs::path(testing::TempDir()) / "workload_test.yaml";
  std::ofstream(file) << text;
  return ReadWorkload(file.string());
}

// Tests run in the project's root.
std::vector<std::string> WorkloadFiles() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator("tests/bench/engine/workloads")) {
    files.push_back(entry.path().string());
  }
  return files;
}

std::vector<Workload> ReadAll() {
  std::vector<Workload> workloads;
  for (const std::string& file : WorkloadFiles()) {
    auto workload = ReadWorkload(file);
    EXPECT_TRUE(workload) << workload.error().message;
    if (workload) workloads.push_back(*std::move(workload));
  }
  return workloads;
}

// A tenth of everything in the size with the fewest pods to measure.
Size TenthOfSmallest(const Workload& workload) {
  Size smallest =
      std::ranges::min(workload.sizes, {}, [](const Size& s) { return s.numbers.at("measure"); });
  for (auto& [name, number] : smallest.numbers) number = (number + 9) / 10;
  return smallest;
}

constexpr std::string_view kHead =
    "name: story\nabout: a test\nsizes: {small: {threshold: 7, nodes: 3, measure: 4}}\nsteps:\n";

TEST(ReadWorkloadTest, ReadsSizesCrowdsAndWhatHappensMeanwhile) {
  const auto workload = Read(std::string(kHead) +
                             "- nodes: [{repeat: nodes, name: node-$i}]\n"
                             "- measure:\n"
                             "    pods: [{repeat: measure, name: pod-$i}]\n"
                             "    meanwhile: [{every: 2, advance: 1s, deletePod: old-$i}]\n");
  ASSERT_TRUE(workload) << workload.error().message;
  const Size* size = workload->FindSize("small");
  ASSERT_NE(size, nullptr);
  EXPECT_EQ(size->threshold, 7U);
  ASSERT_EQ(workload->steps.size(), 2U);
  EXPECT_EQ(CountOf(workload->steps[0].create.at(0).count, *size), 3U);
  const WorkloadStep& measured = workload->steps[1];
  EXPECT_TRUE(measured.measured);
  EXPECT_EQ(CountOf(measured.create.at(0).count, *size), 4U);
  ASSERT_EQ(measured.meanwhile.size(), 1U);
  EXPECT_EQ(measured.meanwhile[0].every, 2U);
  EXPECT_EQ(measured.meanwhile[0].advance, std::chrono::seconds(1));
  EXPECT_EQ(measured.meanwhile[0].delete_pod, "default/old-$i");
}

TEST(ReadWorkloadTest, SaysWhereAFileIsWrong) {
  const struct {
    const char* step;
    const char* want;
  } cases[] = {
      {"- nodes: [{repeat: many, name: a}]", ":5: repeat: size small has no \"many\""},
      {"- nodes: [{name: a, spec: {colour: red}}]", ":5: nodes: spec.colour"},
      {"- dance: []", ":5: unknown field \"steps.dance\""},
      {"- measure: {meanwhile: []}", ":5: measure: expected pods"},
      {"- measure: {pods: [{name: a}], meanwhile: [{every: 0}]}", ":5: every: expected"},
      {"- nodeMetrics: [{repeat: many, name: a}]", ":5: repeat: size small has no \"many\""},
      {"- nodeMetrics: [{name: a, gpu: 3}]", ":5: unknown field \"nodeMetrics.gpu\""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.step);
    const auto workload = Read(std::string(kHead) + c.step + "\n");
    ASSERT_FALSE(workload);
    EXPECT_THAT(workload.error().message, HasSubstr(c.want));
  }
}

TEST(ReadWorkloadTest, ReadsTheConfigurationAndThePeer) {
  const auto workload = Read(
      "name: story\nconfig: {percentageOfNodesToScore: 10}\n"
      "peer: {workload: other, costsAtMost: 1.5}\n"
      "sizes: {small: {nodes: 3}}\nsteps:\n- nodes: [{repeat: nodes, name: node-$i}]\n");
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_EQ(workload->configuration.percentage_of_nodes_to_score, 10);
  ASSERT_TRUE(workload->peer);
  EXPECT_EQ(workload->peer->workload, "other");
  EXPECT_EQ(workload->peer->costs_at_most, 1.5);
}

TEST(ReadWorkloadTest, SaysWhatIsWrongWithTheConfigurationAndThePeer) {
  const struct {
    const char* line;
    const char* want;
  } cases[] = {
      {"config: {percentageOfNodesToScore: 101}", "percentageOfNodesToScore"},
      {"config: {colour: red}", "colour"},
      {"peer: {workload: other}", "peer.costsAtMost"},
      {"peer: {costsAtMost: 0}", "peer.costsAtMost"},
      {"peer: other", "peer: expected a map"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.line);
    const auto workload =
        Read("name: story\n" + std::string(c.line) + "\nsizes: {small: {nodes: 3}}\nsteps: []\n");
    ASSERT_FALSE(workload);
    EXPECT_THAT(workload.error().message, HasSubstr(c.want));
  }
}

TEST(PeerOfTest, FindsOneThatRunsInTheSameSizes) {
  const std::string steps = "steps:\n- nodes: [{repeat: nodes, name: node-$i}]\n";
  const auto made = [&](const std::string& name, const std::string& peer, const std::string& size) {
    return *Read("name: " + name + "\n" + peer + "sizes: {small: " + size + "}\n" +
                 (size == "{}" ? "steps: []\n" : steps));
  };
  const std::vector<Workload> all = {
      made("first", "peer: {workload: second, costsAtMost: 2}\n", "{nodes: 3}"),
      made("second", "", "{nodes: 5}"),
      made("third", "peer: {workload: second, costsAtMost: 2}\n", "{}"),
      made("fourth", "peer: {workload: none, costsAtMost: 2}\n", "{}"),
      made("fifth", "config: {percentageOfNodesToScore: 10}\npeer: {costsAtMost: 2}\n", "{}"),
  };
  EXPECT_EQ((*PeerOf(all[0], all))->name, "second");
  EXPECT_FALSE(*PeerOf(all[1], all));
  EXPECT_EQ(PeerOf(all[2], all).error().message, "third: size small has no \"nodes\" for second");
  EXPECT_EQ(PeerOf(all[3], all).error().message, "fourth: there is no workload \"none\"");
  EXPECT_EQ((*PeerOf(all[4], all))->configuration.percentage_of_nodes_to_score, 0);
}

TEST(ObjectTemplateTest, CopiesDifferAsTheNumberSaysWhereverItStands) {
  const auto workload = Read(std::string(kHead) +
                             "- pods:\n"
                             "  - {name: pod-$i, namespace: ns-$i%2, labels: {app: web-$i}}\n"
                             "  - {name: pod-$i, spec: {nodeSelector: {disk: d-$i}}}\n");
  ASSERT_TRUE(workload) << workload.error().message;
  const auto& crowds = workload->steps[0].create;
  const api::ObjectPtr first = crowds[0].object.Copy(3, "uid-3");
  const auto* pod = api::As<api::Pod>(first);
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(pod->metadata.Key(), "ns-1/pod-3");
  EXPECT_EQ(crowds[0].object.KeyOfCopy(3), "ns-1/pod-3");
  EXPECT_EQ(pod->metadata.uid, "uid-3");
  EXPECT_EQ(*api::Find(pod->metadata.labels, "app"), "web-3");
  const api::ObjectPtr second = crowds[1].object.Copy(3, "uid-3");
  EXPECT_EQ(*api::Find(api::As<api::Pod>(second)->spec.node_selector, "disk"), "d-3");
}

// The workloads are a test of the engine, too: plain evaluation decides nothing else.
TEST(RunWorkloadTest, EveryPodFindsAPlaceAndPlainEvaluationPlacesThemAlike) {
  const std::vector<Workload> workloads = ReadAll();
  ASSERT_FALSE(workloads.empty());
  std::set<uint64_t> placements;
  for (const Workload& workload : workloads) {
    SCOPED_TRACE(workload.name);
    const Size size = TenthOfSmallest(workload);
    const auto measured = RunWorkload(workload, size, {});
    const auto plain = RunWorkload(workload, size, {true, 0, nullptr});
    ASSERT_TRUE(measured && plain);
    EXPECT_GT(measured->measured, 0U);
    EXPECT_EQ(measured->bound, measured->measured);
    EXPECT_EQ(plain->fingerprint, measured->fingerprint);
    placements.insert(measured->fingerprint);
  }
  EXPECT_GT(placements.size(), workloads.size() / 2);  // they say something
}

TEST(RunPairTest, BothBindTheSamePods) {
  const std::vector<Workload> workloads = ReadAll();
  std::vector<std::string> pairs;
  for (const Workload& workload : workloads) {
    const auto peer = PeerOf(workload, workloads);
    ASSERT_TRUE(peer) << peer.error().message;
    if (!*peer) continue;
    const std::string& named = workload.peer->workload;
    pairs.push_back(workload.name + " beside " + (named.empty() ? "itself" : named));
    SCOPED_TRACE(pairs.back());
    const auto pair = RunPair(workload, **peer, TenthOfSmallest(workload), {});
    ASSERT_TRUE(pair);
    EXPECT_GT(pair->measured.measured, 0U);
    EXPECT_EQ(pair->measured.bound, pair->measured.measured);
    EXPECT_EQ(pair->peer.bound, pair->measured.measured);
    EXPECT_GT(pair->cost(), 0);
    // Gangs of either kind go to the same nodes; other scores choose others.
    EXPECT_EQ(pair->peer.fingerprint == pair->measured.fingerprint, !named.empty());
  }
  EXPECT_THAT(pairs,
              UnorderedElementsAre("Coscheduling beside GangScheduling",
                                   "Coscheduling_500PerGroup beside GangScheduling_500PerGroup",
                                   "SchedulerPlugins beside itself"));
}

TEST(RunWorkloadTest, ALimitMeasuresTheFirstPodsOnly) {
  const auto workload = Read(std::string(kHead) +
                             "- nodes: [{repeat: nodes, name: node-$i}]\n"
                             "- measure: {pods: [{repeat: measure, name: pod-$i}]}\n");
  ASSERT_TRUE(workload) << workload.error().message;
  const auto measured = RunWorkload(*workload, workload->sizes[0], {false, 2, nullptr});
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->nodes, 3U);
  EXPECT_EQ(measured->measured, 2U);
  EXPECT_EQ(measured->bound, 2U);
  EXPECT_EQ(measured->decisions, 2U);
}

}  // namespace
}  // namespace berth::bench
