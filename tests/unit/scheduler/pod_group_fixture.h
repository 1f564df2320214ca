// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/default_plugins.h"
#include "tests/unit/scheduler/scheduler_fixture.h"

namespace berth::test {

// A scheduler with the gate GenericWorkload.
class PodGroupFixture : public SchedulerFixture {
 protected:
  using GroupPtr = std::shared_ptr<const api::PodGroup>;

  PodGroupFixture() {
    options_.features.generic_workload = true;
    std::vector<config::PluginRef> plugins = DefaultPlugins();
    plugins.push_back({"GangScheduling"});
    options_.configuration = config::DefaultConfiguration({plugins});
    Restart();
    Synced();
  }

  // A gang of that size; 0: the basic policy.
  static GroupPtr MakeGroup(const std::string& name, int32_t min_count, int32_t priority = 0) {
    auto group = std::make_shared<api::PodGroup>();
    group->metadata.namespace_ = "default";
    group->metadata.name = name;
    group->metadata.uid = "uid-group-" + name;
    group->metadata.generation = 1;
    group->spec.priority = priority;
    if (min_count > 0) {
      group->spec.scheduling_policy.gang = api::GangSchedulingPolicy{min_count};
    } else {
      group->spec.scheduling_policy.basic.emplace();
    }
    return group;
  }
  void AddGroup(GroupPtr group) {
    PostEvent(informers::EventType::kAdded, informers::Kind::kPodGroup, {}, std::move(group));
  }
  void UpdateGroup(GroupPtr before, GroupPtr after) {
    PostEvent(informers::EventType::kUpdated, informers::Kind::kPodGroup, std::move(before),
              std::move(after));
  }
  void DeleteGroup(GroupPtr group) {
    PostEvent(informers::EventType::kDeleted, informers::Kind::kPodGroup, std::move(group), {});
  }
  // "<group>-<number>", which asks for one cpu.
  static PodBuilder Member(const std::string& group, int number) {
    const std::string name = group + "-" + std::to_string(number);
    return MakePod().Name(name).Uid("uid-" + name).Req({{"cpu", "1"}}).SchedulingGroup(group);
  }
  void AddMembers(const std::string& group, int count) {
    for (int i = 0; i < count; ++i) AddPod(Member(group, i));
  }
  void AddNodeWithCpu(const std::string& name, int cpu) {
    AddNode(MakeNode(name).Allocatable(
        {{"cpu", std::to_string(cpu)}, {"memory", "32Gi"}, {"pods", "110"}}));
  }
};

}  // namespace berth::test
