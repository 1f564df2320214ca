// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/scheduler/pod_group_fixture.h"

namespace berth::test {

// A scheduler with the gate CompositePodGroup and those that it needs.
class CompositeFixture : public PodGroupFixture {
 protected:
  using CompositePtr = std::shared_ptr<const api::CompositePodGroup>;

  CompositeFixture() {
    options_.features.composite_pod_group = true;
    options_.features.topology_aware_workload_scheduling = true;
    std::vector<config::PluginRef> plugins = DefaultPlugins();
    plugins.insert(plugins.end(),
                   {{"GangScheduling"}, {"TopologyPlacementGenerator"}, {"PodGroupPodsCount", 1}});
    options_.configuration = config::DefaultConfiguration({plugins});
    Restart();
    Synced();
  }

  // A gang of that many groups; 0: the basic policy. Parts of the object are changed by the tests.
  static api::CompositePodGroup MakeComposite(const std::string& name, int32_t min_groups,
                                              std::optional<std::string> parent = {},
                                              int32_t priority = 0) {
    api::CompositePodGroup group;
    group.metadata.namespace_ = "default";
    group.metadata.name = name;
    group.metadata.uid = "uid-composite-" + name;
    group.spec.parent_composite_pod_group_name = std::move(parent);
    group.spec.priority = priority;
    if (min_groups > 0) {
      group.spec.scheduling_policy.gang = api::CompositeGangSchedulingPolicy{min_groups};
    } else {
      group.spec.scheduling_policy.basic.emplace();
    }
    return group;
  }
  static GroupPtr MakeChild(const std::string& name, int32_t min_count, const std::string& parent,
                            int32_t priority = 0) {
    auto group = std::make_shared<api::PodGroup>(*MakeGroup(name, min_count, priority));
    group->spec.parent_composite_pod_group_name = parent;
    return group;
  }
  CompositePtr AddComposite(api::CompositePodGroup group) {
    auto added = std::make_shared<const api::CompositePodGroup>(std::move(group));
    PostEvent(informers::EventType::kAdded, informers::Kind::kCompositePodGroup, {}, added);
    return added;
  }
  void DeleteComposite(CompositePtr group) {
    PostEvent(informers::EventType::kDeleted, informers::Kind::kCompositePodGroup, std::move(group),
              {});
  }
  void AddChild(const std::string& name, int32_t min_count, const std::string& parent, int pods) {
    AddGroup(MakeChild(name, min_count, parent));
    AddMembers(name, pods);
  }
  static void KeepIn(const std::string& key, auto& group) {
    group.spec.scheduling_constraints.emplace().topology.push_back({key});
  }
  void AddNodeIn(const std::string& name, const std::string& zone, const std::string& rack,
                 int cpu) {
    AddNode(MakeNode(name)
                .Label("zone", zone)
                .Label("rack", rack)
                .Allocatable({{"cpu", std::to_string(cpu)}, {"memory", "32Gi"}, {"pods", "110"}}));
  }
};

}  // namespace berth::test
