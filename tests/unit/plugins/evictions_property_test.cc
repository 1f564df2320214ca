// SPDX-License-Identifier: Apache-2.0
// Evictions tell of every preemptor whose gate opens or closes, whatever happens to its victims and
// their nodes, and of none where nothing happened.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/random.h"
#include "plugins/default_preemption/evictions.h"
#include "src/cache/cache.h"
#include "tests/support/builders.h"
#include "tests/support/fake_handle.h"

namespace berth::plugins {
namespace {

constexpr uint64_t kSeeds = 60;
constexpr uint64_t kSteps = 600;
constexpr uint64_t kNodes = 5;
constexpr uint64_t kPreemptors = 8;

struct Tally {
  uint64_t turned = 0;  // gates that opened or closed
  uint64_t told = 0;
  uint64_t silent = 0;  // looks that told of none while some waited
};

class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed), evictions_(handle_, "DefaultPreemption") {
    handle_.current_snapshot = &cache_;
    handle_.on_eviction_answered = [this](const EvictionAnswered& answered) {
      EXPECT_TRUE(evictions_.TakeAnswer(answered));
      EXPECT_FALSE(evictions_.TakeAnswer(answered)) << "it is answered already";
    };
    for (uint64_t i = 0; i < kNodes; ++i) SetNode(i);
    for (uint64_t i = 0; i < kPreemptors; ++i) waits_["p" + std::to_string(i)] = false;
  }

  void Run(Tally& tally) {
    for (uint64_t step = 0; step < kSteps && !testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      Step();
      // The queue looks now and then, and asks those that it was told of.
      if (random_.Below(3) == 0) Look(tally);
    }
  }

 private:
  static std::string NodeName(uint64_t i) { return "node-" + std::to_string(i); }
  void SetNode(uint64_t i) {
    cache_.SetNode(test::MakeNode(NodeName(i)).Allocatable({{"cpu", "64"}}).Ptr());
  }

  void Step() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
        AddPod();
        break;
      case 2:
        Preempt();
        break;
      case 3:
      case 4:
        Answer();
        break;
      case 5:
        if (!placed_.empty()) {
          const size_t at = random_.Below(placed_.size());
          cache_.RemovePod(placed_[at]->metadata.uid);
          placed_.erase(placed_.begin() + static_cast<ptrdiff_t>(at));
        }
        break;
      case 6:
        Terminate();
        break;
      default:
        if (random_.Below(2) == 0) {
          cache_.RemoveNode(NodeName(random_.Below(kNodes)));
        } else {
          SetNode(random_.Below(kNodes));
        }
    }
  }

  void AddPod() {
    const std::string name = "victim-" + std::to_string(num_pods_++);
    placed_.push_back(
        test::MakePod().Name(name).Uid(name).OnNode(NodeName(random_.Below(kNodes))).Ptr());
    ASSERT_TRUE(cache_.AddPod(cache_.MakePodInfo(placed_.back())));
  }

  void Terminate() {
    if (placed_.empty()) return;
    auto& pod = placed_[random_.Below(placed_.size())];
    api::Pod going = *pod;
    going.metadata.deletion_timestamp = Time();
    pod = std::make_shared<const api::Pod>(std::move(going));
    ASSERT_TRUE(cache_.AddPod(cache_.MakePodInfo(pod)));
  }

  // One preempts that does not wait, or one that is tried again meanwhile.
  void Preempt() {
    std::vector<EvictedPod> victims;
    const std::string node = NodeName(random_.Below(kNodes));
    for (const auto& pod : placed_) {
      if (pod->spec.node_name == node && victims.size() < 3) victims.push_back({pod, node});
    }
    const std::string uid = "p" + std::to_string(random_.Below(kPreemptors));
    evictions_.Start({uid, "pod", 10, {uid}}, node, std::move(victims));
    waits_[uid] = evictions_.Running(uid);  // PreEnqueue is asked when the pod comes back
  }

  void Answer() {
    if (handle_.evictions.empty()) return;
    const size_t at = random_.Below(handle_.evictions.size());
    const AsyncDone done = std::move(handle_.evictions[at].done);
    handle_.evictions.erase(handle_.evictions.begin() + static_cast<ptrdiff_t>(at));
    AsyncStatus answer;
    if (random_.Below(6) == 0) answer = {Code::kError, "no"};
    done(std::move(answer));
    handle_.RunPosted();
  }

  void Look(Tally& tally) {
    std::vector<std::string> keys;
    evictions_.TakeMoved(keys);
    const std::set<std::string> told(keys.begin(), keys.end());
    tally.told += told.size();
    const bool any_waits =
        std::ranges::any_of(waits_, [](const auto& wait) { return wait.second; });
    if (any_waits && told.empty()) ++tally.silent;
    for (auto& [uid, waits] : waits_) {
      const bool now = evictions_.Running(uid);
      if (now != waits) {
        ++tally.turned;
        EXPECT_TRUE(told.contains(uid)) << uid << (now ? " waits" : " waits no more");
      }
      waits = now;
    }
    keys.clear();
    evictions_.TakeMoved(keys);
    EXPECT_TRUE(keys.empty()) << "nothing has happened since";
  }

  Random random_;
  cache::Cache cache_;
  test::FakeHandle handle_;
  Evictions evictions_;
  std::vector<std::shared_ptr<const api::Pod>> placed_;
  std::map<std::string, bool> waits_;  // by UID, as the queue heard it last
  uint64_t num_pods_ = 0;
};

TEST(EvictionsPropertyTest, TellOfEachGateThatMoves) {
  Tally tally;
  for (uint64_t seed = 1; seed <= kSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Walk(seed).Run(tally);
  }
  EXPECT_GT(tally.turned, 500u);
  EXPECT_LT(tally.told, 20 * tally.turned) << "as good as asking about all";
  EXPECT_GT(tally.silent, 500u);
}

}  // namespace
}  // namespace berth::plugins
