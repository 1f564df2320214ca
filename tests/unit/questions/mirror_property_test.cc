// SPDX-License-Identifier: Apache-2.0
// What informers see and what the scheduler decides reach a mirror from two threads, in any order
// that keeps each thread's own and tells of causes first. The mirror ends as the cluster does.
#include <gtest/gtest.h>

#include <optional>

#include "berth/random.h"
#include "src/questions/mirror.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::questions {
namespace {

using informers::EventType;
using informers::InformerEvent;
using informers::Kind;

constexpr uint64_t kSeeds = 400;
constexpr uint64_t kNames = 4;
constexpr uint64_t kNodes = 3;
constexpr size_t kSteps = 60;

std::string NodeName(uint64_t i) { return "n" + std::to_string(i); }

InformerEvent Seen(EventType type, const api::Pod& pod) {
  InformerEvent event;
  event.type = type;
  event.kind = Kind::kPod;
  (type == EventType::kDeleted ? event.old_object : event.new_object) =
      std::make_shared<const api::Pod>(pod);
  return event;
}

// The pods of a cluster, and what its informers and its scheduler have told from some step on.
class Cluster {
 public:
  struct Told {
    std::variant<InformerEvent, scheduler::PodAssignment> what;
    size_t after = 0;  // how many of the other thread come before
  };

  explicit Cluster(uint64_t seed) : random_(seed) {}

  void Step() {
    const std::string name = "p" + std::to_string(random_.Below(kNames));
    std::optional<api::Pod>& pod = pods_[name];
    if (!pod) {
      pod = *test::MakePod().Name(name).Uid(std::to_string(++last_uid_)).Ptr();
      return See(Seen(EventType::kAdded, *pod));
    }
    const bool pending = pod->spec.node_name.empty() && !pod->metadata.deletion_timestamp;
    const auto decided = decided_.find(name);
    switch (random_.Below(5)) {
      case 0:
        pod->metadata.labels = {{"step", std::to_string(random_.Below(100))}};
        return See(Seen(EventType::kUpdated, *pod));
      case 1:
        pod->metadata.deletion_timestamp.emplace();
        return See(Seen(EventType::kUpdated, *pod));
      case 2: {
        const api::Pod gone = *std::exchange(pod, std::nullopt);
        See(Seen(EventType::kDeleted, gone));
        // The scheduler's write fails at some time after it.
        if (decided_.erase(name) > 0) Decide(gone, "");
        return;
      }
      case 3:
        if (decided == decided_.end() || !pending) return;
        if (random_.Below(3) == 0) {
          decided_.erase(decided);
          return Decide(*pod, "");
        }
        pod->spec.node_name = decided->second;
        decided_.erase(decided);
        return See(Seen(EventType::kUpdated, *pod), decisions_.size());
      default:
        if (decided != decided_.end() || !pending) return;
        decided_[name] = NodeName(random_.Below(kNodes));
        return Decide(*pod, decided_[name]);
    }
  }

  // From now on decisions are told.
  void Follow() {
    following_decisions_ = true;
    for (const auto& [name, node] : decided_) Decide(*pods_[name], node);
  }
  // From now on what the informers see is told; first of what is there, which only shows binds that
  // follow their decisions.
  void List() {
    following_events_ = true;
    for (const auto& [name, pod] : pods_) {
      if (pod) See(Seen(EventType::kAdded, *pod), decisions_.size());
    }
    See({Kind::kPod, EventType::kSynced, {}, {}, {}});
    listed_ = events_.size();
  }

  // Both threads' tales, in an order that may be.
  void Tell(Mirror& mirror) {
    size_t event = 0;
    size_t decision = 0;
    while (event < events_.size() || decision < decisions_.size()) {
      const bool may_see = event < events_.size() && events_[event].after <= decision;
      const bool may_decide = decision < decisions_.size() && decisions_[decision].after <= event;
      ASSERT_TRUE(may_see || may_decide);
      const bool see = may_see && (!may_decide || random_.Below(2) == 0);
      const Told& told = see ? events_[event++] : decisions_[decision++];
      std::visit([&mirror](const auto& what) { mirror.Take(what); }, told.what);
      if (random_.Below(4) == 0) mirror.simulation().RunDue();
    }
    mirror.simulation().RunDue();
  }

  void ExpectIn(Mirror& mirror) const {
    size_t decided = 0;
    for (const auto& [name, pod] : pods_) {
      SCOPED_TRACE(name);
      const auto mirrored = mirror.simulation().FindPod("default/" + name);
      ASSERT_EQ(mirrored != nullptr, pod.has_value());
      if (!pod) continue;
      EXPECT_EQ(mirrored->metadata.uid, pod->metadata.uid);
      EXPECT_EQ(mirrored->metadata.labels, pod->metadata.labels);
      std::string node = pod->spec.node_name;
      if (const auto found = decided_.find(name);
          found != decided_.end() && !pod->metadata.deletion_timestamp) {
        node = found->second;
        ++decided;
      }
      EXPECT_EQ(mirrored->spec.node_name, node);
    }
    EXPECT_EQ(mirror.num_decided(), decided);
  }

 private:
  void See(InformerEvent event, size_t after = 0) {
    if (following_events_) events_.push_back({std::move(event), after});
  }
  // The scheduler has heard of all that was seen before; but what it decides before the first list
  // is over may be told before that.
  void Decide(const api::Pod& pod, const std::string& node) {
    if (!following_decisions_) return;
    decisions_.push_back({scheduler::PodAssignment{std::make_shared<const api::Pod>(pod), node},
                          listed_ > 0 ? events_.size() : 0});
  }

  Random random_;
  uint64_t last_uid_ = 0;
  std::map<std::string, std::optional<api::Pod>> pods_;
  std::map<std::string, std::string> decided_;
  bool following_events_ = false;
  bool following_decisions_ = false;
  size_t listed_ = 0;
  std::vector<Told> events_;
  std::vector<Told> decisions_;
};

TEST(MirrorPropertyTest, InWhateverOrderTwoThreadsTellTheMirrorEndsAsTheCluster) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Cluster cluster(seed);
    Random random(seed);
    const size_t follows = random.Below(kSteps);
    const size_t lists = follows + random.Below(kSteps - follows);
    for (size_t step = 0; step < kSteps; ++step) {
      if (step == follows) cluster.Follow();
      if (step == lists) cluster.List();
      cluster.Step();
    }
    auto made =
        simulator::Simulation::Make(test::DefaultSimulationOptions(), plugins::InTreeRegistry());
    ASSERT_TRUE(made) << made.error().message;
    Mirror mirror(*std::move(made));
    for (uint64_t i = 0; i < kNodes; ++i) {
      InformerEvent node;
      node.kind = Kind::kNode;
      node.new_object =
          test::MakeNode(NodeName(i)).Allocatable({{"cpu", "4"}, {"pods", "10"}}).Ptr();
      mirror.Take(node);
    }
    cluster.Tell(mirror);
    cluster.ExpectIn(mirror);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace berth::questions
