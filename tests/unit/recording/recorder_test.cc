// SPDX-License-Identifier: Apache-2.0
#include "src/recording/recorder.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "src/api/decode.h"
#include "src/base/virtual_time.h"
#include "src/recording/file_sink.h"
#include "src/recording/recorded_text.h"
#include "tests/unit/recording/recording_fixture.h"

namespace berth::recording {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The bytes of all frames, unpacked.
std::string Unpacked(std::string_view bytes) {
  std::string all;
  while (!bytes.empty()) {
    const auto chunk = ReadChunk(bytes);
    if (!chunk) break;
    all += chunk->bytes;
  }
  return all;
}

simulator::SimulationOptions Options() {
  simulator::SimulationOptions options;
  options.scheduler.configuration = config::DefaultConfiguration(test::KnownDefaults());
  options.scheduler.seed = 1;
  return options;
}

// No file of this process may grow beyond `bytes`: a write that would is cut there, as on a disk
// that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : ignored_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0);
    std::signal(SIGXFSZ, ignored_);
  }

 private:
  void (*const ignored_)(int);
  rlimit before_{};
};

class RecorderTest : public testing::Test {
 protected:
  RecorderTest()
      : folder_(fs::path(testing::TempDir()) /
                ("recorder_test_" +
                 std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
  }
  ~RecorderTest() override { fs::remove_all(folder_); }

  // A recording of `pods` pods that are bound, in files. Returns how many decisions it has.
  uint64_t RecordPods(size_t pods, const FileLimits& limits) {
    simulator::SimulationOptions options = Options();
    clock_.Advance(seconds(1));
    auto recorder = Record(folder_.string(), limits, "test", clock_, ++random_, options.scheduler);
    EXPECT_TRUE(recorder) << recorder.error().message;
    options.start = clock_.Now();
    auto sim = simulator::Simulation::Make(options, plugins::InTreeRegistry());
    (*sim)->Start();
    (*sim)->Apply(test::MakeNode("n").Allocatable({{"cpu", "9"}, {"pods", "100000"}}).Ptr());
    for (size_t i = 0; i < pods; ++i) {
      const std::string name = "pod-" + std::to_string(i);
      (*sim)->Apply(test::MakePod().Name(name).Uid(name).Ptr());
      (*sim)->RunDue();
    }
    (*recorder)->Finish();
    return (*recorder)->num_decisions();
  }
  uint64_t Bytes() const {
    uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) bytes += entry.file_size();
    return bytes;
  }
  std::vector<RecordingFiles> Recordings() const {
    auto found = FindRecordings(folder_);
    return found ? *found : std::vector<RecordingFiles>();
  }

  const fs::path folder_;
  base::VirtualClock clock_;
  uint64_t random_ = 0;
};

TEST_F(RecorderTest, NoSecretThatStandsInAnObjectIsWritten) {
  test::RecordedSimulation recorded(Options());
  simulator::Simulation& sim = recorded.simulation();
  sim.Start();
  const auto decoded = api::DecodeJson<api::Pod>(R"({"apiVersion": "v1", "kind": "Pod",
      "metadata": {"name": "a", "namespace": "default", "uid": "u",
        "annotations": {
          "kubectl.kubernetes.io/last-applied-configuration": "planted-1", "note": "planted-2"},
        "managedFields": [{"manager": "planted-3"}]},
      "spec": {"schedulerName": "default-scheduler", "serviceAccountName": "planted-4",
        "containers": [{"name": "c", "image": "i", "command": ["planted-5"], "args": ["planted-6"],
          "env": [{"name": "K", "value": "planted-7"}]}],
        "volumes": [{"name": "v", "secret": {"secretName": "planted-8"}}]}})");
  ASSERT_TRUE(decoded) << decoded.error().message;
  sim.Apply(test::MakeNode("n").Ptr());
  sim.Apply(std::make_shared<const api::Pod>(*decoded));
  sim.Advance(seconds(1));
  const std::string frames = Unpacked(recorded.Finish());
  EXPECT_THAT(frames, HasSubstr("last-applied-configuration"));
  EXPECT_THAT(frames, Not(HasSubstr("planted")));
}

TEST_F(RecorderTest, ADigestShowsAChangeAndDependsOnItsKey) {
  RecordedText text(1, 2);
  RecordedText other(1, 3);
  EXPECT_EQ(text.Annotation("note", "a"), text.Annotation("note", "a"));
  EXPECT_NE(text.Annotation("note", "a"), text.Annotation("note", "b"));
  EXPECT_NE(text.Annotation("note", "a"), other.Annotation("note", "a"));
  EXPECT_EQ(text.Annotation("volume.kubernetes.io/selected-node", "n"), "n");
  // By these Relocation lets pods stay.
  EXPECT_EQ(text.Annotation("karpenter.sh/do-not-disrupt", "true"), "true");
  EXPECT_EQ(text.Annotation("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), "false");
  // The first and the last of the vectors of the reference implementation.
  const uint64_t key_a = 0x0706050403020100u;
  const uint64_t key_b = 0x0f0e0d0c0b0a0908u;
  EXPECT_EQ(SipHash(key_a, key_b, ""), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(SipHash(key_a, key_b, std::string_view("\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16", 15)),
            0xa129ca6149be45e5u);
}

TEST_F(RecorderTest, FilesFollowEachOtherAndAreReadAsOne) {
  const uint64_t decisions = RecordPods(6000, {.folder_bytes = 1 << 30, .file_bytes = 16 << 10});
  ASSERT_THAT(Recordings(), SizeIs(1));
  EXPECT_GT(Recordings()[0].parts.size(), 2u);
  auto reader = RecordingReader::Open(Recordings()[0].parts);
  ASSERT_TRUE(reader) << reader.error().message;
  uint64_t read = 0;
  while (const auto frame = reader->Next()) read += std::holds_alternative<AttemptEnded>(*frame);
  EXPECT_EQ(read, decisions);
  EXPECT_FALSE(reader->problem()) << *reader->problem();
  EXPECT_EQ(reader->end_reason(), "stopped");
  EXPECT_EQ(fs::status(Recordings()[0].parts[0]).permissions() & fs::perms::all,
            fs::perms::owner_read | fs::perms::owner_write);

  std::vector<fs::path> parts = Recordings()[0].parts;
  parts.erase(parts.begin() + 1);
  auto gap = RecordingReader::Open(parts);
  while (gap->Next()) continue;
  EXPECT_THAT(gap->problem().value_or(""), HasSubstr("part 1 is missing"));
  EXPECT_FALSE(gap->torn());
}

TEST_F(RecorderTest, OldRecordingsMakeRoomAndThenTheRecordingEnds) {
  const FileLimits limits{.folder_bytes = 64 << 10, .file_bytes = 16 << 10};
  RecordPods(300, limits);
  const std::string first = Recordings()[0].id;
  RecordPods(300, limits);
  RecordPods(300, limits);
  for (int i = 0; i < 4; ++i) RecordPods(300, limits);
  EXPECT_LE(Bytes(), limits.folder_bytes);
  for (const RecordingFiles& recording : Recordings()) EXPECT_NE(recording.id, first);

  const uint64_t decisions = RecordPods(20'000, limits);
  EXPECT_LE(Bytes(), limits.folder_bytes + (1 << 10));
  ASSERT_THAT(Recordings(), SizeIs(1));
  auto reader = RecordingReader::Open(Recordings()[0].parts);
  uint64_t read = 0;
  while (const auto frame = reader->Next()) read += std::holds_alternative<AttemptEnded>(*frame);
  EXPECT_FALSE(reader->problem());
  EXPECT_THAT(reader->end_reason(), HasSubstr("bytes of recordings"));
  EXPECT_LT(read, decisions);
  EXPECT_GT(read, 0u);
}

TEST_F(RecorderTest, AFullDiskEndsTheRecordingInGoodOrder) {
  uint64_t decisions = 0;
  {
    const FileSizeLimit limit(64 << 10);
    decisions = RecordPods(12'000, {});
  }
  auto reader = RecordingReader::Open(Recordings().at(0).parts);
  while (reader->Next()) continue;
  EXPECT_THAT(reader->end_reason(), HasSubstr("File too large"));
  const ReplayReport report = test::ReplayBytes(ReadAll(Recordings().at(0).parts.at(0)));
  EXPECT_TRUE(report.identical()) << test::Describe(report);
  EXPECT_FALSE(report.problem) << *report.problem;
  EXPECT_GT(report.decisions, 0u);
  EXPECT_LT(report.decisions, decisions);
}

TEST_F(RecorderTest, ADiskThatIsFullFromTheStartKeepsNothingFromRunning) {
  {
    const FileSizeLimit limit(16);
    EXPECT_GT(RecordPods(100, {}), 0u);
  }
  EXPECT_THAT(Recordings(), IsEmpty());
}

TEST_F(RecorderTest, AFolderThatCannotBeIsAnErrorAtTheStart) {
  std::ofstream(folder_) << "a file";
  auto made = FileSink::Make(folder_.string(), {}, {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr(folder_.string()));
}

TEST_F(RecorderTest, WhatAKillTearsIsToldWithItsPlace) {
  RecordPods(2000, {});
  const fs::path file = Recordings().at(0).parts.at(0);
  const std::string whole = ReadAll(file);
  const ReplayReport report = test::ReplayBytes(whole.substr(0, whole.size() / 2));
  EXPECT_TRUE(report.identical()) << test::Describe(report);
  EXPECT_TRUE(report.torn);
  EXPECT_THAT(report.problem.value_or(""), HasSubstr("bytes: at byte "));
}

TEST_F(RecorderTest, ARecordingOfAnotherFormatSaysWhoWroteIt) {
  Header header;
  header.berth_version = "0.9";
  std::string json = ToJson(header);
  const std::string_view format = "\"format\":4";
  ASSERT_NE(json.find(format), std::string::npos) << json;
  json.replace(json.find(format), format.size(), "\"format\":1");
  std::string bytes;
  ASSERT_TRUE(AppendChunk(ChunkType::kHeader, 0, json, bytes));
  const auto reader = RecordingReader::OpenBytes("old.rec", bytes);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().message,
            "old.rec: at byte 0: a recording of format 1, written by Berth 0.9; this version reads "
            "format 4");
}

TEST_F(RecorderTest, DamagedBytesAreFound) {
  RecordPods(200, {});
  const std::string whole = ReadAll(Recordings().at(0).parts.at(0));
  size_t found = 0;
  for (size_t at = 0; at < whole.size(); at += 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    auto reader = RecordingReader::OpenBytes("bytes", damaged);
    if (!reader) {
      ++found;
      continue;
    }
    while (reader->Next()) continue;
    found += reader->problem() ? 1 : 0;
  }
  EXPECT_EQ(found, (whole.size() + 96) / 97);
}

}  // namespace
}  // namespace berth::recording
