// SPDX-License-Identifier: Apache-2.0
// No pod is left waiting that fits: whatever happens in a cluster, and however slowly its API
// server is heard, what makes room for a pod wakes it, without the sweep that tries unschedulable
// pods again after minutes.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "berth/random.h"
#include "src/engine/judgement.h"
#include "src/informers/kinds.h"
#include "src/queue/scheduling_queue.h"
#include "tests/unit/simulator/random_simulation.h"

namespace berth::simulator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kSeeds = 300;
constexpr uint64_t kSteps = 60;

class Story {
 public:
  explicit Story(uint64_t seed) : random_(seed), nodes_(2 + random_.Below(8)) {
    simulation_ = test::MakeSimulation(test::RandomObjects(random_, nodes_, 20));
    const uint64_t slowest = uint64_t{1} << random_.Below(11);  // of a request, in ms
    simulation_->api().set_request_latency(
        [this, slowest] { return MemoryApi::RequestLatency{UpTo(slowest), UpTo(slowest)}; });
    simulation_->api().set_pod_ends([this, slowest] { return UpTo(slowest); });
  }

  void Run() {
    simulation_->Start();
    simulation_->RunDue();
    for (uint64_t step = 0; step < kSteps; ++step) {
      Step();
      if (random_.Below(2) == 0) simulation_->Advance(UpTo(2000));
    }
    // All that was told is answered, and all backoffs are over.
    simulation_->Advance(seconds(120));
  }

  // Parked pods that fit.
  std::vector<std::string> Forgotten(uint64_t& parked) {
    std::vector<std::string> forgotten;
    scheduler::Scheduler& scheduler = simulation_->scheduler();
    for (const auto& waiting : scheduler.queue().PendingPods()) {
      const auto pod = simulation_->FindPod(waiting.pod->pod().metadata.Key());
      if (waiting.place != queue::Place::kUnschedulable || pod == nullptr) continue;
      ++parked;
      const auto judgement = scheduler.Judge(pod);
      if (judgement->kind() != engine::Judgement::Kind::kScheduled) continue;
      forgotten.push_back(pod->metadata.Key());
    }
    return forgotten;
  }

 private:
  Duration UpTo(uint64_t most) {
    return milliseconds(static_cast<int64_t>(random_.Below(most + 1)));
  }

  void Step() {
    switch (random_.Below(8)) {
      case 0:
        simulation_->Apply(std::make_shared<const api::Node>(RandomNode()));
        break;
      case 1:
      case 2:
        DeleteSomePod();
        break;
      default:
        simulation_->Apply(std::make_shared<const api::Pod>(
            test::RandomPendingPod(random_, 100000 + next_pod_++, nodes_)));
    }
  }

  // Its labels stay: of nodes that move to another zone kube-scheduler's hints, which are these,
  // do not ask what that means for the anti-affinity of the pods there.
  api::Node RandomNode() {
    const auto objects = simulation_->api().Find(informers::Kind::kNode,
                                                 "node-" + std::to_string(random_.Below(nodes_)));
    api::Node node = **std::get_if<std::shared_ptr<const api::Node>>(&objects);
    std::vector<api::Node> nodes = test::RandomNodes(random_, nodes_);
    const api::Node& other = nodes[random_.Below(nodes.size())];
    node.spec = other.spec;
    if (random_.Below(2) == 0) node.status.allocatable = other.status.allocatable;
    return node;
  }

  void DeleteSomePod() {
    std::vector<std::string> keys;
    simulation_->api().ForEach(informers::Kind::kPod, [&](const api::ObjectPtr& object) {
      keys.push_back(api::MetaOf(object)->Key());
    });
    if (!keys.empty()) simulation_->Delete(informers::Kind::kPod, keys[random_.Below(keys.size())]);
  }

  Random random_;
  uint64_t nodes_ = 0;
  uint64_t next_pod_ = 0;
  std::unique_ptr<Simulation> simulation_;
};

TEST(WokenPodsPropertyTest, NoPodThatFitsIsLeftWaiting) {
  uint64_t parked = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Story story(seed);
    story.Run();
    for (const std::string& key : story.Forgotten(parked)) {
      ADD_FAILURE() << "seed " << seed << ": " << key << " fits and waits";
    }
  }
  EXPECT_GT(parked, 10 * kSeeds);
}

}  // namespace
}  // namespace berth::simulator
