// SPDX-License-Identifier: Apache-2.0
#include "src/recording/replay.h"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/in_tree/points.h"
#include "src/api/decode.h"
#include "src/api/protobuf_writer.h"
#include "src/api/protobuf_writes.h"
#include "src/recording/frame_writer.h"
#include "src/simulator/answers.h"
#include "tests/support/device_builders.h"
#include "tests/support/plugin_kinds.h"
#include "tests/support/volume_builders.h"
#include "tests/unit/recording/recording_fixture.h"
#include "tests/unit/simulator/random_simulation.h"

namespace berth::recording {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

simulator::SimulationOptions Options(uint64_t seed) {
  simulator::SimulationOptions options;
  options.scheduler.configuration = config::DefaultConfiguration(test::KnownDefaults());
  options.scheduler.seed = seed;
  return options;
}

test::PodBuilder PodOf(Random& random, size_t index) {
  const uint64_t which = random.Below(8);
  test::PodBuilder pod = test::StoryPod(which, index, "app-" + std::to_string(random.Below(4)));
  if (which < 7 && random.Below(4) == 0) {
    pod.Priority(static_cast<int32_t>(random.Below(3)) * 100);
  }
  return pod;
}

// Plays one random story: nodes and pods come and go, and some make room for others.
void Play(uint64_t seed, size_t steps, simulator::Simulation& sim) {
  Random random(seed);
  size_t pods = 0;
  sim.Start();
  for (size_t step = 0; step < steps; ++step) {
    const uint64_t what = random.Below(12);
    const uint64_t index = random.Below(8);
    if (what < 2) {
      sim.Apply(test::StoryNode(random, index).Ptr());
    } else if (what == 2) {
      sim.Delete(informers::Kind::kNode, "node-" + std::to_string(index));
    } else if (what < 5 && pods > 0) {
      sim.Delete(informers::Kind::kPod, "default/pod-" + std::to_string(random.Below(pods)));
    } else {
      for (uint64_t n = 1 + random.Below(5); n > 0; --n) sim.Apply(PodOf(random, pods++).Ptr());
    }
    sim.Advance(milliseconds(random.Below(4) == 0 ? 3000 : 100));
  }
  sim.Advance(seconds(30));
}

// What some nodes are measured to use, at random.
NodesMeasured Measure(Random& random, Time now) {
  const auto resource = [&random] {
    const auto draw = [&random] { return static_cast<double>(random.Below(100)) / 3; };
    return MeasuredResource{
        .known = random.Below(5) != 0, .average = draw(), .deviation = draw(), .last = draw()};
  };
  NodesMeasured measured{
      .source = NodeMetricsSource().Name(),
      .window_end = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count(),
      .amounts = random.Below(3) == 0,
      .nodes = {}};
  for (size_t i = 0; i < 8; ++i) {
    if (random.Below(3) == 0) continue;
    measured.nodes.push_back({"node-" + std::to_string(i), resource(), resource()});
    if (random.Below(3) == 0) measured.nodes.back().cpu.last.reset();
  }
  return measured;
}

TEST(ReplayTest, WhatNodesAreMeasuredToUseIsRepeatedToo) {
  uint64_t messages = 0;
  uint64_t decisions = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    simulator::SimulationOptions options = Options(seed);
    for (const char* name :
         {"TargetLoadPacking", "LoadVariationRiskBalancing", "LowRiskOverCommitment"}) {
      options.scheduler.configuration.profiles.front().plugins.score.enabled.push_back({name, 9});
    }
    test::RecordedSimulation recorded(options);
    simulator::Simulation& sim = recorded.simulation();
    Random random(seed);
    sim.Start();
    for (size_t step = 0; step < 60; ++step) {
      if (random.Below(4) == 0) {
        api::Node node = test::StoryNode(random, random.Below(8));
        node.status.capacity = test::MakeResources({{"cpu", "8"}, {"memory", "16Gi"}});
        sim.Apply(std::make_shared<const api::Node>(std::move(node)));
      }
      if (random.Below(2) == 0) {
        sim.scheduler().Post(Measure(random, sim.now() - seconds(random.Below(90))));
      }
      sim.Apply(PodOf(random, step).Ptr());
      sim.Advance(milliseconds(random.Below(4) == 0 ? 9000 : 100));
    }
    const ReplayReport report = test::ReplayBytes(recorded.Finish());
    EXPECT_TRUE(report.identical()) << test::Describe(report);
    EXPECT_FALSE(report.problem) << *report.problem;
    decisions += report.decisions;
    auto reader = RecordingReader::OpenBytes("bytes", recorded.Finish());
    while (const auto frame = reader->Next()) {
      messages += std::holds_alternative<NodesMeasured>(*frame) ? 1 : 0;
    }
  }
  EXPECT_GT(messages, 200u);
  EXPECT_GT(decisions, 500u);
}

TEST(ReplayTest, RandomStoriesAreRepeatedBitForBit) {
  uint64_t decisions = 0;
  uint64_t unplaced = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    simulator::SimulationOptions options = Options(seed);
    options.scheduler.on_cycle = [&](const scheduler::CycleOutcome& outcome) {
      unplaced += outcome.node_name.empty() ? 1 : 0;
    };
    test::RecordedSimulation recorded(options);
    Play(seed, 80, recorded.simulation());
    const ReplayReport report = test::ReplayBytes(recorded.Finish());
    EXPECT_TRUE(report.identical()) << test::Describe(report);
    EXPECT_EQ(report.equal, report.decisions);
    EXPECT_EQ(report.decisions, recorded.recorder().num_decisions());
    EXPECT_FALSE(report.problem) << *report.problem;
    decisions += report.decisions;
  }
  EXPECT_GT(decisions, 3000u);
  EXPECT_GT(unplaced, 300u);
}

// What a plugin library does: within a cycle it asks for something to be done after it, and threads
// of its own ask at other times.
class Waker final : public ReservePlugin {
 public:
  explicit Waker(Handle& handle) : handle_(handle) {}
  Status Reserve(CycleState&, const PodInfo& pod, std::string_view) override {
    handle_.RunLater([this, name = pod.pod->metadata.name] {
      if (name == "first") handle_.Activate({"default/huge"});
    });
    return {};
  }
  void Unreserve(CycleState&, const PodInfo&, std::string_view) override {}

 private:
  Handle& handle_;
};

TEST(ReplayTest, WhatFunctionsOfPluginsActivateIsRepeated) {
  Handle* handle = nullptr;  // of the plugin that was made last
  std::vector<PluginRegistration> registry = plugins::InTreeRegistry();
  registry.push_back({"Waker", [&handle](const ConfigValue&, Handle& given) {
                        handle = &given;
                        return Result<Plugin>(AsPlugin("Waker", std::make_unique<Waker>(given)));
                      }});
  simulator::SimulationOptions options = Options(1);
  options.scheduler.configuration.profiles[0].plugins.multi_point.enabled.push_back({"Waker", 0});
  std::vector<std::string> tried;
  options.scheduler.on_cycle = [&](const scheduler::CycleOutcome& outcome) {
    tried.push_back(outcome.pod.metadata.name);
  };
  test::RecordedSimulation recorded(options, registry);
  simulator::Simulation& sim = recorded.simulation();
  sim.Start();
  sim.Apply(test::MakeNode("n").Allocatable({{"cpu", "2"}, {"pods", "9"}}).Ptr());
  sim.Apply(test::MakePod().Name("huge").Uid("huge").Req({{"cpu", "9"}}).Ptr());
  sim.Advance(seconds(1));
  for (const char* name : {"first", "second"}) {
    sim.Apply(test::MakePod().Name(name).Uid(name).Req({{"cpu", "1"}}).Ptr());
    sim.Advance(seconds(1));
  }
  EXPECT_THAT(tried, ElementsAre("huge", "first", "huge", "second"));
  sim.scheduler().Post(scheduler::Query{[handle] { handle->Activate({"default/huge"}); }});
  sim.Advance(seconds(1));
  EXPECT_THAT(tried, ElementsAre("huge", "first", "huge", "second", "huge"));
  const ReplayReport report = test::ReplayBytes(recorded.Finish(), nullptr, {}, registry);
  EXPECT_TRUE(report.identical()) << test::Describe(report);
  EXPECT_EQ(report.equal, 5u);
}

// Keeps pods off the nodes that are called like a window.
class Closes final : public FilterPlugin, public EnqueueExtensions {
 public:
  explicit Closes(Handle& handle) : handle_(handle) {}

  Status Filter(const CycleState&, const PodInfo&, const NodeView& node) const override {
    const auto* window =
        handle_.listers().FindPluginObject(test::WindowKind(), "", node.node().metadata.name);
    if (window == nullptr) return Status::Success();
    return handle_.reasons().Make(Code::kUnschedulable, "closed by " + *window->json);
  }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResourceOf(test::WindowKind()), action::kAll}, nullptr}};
  }

 private:
  Handle& handle_;
};

TEST(ReplayTest, ObjectsOfPluginsKindsAreThereAgain) {
  const auto window = [](const std::string& name, int spec) {
    return test::MakePluginObject(
        test::WindowKind(),
        R"({"metadata":{"name":")" + name + R"("},"spec":)" + std::to_string(spec) + "}");
  };
  std::vector<PluginRegistration> registry = plugins::InTreeRegistry();
  registry.push_back({"Closes",
                      [](const ConfigValue&, Handle& given) {
                        return Result<Plugin>(AsPlugin("Closes", std::make_unique<Closes>(given)));
                      },
                      "",
                      {test::WindowKind()}});
  simulator::SimulationOptions options = Options(1);
  options.scheduler.configuration.profiles[0].plugins.multi_point.enabled.push_back({"Closes", 0});
  std::vector<std::string> messages;
  options.scheduler.on_cycle = [&](const scheduler::CycleOutcome& outcome) {
    messages.emplace_back(outcome.message);
  };
  test::RecordedSimulation recorded(options, registry);
  simulator::Simulation& sim = recorded.simulation();
  EXPECT_EQ(sim.scheduler().features().plugin_kinds, uint64_t{1} << test::WindowKind());
  sim.Start();
  sim.Apply(test::MakeNode("n").Allocatable({{"cpu", "2"}, {"pods", "9"}}).Ptr());
  sim.Apply(window("n", 1));
  sim.Apply(test::MakePod().Name("p").Uid("p").Ptr());
  sim.Advance(seconds(3));
  sim.Apply(window("n", 2));
  sim.Advance(seconds(3));
  sim.Apply(window("m", 3));
  sim.Advance(seconds(8));
  EXPECT_TRUE(sim.Delete(informers::KindOf(test::WindowKind()), "n"));
  sim.Advance(seconds(20));
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_THAT(messages[0], HasSubstr(R"("spec":1})"));
  EXPECT_THAT(messages[1], HasSubstr(R"("spec":2})"));
  EXPECT_EQ(sim.FindPod("default/p")->spec.node_name, "n");
  const ReplayReport report = test::ReplayBytes(recorded.Finish(), nullptr, {}, registry);
  EXPECT_TRUE(report.identical()) << test::Describe(report);
  EXPECT_EQ(report.equal, 4u);
}

// Another process may have learnt of the kinds in another order.
TEST(ReplayTest, PluginsKindsAreFoundByTheirNames) {
  const auto window = *PluginKinds().Add({"order.example.com", "v1", "windows", "Window", false});
  const auto door = *PluginKinds().Add({"order.example.com", "v1", "doors", "Door", true});
  Header header = MakeHeader(Options(1).scheduler, "test", "test", Time());
  std::swap(header.plugin_kinds[window], header.plugin_kinds[door]);
  std::string bytes;
  test::BytesSink sink(header, bytes);
  FrameWriter writer{Time()};
  KnownObjects known;
  std::string frames;
  informers::InformerEvent event;
  event.kind = informers::KindOf(window);
  event.new_object =
      test::MakePluginObject(window, R"({"metadata":{"name":"x","annotations":{"a":"b"}}})");
  writer.Append(event, known, nullptr, frames);
  writer.Append(Ended{std::string(kStopped)}, frames);
  ASSERT_TRUE(sink.WriteLast(frames));
  auto reader = RecordingReader::OpenBytes("bytes", bytes);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto frame = reader->Next();
  ASSERT_TRUE(frame) << reader->problem().value_or("");
  const auto& read = std::get<informers::InformerEvent>(*frame);
  EXPECT_EQ(read.kind, informers::KindOf(door));
  const auto* object = api::As<api::PluginObject>(read.new_object);
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->kind, door);
  EXPECT_EQ(*object->json, R"({"metadata":{"name":"x","annotations":{"a":"b"}}})");
  EXPECT_EQ(object->metadata.annotations, (api::StringMap{{"a", "b"}}));
  EXPECT_FALSE(reader->Next());
  EXPECT_FALSE(reader->problem());

  header.plugin_kinds[door].version = "v2";
  bytes.clear();
  const test::BytesSink other(header, bytes);
  reader = RecordingReader::OpenBytes("bytes", bytes);
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("a kind of the header: resource: Forbidden"));
}

// Answers the write of a claim as if it were carried out; the watch does not show it.
client::ResponseResult AnswerAlone(const client::Request& request) {
  auto claim = api::Decode<api::ResourceClaim>(api::EncodingOf(request.content_type), request.body);
  EXPECT_TRUE(claim);
  claim->metadata.resource_version = "1000";
  std::string body;
  api::EncodeProtobuf(*claim, nullptr, body);
  return client::Response{200, std::string(api::kProtobufContentType), std::move(body)};
}

// The pod fails at its second claim, before the watch has shown what was written of the first.
TEST(ReplayTest, DevicesOfAWrittenClaimStayTakenWhenThePodFailsAtAnotherOne) {
  simulator::SimulationOptions options = Options(1);
  test::RecordedSimulation recorded(options);
  simulator::Simulation& sim = recorded.simulation();
  sim.api().set_fault([](const client::Request& request) -> std::optional<client::ResponseResult> {
    if (request.path.ends_with("/first/status")) return AnswerAlone(request);
    if (request.path.ends_with("/second/status")) return simulator::Refuse(422, "Invalid", "no");
    return std::nullopt;
  });
  sim.Start();
  const auto show = [&sim](const auto& object) {
    sim.Apply(std::make_shared<const std::decay_t<decltype(object)>>(object));
  };
  sim.Apply(test::MakeNode("n").Allocatable({{"cpu", "9"}, {"pods", "9"}}).Ptr());
  show(test::MakeDeviceClass("gpus"));
  show(test::MakeNodeSlice("n", 2));
  show(test::MakeDeviceClaim("first").Request("gpu", "gpus").Obj());
  show(test::MakeDeviceClaim("second").Request("gpu", "gpus").Allocated("n", "gpu-1").Obj());
  show(test::MakeDeviceClaim("third").Request("gpu", "gpus").Obj());
  sim.Apply(
      test::MakePod().Name("a").Uid("a").ResourceClaim("first").ResourceClaim("second").Ptr());
  sim.Advance(milliseconds(100));
  sim.Apply(test::MakePod().Name("b").Uid("b").ResourceClaim("third").Ptr());
  sim.Advance(milliseconds(100));
  EXPECT_EQ(sim.api().FindPod("default/b")->spec.node_name, "");
  const ReplayReport report = test::ReplayBytes(recorded.Finish());
  EXPECT_TRUE(report.identical()) << test::Describe(report);
  EXPECT_GE(report.decisions, 2u);
}

// The same with volumes: the first is written, the second is not, and only that one is free again.
TEST(ReplayTest, AWrittenVolumeStaysItsClaimsWhenThePodFailsAtAnotherOne) {
  simulator::SimulationOptions options = Options(1);
  test::RecordedSimulation recorded(options);
  simulator::Simulation& sim = recorded.simulation();
  int refused = 0;
  sim.api().set_fault([&](const client::Request& request) -> std::optional<client::ResponseResult> {
    if (request.path.ends_with("/persistentvolumes/v1")) return simulator::Ok(200);
    if (!request.path.ends_with("/persistentvolumes/v2")) return std::nullopt;
    ++refused;
    return simulator::Refuse(422, "Invalid", "no");
  });
  sim.Start();
  const auto show = [&sim](const auto& object) {
    sim.Apply(std::make_shared<const std::decay_t<decltype(object)>>(object));
  };
  sim.Apply(test::MakeNode("n")
                .Allocatable({{"cpu", "9"}, {"pods", "9"}})
                .Label("kubernetes.io/hostname", "n")
                .Ptr());
  show(test::MakeWaitingClass("local", kNoProvisioner));
  show(test::MakeVolume("v1", "local").On("n").Obj());
  show(test::MakeVolume("v2", "local").On("n").Obj());
  for (const char* claim : {"c1", "c2", "c3", "c4"}) show(test::MakeClaim(claim, "local").Obj());
  sim.Apply(test::MakePod().Name("a").Uid("a").ClaimVolume("c1").ClaimVolume("c2").Ptr());
  sim.Advance(milliseconds(100));
  sim.Apply(test::MakePod().Name("b").Uid("b").ClaimVolume("c3").ClaimVolume("c4").Ptr());
  sim.Advance(milliseconds(100));
  EXPECT_EQ(sim.api().FindPod("default/b")->spec.node_name, "");
  const ReplayReport report = test::ReplayBytes(recorded.Finish());
  EXPECT_TRUE(report.identical()) << test::Describe(report);
  EXPECT_GE(report.decisions, 2u);
  EXPECT_EQ(refused, 1);
}

TEST(ReplayTest, ARecordingThatBreaksOffWithinATurnIsRepeatedUpToThere) {
  test::RecordedSimulation recorded(Options(1));
  simulator::Simulation& sim = recorded.simulation();
  sim.Start();
  sim.Apply(test::MakeNode("closed").Taint("x", "", "NoSchedule").Ptr());
  for (int i = 0; i < 6000; ++i) {
    const std::string name = "pod-" + std::to_string(i);
    sim.Apply(test::MakePod().Name(name).Uid(name).Ptr());
  }
  sim.RunDue();
  // What a kill leaves: the header and the first chunks, of several in one turn.
  const std::string& bytes = recorded.Finish();
  std::string_view rest = bytes;
  size_t broken_off = 0;
  while (ReadChunk(rest) && !rest.empty()) {
    const ReplayReport report = test::ReplayBytes(bytes.substr(0, bytes.size() - rest.size()));
    EXPECT_TRUE(report.identical()) << test::Describe(report);
    EXPECT_TRUE(report.torn);
    broken_off += report.decisions > 0 && report.decisions < 6000 ? 1 : 0;
  }
  EXPECT_GT(broken_off, 0u);
}

TEST(ReplayTest, AnotherSeedDecidesOtherwise) {
  test::RecordedSimulation recorded(Options(1));
  Play(1, 40, recorded.simulation());
  std::string bytes = recorded.Finish();
  // The header is a chunk of its own: another one in its place.
  auto reader = RecordingReader::OpenBytes("bytes", bytes);
  Header header = reader->header();
  header.seed = 2;
  std::string_view rest = bytes;
  ASSERT_TRUE(ReadChunk(rest));
  std::string changed;
  ASSERT_TRUE(AppendChunk(ChunkType::kHeader, 0, ToJson(header), changed));
  const ReplayReport report = test::ReplayBytes(changed + std::string(rest));
  EXPECT_GT(report.num_differences, 0u);
  EXPECT_EQ(report.decisions, recorded.recorder().num_decisions());
}

TEST(ReplayTest, AnotherConfigurationSaysWhereItDecidesOtherwiseAndWhy) {
  simulator::SimulationOptions options = Options(1);
  test::RecordedSimulation recorded(options);
  simulator::Simulation& sim = recorded.simulation();
  sim.Start();
  sim.Apply(test::MakeNode("closed")
                .Allocatable({{"cpu", "9"}, {"pods", "9"}})
                .Taint("x", "", "NoSchedule")
                .Ptr());
  sim.Apply(test::MakeNode("open").Allocatable({{"cpu", "2"}, {"pods", "9"}}).Ptr());
  for (const char* name : {"a", "b", "c"}) {
    sim.Apply(test::MakePod().Name(name).Uid(name).Req({{"cpu", "1"}}).Ptr());
  }
  sim.Advance(seconds(1));
  const std::string& bytes = recorded.Finish();
  const auto without_taints = [](config::SchedulerConfiguration& next) {
    for (config::Profile& profile : next.profiles) {
      std::erase_if(profile.plugins.multi_point.enabled,
                    [](const config::PluginRef& ref) { return ref.name == "TaintToleration"; });
    }
  };
  const ReplayReport first = test::ReplayBytes(bytes, without_taints);
  ASSERT_EQ(first.num_differences, 3u) << test::Describe(first);
  EXPECT_EQ(first.differences[0].kind, DifferenceKind::kNode);
  EXPECT_EQ(first.differences[0].recorded->node_name, "open");
  EXPECT_EQ(first.differences[0].replayed->node_name, "closed");
  EXPECT_EQ(first.differences[2].kind, DifferenceKind::kVerdict);
  EXPECT_THAT(first.differences[0].why, IsEmpty());

  const ReplayReport second = test::ReplayBytes(bytes, without_taints, {1, 3});
  ASSERT_EQ(second.num_differences, 3u) << test::Describe(second);
  EXPECT_THAT(second.differences[0].why, HasSubstr("open scores "));
  EXPECT_THAT(second.differences[2].why, HasSubstr("nodes fit, closed best"));
}

}  // namespace
}  // namespace berth::recording
