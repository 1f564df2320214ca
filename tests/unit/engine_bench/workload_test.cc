// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/engine/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// `size` with a tenth of everything.
Size Tenth(Size size) {
  for (auto& [name, number] : size.numbers) number = (number + 9) / 10;
  return size;
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
  EXPECT_EQ(CountOf(workload->steps[0].create.at(0), *size), 3U);
  const WorkloadStep& measured = workload->steps[1];
  EXPECT_TRUE(measured.measured);
  EXPECT_EQ(CountOf(measured.create.at(0), *size), 4U);
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
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.step);
    const auto workload = Read(std::string(kHead) + c.step + "\n");
    ASSERT_FALSE(workload);
    EXPECT_THAT(workload.error().message, HasSubstr(c.want));
  }
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
  const std::vector<std::string> files = WorkloadFiles();
  ASSERT_FALSE(files.empty());
  std::set<uint64_t> placements;
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const auto workload = ReadWorkload(file);
    ASSERT_TRUE(workload) << workload.error().message;
    const Size* named = nullptr;
    for (const Size& size : workload->sizes) {
      if (named == nullptr || size.numbers.at("measure") < named->numbers.at("measure")) {
        named = &size;
      }
    }
    const Size size = Tenth(*named);
    const auto measured = RunWorkload(*workload, size, {});
    const auto plain = RunWorkload(*workload, size, {true, 0, nullptr});
    ASSERT_TRUE(measured && plain);
    EXPECT_GT(measured->measured, 0U);
    EXPECT_EQ(measured->bound, measured->measured);
    EXPECT_EQ(plain->fingerprint, measured->fingerprint);
    placements.insert(measured->fingerprint);
  }
  EXPECT_GT(placements.size(), files.size() / 2);  // they say something
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
