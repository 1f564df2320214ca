// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/in_tree_registry.h"
#include "src/config/load.h"
#include "src/config/write.h"
#include "src/recording/chunk.h"
#include "src/recording/recorded_extender.h"
#include "src/recording/recorder.h"
#include "src/recording/replay.h"
#include "src/simulator/simulation.h"
#include "tests/support/builders.h"
#include "tests/support/default_plugins.h"

namespace berth::test {

// Keeps a recording as the bytes of one file.
class BytesSink final : public recording::ChunkSink {
 public:
  BytesSink(const recording::Header& header, std::string& bytes) : bytes_(bytes) {
    EXPECT_TRUE(AppendChunk(recording::ChunkType::kHeader, next_++, ToJson(header), bytes_));
  }
  Result<void> Write(std::string_view frames) override {
    return AppendChunk(recording::ChunkType::kFrames, next_++, frames, bytes_);
  }
  Result<void> WriteLast(std::string_view frames) override { return Write(frames); }

 private:
  std::string& bytes_;
  uint32_t next_ = 0;
};

inline config::KnownPlugins KnownDefaults() { return {DefaultPlugins()}; }

// A simulation that is recorded into bytes.
class RecordedSimulation {
 public:
  explicit RecordedSimulation(
      simulator::SimulationOptions options,
      const std::vector<PluginRegistration>& registry = plugins::InTreeRegistry()) {
    const recording::Header header =
        recording::MakeHeader(options.scheduler, "test", "test", options.start);
    recorder_ = std::make_unique<recording::Recorder>(
        recording::RecorderOptions{.start = options.start, .key_a = 1, .key_b = 2},
        std::make_unique<BytesSink>(header, bytes_));
    options.scheduler.tape = recorder_.get();
    for (auto& extender : options.scheduler.extenders) {
      extender = std::make_shared<recording::RecordedExtender>(std::move(extender), *recorder_);
    }
    auto made = simulator::Simulation::Make(options, registry);
    EXPECT_TRUE(made) << made.error().message;
    simulation_ = std::move(*made);
  }

  simulator::Simulation& simulation() { return *simulation_; }
  // Ends the recording.
  const std::string& Finish() {
    recorder_->Finish();
    return bytes_;
  }
  const recording::Recorder& recorder() const { return *recorder_; }

 private:
  std::string bytes_;
  std::unique_ptr<recording::Recorder> recorder_;
  std::unique_ptr<simulator::Simulation> simulation_;
};

inline Result<config::SchedulerConfiguration> LoadRecorded(std::string_view yaml) {
  return config::Load(yaml, "the recording", KnownDefaults());
}

// Replays the bytes with the recorded configuration, changed.
inline recording::ReplayReport ReplayBytes(
    const std::string& bytes,
    const std::function<void(config::SchedulerConfiguration&)>& change = nullptr,
    std::vector<uint64_t> explain = {},
    const std::vector<PluginRegistration>& registry = plugins::InTreeRegistry()) {
  auto reader = recording::RecordingReader::OpenBytes("bytes", bytes);
  EXPECT_TRUE(reader) << reader.error().message;
  auto configuration = LoadRecorded(reader->header().configuration);
  EXPECT_TRUE(configuration) << configuration.error().message;
  recording::ReplayOptions options;
  options.configuration = std::move(*configuration);
  if (change) change(options.configuration);
  options.load = LoadRecorded;
  options.explain = std::move(explain);
  auto report = recording::Replay(*reader, registry, options);
  EXPECT_TRUE(report) << report.error().message;
  return std::move(*report);
}

// "node default/web-1: n1 -> n2, ..." for failures of tests.
inline std::string Describe(const recording::ReplayReport& report) {
  std::string text = std::to_string(report.num_differences) + " differences\n";
  for (const recording::Difference& difference : report.differences) {
    const auto tell = [](const std::optional<recording::AttemptEnded>& decision) {
      if (!decision) return std::string("(none)");
      return decision->node_name.empty() ? "-: " + decision->message : decision->node_name;
    };
    text += std::to_string(difference.number) + " " + std::string(NameOf(difference.kind)) + " " +
            difference.pod + ": " + tell(difference.recorded) + " | " + tell(difference.replayed) +
            " | " + difference.why + "\n";
  }
  return text;
}

}  // namespace berth::test
