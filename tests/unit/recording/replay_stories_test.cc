// SPDX-License-Identifier: Apache-2.0
// Stories of what takes more than nodes and pods to tell again: volumes, devices, pod groups,
// extenders and configurations that are reloaded, each by itself and then all together.
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>

#include "tests/support/device_builders.h"
#include "tests/support/fake_extender.h"
#include "tests/support/volume_builders.h"
#include "tests/unit/recording/recording_fixture.h"

namespace berth::recording {
namespace {

using informers::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

// What a story has besides nodes and plain pods.
struct Parts {
  std::string name;
  bool volumes = false;
  bool devices = false;
  bool groups = false;
  bool extenders = false;
  bool reloads = false;
  bool unasked_extenders = false;  // as of a simulation
  bool moves = false;              // of pods that make room
};

constexpr int kNodes = 6;

// What happened to the parts.
struct Counts {
  uint64_t with_volumes = 0;  // decisions for a node
  uint64_t with_devices = 0;  // likewise
  uint64_t of_groups = 0;     // likewise
  uint64_t reloads = 0;
  uint64_t extender_calls = 0;
};

// One story, told to a recorded simulation step by step, with a cluster's controllers at work.
class Story {
 public:
  Story(const Parts& parts, uint64_t seed)
      : parts_(parts), random_(seed), recorded_(Options(seed)) {}

  void Play(size_t steps) {
    sim().StartControllers();
    sim().Start();
    for (int i = 0; i < kNodes; ++i) AddNode(i);
    if (parts_.volumes) {
      Show(test::MakeWaitingClass("made", "csi.example.com"));
      Show(test::MakeWaitingClass("local", kNoProvisioner));
    }
    if (parts_.devices) Show(test::MakeDeviceClass("gpu"));
    for (size_t step = 0; step < steps; ++step) {
      Step();
      sim().Advance(milliseconds(random_.Below(4) == 0 ? 3000 : 100));
    }
    sim().Advance(seconds(60));
    counts_.extender_calls = extender_->calls.size();
  }
  const std::string& Finish() { return recorded_.Finish(); }
  const Recorder& recorder() const { return recorded_.recorder(); }
  const Counts& counts() const { return counts_; }

 private:
  // For the constructor: sets extender_ and configuration_, too.
  simulator::SimulationOptions Options(uint64_t seed) {
    simulator::SimulationOptions options;
    options.scheduler.seed = seed;
    config::KnownPlugins known = test::KnownDefaults();
    if (parts_.groups) {
      options.scheduler.features.generic_workload = true;
      known.defaults.push_back({"GangScheduling"});
    }
    if (parts_.moves) known.defaults.push_back({"Relocation"});
    configuration_ = config::DefaultConfiguration(known);
    if (parts_.moves) {
      configuration_.profiles[0].plugin_config.push_back(
          {"Relocation", ConfigValue(ConfigValue::Map{{"minPendingSeconds", ConfigValue(5)}})});
    }
    if (parts_.extenders) options.scheduler.extenders = {AddExtender()};
    if (parts_.unasked_extenders) AddExtender();
    options.scheduler.configuration = configuration_;
    options.scheduler.on_cycle = [this](const scheduler::CycleOutcome& outcome) {
      if (outcome.node_name.empty()) return;
      const api::PodSpec& spec = outcome.pod.spec;
      counts_.with_volumes += spec.volumes.empty() ? 0 : 1;
      counts_.with_devices += spec.resource_claims.empty() ? 0 : 1;
      counts_.of_groups += spec.scheduling_group ? 1 : 0;
    };
    return options;
  }
  std::shared_ptr<extender::Extender> AddExtender() {
    extender_->filters = extender_->prioritizes = extender_->preempts = true;
    extender_->weight = 3;
    config::Extender& configured = configuration_.extenders.emplace_back();
    configured.url_prefix = extender_->name;
    configured.filter_verb = "filter";
    configured.prioritize_verb = "prioritize";
    configured.preempt_verb = "preempt";
    configured.weight = extender_->weight;
    configured.node_cache_capable = true;
    return extender_;
  }

  simulator::Simulation& sim() { return recorded_.simulation(); }
  template <typename T>
  void Show(const T& object) {
    sim().Apply(std::make_shared<const T>(object));
  }
  std::string AnyNode() { return "n" + std::to_string(random_.Below(kNodes)); }

  void AddNode(int number) {
    const std::string name = "n" + std::to_string(number);
    test::NodeBuilder node = test::MakeNode(name);
    const bool roomy = parts_.groups || random_.Below(3) == 0;
    node.Allocatable({{"cpu", roomy ? "8" : "3"}, {"pods", "9"}});
    node.Label("kubernetes.io/hostname", name).Label("zone", number % 2 == 0 ? "east" : "west");
    if (random_.Below(5) == 0) node.Taint("closed", "", "NoSchedule");
    sim().Apply(node.Ptr());
    if (parts_.devices && random_.Below(2) == 0) Show(test::MakeNodeSlice(name, 2));
    if (parts_.volumes) {
      const std::string volume = "local-" + std::to_string(volumes_++);
      Show(test::MakeVolume(volume, "local").On(name).Obj());
    }
  }

  test::PodBuilder NewPod() {
    const std::string name = "pod-" + std::to_string(pods_++);
    test::PodBuilder pod = test::MakePod();
    // Small ones are rare where they are to leave gaps that are too small.
    const bool large = parts_.moves ? random_.Below(8) > 0 : random_.Below(3) == 0;
    pod.Name(name).Uid("uid-" + name).Req({{"cpu", large ? "2" : "1"}});
    if (random_.Below(4) == 0) pod.Priority(1000);
    if (parts_.moves) pod.Owner("ReplicaSet", "web", "rs");
    return pod;
  }

  void AddPod() {
    test::PodBuilder pod = NewPod();
    const std::string claim = "claim-" + std::to_string(pods_);
    if (parts_.volumes && random_.Below(2) == 0) {
      Show(test::MakeClaim(claim, random_.Below(2) == 0 ? "made" : "local").Obj());
      pod.ClaimVolume(claim);
    } else if (parts_.devices && random_.Below(2) == 0) {
      if (random_.Below(3) > 0) {
        last_claim_ = claim;
        Show(test::MakeDeviceClaim(claim).Uid("uid-" + claim).Request("gpu", "gpu").Obj());
      }
      if (!last_claim_.empty()) pod.ResourceClaim(last_claim_);
    }
    sim().Apply(pod.Ptr());
  }

  void AddGroup() {
    const std::string name = "group-" + std::to_string(groups_++);
    const auto size = static_cast<int32_t>(2 + random_.Below(3));
    api::PodGroup group;
    group.metadata.namespace_ = "default";
    group.metadata.name = name;
    group.metadata.uid = "uid-" + name;
    group.spec.scheduling_policy.gang = api::GangSchedulingPolicy{size};
    Show(group);
    for (int32_t i = 0; i < size; ++i) sim().Apply(NewPod().SchedulingGroup(name).Ptr());
  }

  // Another weight of a score.
  void Reload() {
    for (config::PluginRef& ref : configuration_.profiles[0].plugins.multi_point.enabled) {
      if (ref.name == "NodeResourcesFit")
        ref.weight = 1 + static_cast<int32_t>(counts_.reloads % 5);
    }
    sim().scheduler().Post(scheduler::ReloadRequested{
        std::make_shared<const config::SchedulerConfiguration>(configuration_),
        [this](const Result<void>& done) {
          ++counts_.reloads;
          EXPECT_TRUE(done) << done.error().message;
        }});
  }

  void ChangeExtender() {
    extender_->failed.clear();
    extender_->dropped.clear();
    extender_->failed[AnyNode()] = "busy";
    extender_->dropped[AnyNode()] = true;
    extender_->scores = {{AnyNode(), 10}, {AnyNode(), 4}};
    extender_->error = random_.Below(4) == 0 ? "the extender is ill" : "";
  }

  void Step() {
    const uint64_t what = random_.Below(12);
    if (what == 0) {
      AddNode(static_cast<int>(random_.Below(kNodes)));
    } else if (what == 1) {
      sim().Delete(Kind::kNode, AnyNode());
    } else if (what < 4 && pods_ > 0) {
      sim().Delete(Kind::kPod, "default/pod-" + std::to_string(random_.Below(pods_)));
    } else if (what == 4 && parts_.reloads) {
      Reload();
    } else if (what == 5 && parts_.extenders) {
      ChangeExtender();
    } else if (what < 8 && parts_.groups) {
      AddGroup();
    } else {
      for (uint64_t n = 1 + random_.Below(4); n > 0; --n) AddPod();
    }
  }

  const Parts parts_;
  Random random_;
  std::shared_ptr<test::FakeExtender> extender_ =
      std::make_shared<test::FakeExtender>("http://extender.example.com");
  config::SchedulerConfiguration configuration_;
  test::RecordedSimulation recorded_;
  uint64_t pods_ = 0;
  uint64_t groups_ = 0;
  uint64_t volumes_ = 0;
  std::string last_claim_;
  Counts counts_;
};

// How many messages of each kind that plugins post the recording has.
struct Posted {
  uint64_t evictions = 0;
  uint64_t evictions_in_memory = 0;
  uint64_t moves = 0;
  uint64_t claims_written = 0;
  uint64_t claims_settled = 0;
  uint64_t volumes_written = 0;

  void Count(const std::string& bytes) {
    auto reader = RecordingReader::OpenBytes("bytes", bytes);
    while (const auto frame = reader->Next()) {
      const auto* answered = std::get_if<EvictionAnswered>(&*frame);
      evictions += answered != nullptr ? 1 : 0;
      // Those of the plugin Relocation.
      moves += answered != nullptr && answered->number >= uint64_t{1} << 32 ? 1 : 0;
      evictions_in_memory += answered != nullptr && answered->in_memory ? 1 : 0;
      claims_written += std::holds_alternative<ClaimWritten>(*frame) ? 1 : 0;
      claims_settled += std::holds_alternative<ClaimsSettled>(*frame) ? 1 : 0;
      volumes_written += std::holds_alternative<VolumeWritten>(*frame) ? 1 : 0;
    }
  }
};

class ReplayStoriesTest : public testing::TestWithParam<Parts> {};

TEST_P(ReplayStoriesTest, AreRepeatedBitForBit) {
  const Parts& parts = GetParam();
  uint64_t decisions = 0;
  uint64_t with_volumes = 0;
  uint64_t with_devices = 0;
  uint64_t of_groups = 0;
  uint64_t reloads = 0;
  uint64_t calls = 0;
  Posted posted;
  for (uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE(seed);
    Story story(parts, seed);
    story.Play(60);
    posted.Count(story.Finish());
    const ReplayReport report = test::ReplayBytes(story.Finish());
    EXPECT_TRUE(report.identical()) << test::Describe(report);
    EXPECT_EQ(report.decisions, story.recorder().num_decisions());
    EXPECT_FALSE(report.problem) << *report.problem;
    decisions += report.decisions;
    with_volumes += story.counts().with_volumes;
    with_devices += story.counts().with_devices;
    of_groups += story.counts().of_groups;
    reloads += story.counts().reloads;
    calls += story.counts().extender_calls;
  }
  EXPECT_GT(decisions, 1000u);
  constexpr uint64_t kEnough = 60;
  EXPECT_EQ(with_volumes > kEnough, parts.volumes) << with_volumes;
  EXPECT_EQ(with_devices > kEnough, parts.devices) << with_devices;
  EXPECT_GT(posted.evictions, kEnough);
  if (parts.volumes) EXPECT_GT(posted.evictions_in_memory, 0u);
  EXPECT_EQ(posted.moves > 0, parts.moves) << posted.moves;
  if (parts.volumes) EXPECT_GT(posted.volumes_written, kEnough);
  if (parts.devices) EXPECT_GT(posted.claims_written, kEnough);
  if (parts.devices) EXPECT_GT(posted.claims_settled, kEnough);
  EXPECT_EQ(of_groups > kEnough, parts.groups) << of_groups;
  EXPECT_EQ(reloads > kEnough / 3, parts.reloads) << reloads;
  EXPECT_EQ(calls > kEnough, parts.extenders) << calls;
}

INSTANTIATE_TEST_SUITE_P(
    All, ReplayStoriesTest,
    testing::Values(Parts{"Volumes", true, false, false, false, false},
                    Parts{"Devices", false, true, false, false, false},
                    Parts{"Groups", false, false, true, false, false},
                    Parts{"Extenders", false, false, false, true, false},
                    Parts{"Reloads", false, false, false, false, true},
                    Parts{"UnaskedExtenders", false, false, false, false, false, true},
                    Parts{"Moves", false, false, false, false, true, false, true},
                    Parts{"MovesForGroups", false, false, true, false, false, false, true},
                    Parts{"AllTogether", true, true, true, true, true}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace berth::recording
