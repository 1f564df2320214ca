// SPDX-License-Identifier: Apache-2.0
#include "src/scheduler/pod_groups/pod_group_tree.h"

#include <algorithm>

namespace berth::scheduler {
namespace {

void Add(const PodGroupNode& node, size_t parent, int depth, PodGroupTree& tree) {
  const size_t self = tree.groups.size();
  PodGroupTree::Group& group = tree.groups.emplace_back();
  group.object = node.object;
  group.parent = parent;
  group.pods.object = node.object.pod_group;
  if (depth < kMaxPodGroupTreeDepth) {
    for (const PodGroupNode* child : node.children) {
      tree.groups[self].children.push_back(tree.groups.size());
      Add(*child, self, depth + 1, tree);
    }
  }
  tree.groups[self].end = tree.groups.size();
}

}  // namespace

PodGroupTree PodGroupTree::Of(const PodGroupNode& root) {
  PodGroupTree tree;
  Add(root, 0, 1, tree);
  return tree;
}

PodGroupAttempt* PodGroupTree::Find(std::string_view pod_group) {
  const auto found = std::ranges::find_if(groups, [&](const Group& group) {
    return group.object.pod_group != nullptr && group.object.metadata().name == pod_group;
  });
  return found == groups.end() ? nullptr : &found->pods;
}

size_t PodGroupTree::num_members() const {
  size_t count = 0;
  for (const Group& group : groups) count += group.pods.members.size();
  return count;
}

void PodGroupTree::SetProfile() {
  const auto some =
      std::ranges::find_if(groups, [](const Group& group) { return !group.pods.members.empty(); });
  if (some == groups.end()) return;
  profile = some->pods.members.front().attempt.profile;
  for (Group& group : groups) group.pods.profile = profile;
}

void PodGroupTree::TakePriorityOfPods() {
  if (groups.size() != 1 || !IsCoscheduled(root().object)) return;
  std::optional<int32_t> lowest;
  ForEachMember([&](const MemberAttempt& member) {
    const int32_t priority = member.attempt.info()->priority();
    lowest = std::min(lowest.value_or(priority), priority);
  });
  auto group = std::make_shared<api::PodGroup>(*root().object.pod_group);
  group->spec.priority = lowest;
  root().object.pod_group = root().pods.object = std::move(group);
}

PodGroupInfo PodGroupTree::Info(size_t group) const {
  PodGroupInfo info{.object = groups[group].object, .unscheduled_pods = {}};
  for (size_t i = group; i < groups[group].end; ++i) {
    const PodGroupAttempt& pods = groups[i].pods;
    if (pods.object != nullptr && i != group) info.pod_groups.push_back(pods.object);
    for (const MemberAttempt& member : pods.members) {
      info.unscheduled_pods.push_back(member.attempt.info().get());
      info.states.push_back(&member.attempt.cycle.state);
    }
  }
  return info;
}

std::vector<bool> PodGroupTree::Starting(size_t first) const {
  std::vector<bool> starting(groups.size());
  for (size_t i = first; i < groups[first].end; ++i) {
    const Group& group = groups[i];
    starting[i] = group.verdict && group.verdict->ok() && (i == first || starting[group.parent]);
  }
  return starting;
}

void PodGroupTree::Complete() {
  for (size_t i = 1; i < groups.size(); ++i) {
    Group& group = groups[i];
    const GroupVerdict& above = *groups[group.parent].verdict;
    if (group.verdict && (above.ok() || !group.verdict->ok())) continue;
    group.verdict = above;
    for (MemberAttempt& member : group.pods.members) member.StartOver();
  }
}

}  // namespace berth::scheduler
