// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "berth/random.h"
#include "tests/unit/scheduler/pod_group_fixture.h"

// Random gangs come and go on a few nodes, beside pods of their own.
namespace berth::scheduler {
namespace {

using std::chrono::seconds;

constexpr int kNodes = 4;
constexpr int kNodeCpu = 6;

class PodGroupPropertyTest : public test::PodGroupFixture,
                             public testing::WithParamInterface<uint64_t> {
 protected:
  struct Gang {
    GroupPtr object;
    int size = 0;
    std::vector<std::shared_ptr<const api::Pod>> bound;  // by the API server, as told
  };

  uint64_t Below(uint64_t limit) { return random_.Below(limit); }

  void AddGang() {
    const std::string name = "g" + std::to_string(++last_);
    const int size = 1 + static_cast<int>(Below(8));
    const auto min_count = static_cast<int32_t>(1 + Below(static_cast<uint64_t>(size)));
    Gang& gang = gangs_[name] = {MakeGroup(name, min_count), size, {}};
    const bool group_first = Below(2) == 0;
    if (group_first) AddGroup(gang.object);
    AddMembers(name, size);
    if (!group_first) AddGroup(gang.object);
  }
  void AddPlainPod() {
    const std::string name = "web-" + std::to_string(++last_);
    AddPod(test::MakePod().Name(name).Uid("uid-" + name).Req({{"cpu", "1"}}));
  }
  // Tells of new binds as the watch would.
  void Confirm() {
    const std::vector<std::string> bindings = Bindings();
    for (; told_ < bindings.size(); ++told_) {
      const std::string& binding = bindings[told_];
      const size_t slash = binding.find('/');
      const size_t arrow = binding.find(" -> ");
      const std::string pod = binding.substr(slash + 1, arrow - slash - 1);
      const std::string node = binding.substr(arrow + 4);
      const auto gang = gangs_.find(pod.substr(0, pod.find('-')));
      if (gang == gangs_.end()) {
        plain_on_[node].push_back(pod);
        continue;
      }
      const int number = std::stoi(pod.substr(pod.find('-') + 1));
      auto placed = Member(gang->first, number).OnNode(node).Ptr();
      UpdatePod(Member(gang->first, number).Ptr(), placed);
      gang->second.bound.push_back(placed);
    }
  }
  // Ends a gang that has started, with the pods of it that still wait.
  void FinishGang() {
    for (auto it = gangs_.begin(); it != gangs_.end(); ++it) {
      Gang& gang = it->second;
      if (gang.bound.empty()) continue;
      for (int i = 0; i < gang.size; ++i) {
        const auto waiting = Member(it->first, i).Ptr();
        const auto bound = std::ranges::find(gang.bound, waiting->metadata.uid,
                                             [](const auto& pod) { return pod->metadata.uid; });
        DeletePod(bound == gang.bound.end() ? waiting : *bound);
      }
      DeleteGroup(gang.object);
      gangs_.erase(it);
      return;
    }
  }
  void Check() {
    std::map<std::string, int> used;
    for (const auto& [name, gang] : gangs_) {
      const int bound = static_cast<int>(gang.bound.size());
      EXPECT_TRUE(bound == 0 || bound >= gang.object->spec.scheduling_policy.gang->min_count)
          << name << " has " << bound << " of " << gang.size;
      for (const auto& pod : gang.bound) ++used[pod->spec.node_name];
    }
    for (const auto& [node, pods] : plain_on_) used[node] += static_cast<int>(pods.size());
    for (const auto& [node, cpu] : used) EXPECT_LE(cpu, kNodeCpu) << node;
  }

  Random random_{GetParam()};
  std::map<std::string, Gang> gangs_;
  std::map<std::string, std::vector<std::string>> plain_on_;
  size_t told_ = 0;
  int last_ = 0;
};

TEST_P(PodGroupPropertyTest, AGangHasMinCountPodsOrNoneAndNoNodeIsOvercommitted) {
  for (int i = 0; i < kNodes; ++i) AddNodeWithCpu("n" + std::to_string(i), kNodeCpu);
  for (int step = 0; step < 60; ++step) {
    switch (Below(4)) {
      case 0:
      case 1:
        AddGang();
        break;
      case 2:
        FinishGang();
        break;
      default:
        if (last_ % 5 == 0) AddPlainPod();
        ++last_;
    }
    Turn();
    if (Below(3) == 0) Advance(seconds(3));
    Confirm();
    Turn();
    Check();
  }
  // No gang blocks another for ever: as room comes, each that fits alone is bound.
  for (int round = 0; round < 200 && !gangs_.empty(); ++round) {
    FinishGang();
    Advance(seconds(10));
    Confirm();
    Check();
  }
  EXPECT_TRUE(gangs_.empty()) << gangs_.begin()->first << " never ended";
}

INSTANTIATE_TEST_SUITE_P(Seeds, PodGroupPropertyTest, testing::Range<uint64_t>(1, 9));

}  // namespace
}  // namespace berth::scheduler
