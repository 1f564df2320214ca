// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/random.h"
#include "tests/unit/scheduler/composite_fixture.h"

// Random trees of pod groups come and go on a few nodes.
namespace berth::scheduler {
namespace {

using std::chrono::seconds;

constexpr int kNodes = 6;
constexpr int kNodeCpu = 5;

class CompositePropertyTest : public test::CompositeFixture,
                              public testing::WithParamInterface<uint64_t> {
 protected:
  struct Group {
    bool composite = false;
    size_t min = 1;  // children, or pods
    std::vector<std::string> children = {};
    CompositePtr composite_object = nullptr;
    GroupPtr object = nullptr;
    int pods = 0;
    std::vector<std::shared_ptr<const api::Pod>> bound = {};  // by the API server, as told
  };

  uint64_t Below(uint64_t limit) { return random_.Below(limit); }
  bool Chance(uint64_t one_in) { return Below(one_in) == 0; }

  // A group of that depth, from 1, and all below it; its name.
  std::string AddRandomGroup(const std::optional<std::string>& parent, int depth) {
    const std::string name = "g" + std::to_string(++last_);
    const bool composite = depth == 1 || (depth < kMaxPodGroupTreeDepth && Chance(3));
    if (!composite) {
      const int pods = 1 + static_cast<int>(Below(4));
      const auto min = static_cast<int32_t>(Below(static_cast<uint64_t>(pods) + 1));
      api::PodGroup object = *MakeChild(name, min, *parent);
      if (Chance(3)) KeepIn("rack", object);
      Group& group = groups_[name];
      group.pods = pods;
      group.min = std::max<size_t>(1, static_cast<size_t>(min));
      group.object = std::make_shared<const api::PodGroup>(std::move(object));
      AddGroup(group.object);
      AddMembers(name, pods);
      return name;
    }
    std::vector<std::string> children(1 + Below(3));
    const auto min = static_cast<int32_t>(Below(children.size() + 1));
    api::CompositePodGroup object = MakeComposite(name, min, parent);
    if (Chance(4)) KeepIn(Chance(2) ? "zone" : "rack", object);
    const bool first = Chance(2);
    auto added = std::make_shared<const api::CompositePodGroup>(std::move(object));
    if (first) AddComposite(*added);
    for (std::string& child : children) child = AddRandomGroup(name, depth + 1);
    if (!first) AddComposite(*added);
    Group& group = groups_[name];
    group.composite = true;
    group.min = std::max<size_t>(1, static_cast<size_t>(min));
    group.children = std::move(children);
    group.composite_object = std::move(added);
    return name;
  }
  void AddTree() { roots_.push_back(AddRandomGroup(std::nullopt, 1)); }

  // Tells of new binds as the watch would.
  void Confirm() {
    const std::vector<std::string> bindings = Bindings();
    for (; told_ < bindings.size(); ++told_) {
      const std::string& binding = bindings[told_];
      const size_t slash = binding.find('/');
      const size_t arrow = binding.find(" -> ");
      const std::string pod = binding.substr(slash + 1, arrow - slash - 1);
      const std::string name = pod.substr(0, pod.find('-'));
      const int number = std::stoi(pod.substr(pod.find('-') + 1));
      const auto group = groups_.find(name);
      if (group == groups_.end()) continue;  // gone before the watch told of it
      auto placed = Member(name, number).OnNode(binding.substr(arrow + 4)).Ptr();
      UpdatePod(Member(name, number).Ptr(), placed);
      group->second.bound.push_back(placed);
    }
  }
  size_t Bound(const std::string& name) const {
    const Group& group = groups_.at(name);
    size_t bound = group.bound.size();
    for (const std::string& child : group.children) bound += Bound(child);
    return bound;
  }
  void Delete(const std::string& name) {
    const Group group = groups_.at(name);
    for (int i = 0; i < group.pods; ++i) {
      auto pod = Member(name, i).Ptr();
      for (const auto& bound : group.bound) {
        if (bound->metadata.uid == pod->metadata.uid) pod = bound;
      }
      DeletePod(pod);
    }
    for (const std::string& child : group.children) Delete(child);
    if (group.composite) {
      DeleteComposite(group.composite_object);
    } else {
      DeleteGroup(group.object);
    }
    groups_.erase(name);
  }
  // Ends a tree that has started, or any.
  void FinishTree(bool any) {
    for (size_t i = 0; i < roots_.size(); ++i) {
      if (!any && Bound(roots_[i]) == 0) continue;
      Delete(roots_[i]);
      roots_.erase(roots_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }
  // Of a group with pods on nodes: whether what it needs of the groups below it has started.
  void Check(const std::string& name) {
    const Group& group = groups_.at(name);
    if (Bound(name) == 0) return;
    size_t started = group.bound.size();
    for (const std::string& child : group.children) {
      Check(child);
      if (Bound(child) > 0) ++started;
    }
    EXPECT_GE(started, group.min) << name << (group.composite ? " of groups" : " of pods");
  }
  void CheckAll() {
    std::map<std::string, int> used;
    for (const std::string& root : roots_) Check(root);
    for (const auto& [name, group] : groups_) {
      for (const auto& pod : group.bound) ++used[pod->spec.node_name];
      CheckTopology(name, group);
    }
    for (const auto& [node, cpu] : used) EXPECT_LE(cpu, kNodeCpu) << node;
  }
  void CheckTopology(const std::string& name, const Group& group) {
    const auto& constraints = group.composite ? group.composite_object->spec.scheduling_constraints
                                              : group.object->spec.scheduling_constraints;
    if (!constraints) return;
    std::set<std::string> domains;
    Collect(name, constraints->topology.front().key == "zone" ? 1 : 2, domains);
    EXPECT_LE(domains.size(), 1u) << name;
  }
  // Nodes are named zone, rack, number.
  void Collect(const std::string& name, size_t digits, std::set<std::string>& domains) const {
    const Group& group = groups_.at(name);
    for (const auto& pod : group.bound) domains.insert(pod->spec.node_name.substr(0, digits));
    for (const std::string& child : group.children) Collect(child, digits, domains);
  }
  void AddNodes() {
    for (int i = 0; i < kNodes; ++i) {
      const std::string zone = i < kNodes / 2 ? "a" : "b";
      const std::string rack = zone + (i % 2 == 0 ? "0" : "1");
      AddNodeIn(rack + std::to_string(i), zone, rack, kNodeCpu);
    }
  }
  void Play(int steps) {
    AddNodes();
    for (int step = 0; step < steps; ++step) {
      if (Below(3) > 0) {
        AddTree();
      } else {
        FinishTree(Chance(4));
      }
      Turn();
      if (Chance(3)) Advance(seconds(3));
      Confirm();
      Turn();
      CheckAll();
    }
  }
  void Reset() {
    random_ = Random(GetParam());
    groups_.clear();
    roots_.clear();
    told_ = 0;
    last_ = 0;
    Restart();
    Synced();
  }

  Random random_{GetParam()};
  std::map<std::string, Group> groups_;
  std::vector<std::string> roots_;
  size_t told_ = 0;
  int last_ = 0;
};

TEST_P(CompositePropertyTest, NoPartOfATreeStartsWithoutWhatItNeedsAndNoNodeIsOvercommitted) {
  Play(50);
  // No tree blocks another for ever: once all is over, nothing is left of them.
  for (int round = 0; round < 300 && !roots_.empty(); ++round) {
    FinishTree(round % 3 == 2);
    Advance(seconds(5));
    Confirm();
    CheckAll();
  }
  EXPECT_TRUE(roots_.empty());
  EXPECT_EQ(scheduler().cache().num_assumed(), 0u);
  EXPECT_GT(Bindings().size(), 20u) << "hardly anything started";
}

TEST_P(CompositePropertyTest, TheSameMessagesAndSeedGiveTheSameDecisions) {
  Play(20);
  const std::vector<std::string> first = Bindings();
  Reset();
  Play(20);
  EXPECT_EQ(Bindings(), first);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CompositePropertyTest, testing::Range<uint64_t>(1, 13));

}  // namespace
}  // namespace berth::scheduler
