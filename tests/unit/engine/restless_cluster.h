// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/in_tree_registry.h"
#include "src/cache/cache.h"
#include "src/config/types.h"
#include "src/framework/profile.h"
#include "tests/support/builders.h"
#include "tests/support/default_plugins.h"
#include "tests/support/fake_handle.h"
#include "tests/support/random_cluster.h"
#include "tests/unit/engine/own_nodes_plugin.h"

namespace berth::test {

// A cluster to which things happen at random. Its own pods, all alike but for their names, come
// from a few templates.
class RestlessCluster {
 public:
  static constexpr size_t kTemplates = 12;

  explicit RestlessCluster(uint64_t seed)
      : random(seed), num_nodes(random.Below(8) == 0 ? 200 : 3 + random.Below(30)) {
    for (const std::string_view name : {"nvidia.com/gpu", "vendor.io/fpga"}) {
      EXPECT_EQ(handle.names.Intern(name), cache.mutable_resource_names().Intern(name));
    }
    for (uint64_t i = 0; i < kTenantNames; ++i) {
      const std::string name = TenantName(i);
      EXPECT_EQ(handle.names.Intern(name), cache.mutable_resource_names().InternPassing(name));
    }
    handle.current_snapshot = &cache;
    config::Profile config;
    config.scheduler_name = "default-scheduler";
    config.plugins.multi_point.enabled = DefaultPlugins();
    // Then nothing says that priorities tell pods apart.
    if (random.Below(4) == 0) {
      std::erase_if(config.plugins.multi_point.enabled,
                    [](const config::PluginRef& ref) { return ref.name == "DefaultPreemption"; });
    }
    std::vector<PluginRegistration> registry = plugins::InTreeRegistry();
    registry.push_back({OwnNodes::kName, [](const ConfigValue&, Handle&) -> Result<Plugin> {
                          return MakePlugin<OwnNodes>();
                        }});
    config.plugins.multi_point.enabled.push_back({std::string(OwnNodes::kName)});
    auto made = framework::Profile::Make(config, registry, handle);
    EXPECT_TRUE(made.has_value());
    profile = std::move(*made);
    cache.SetSignatureParts(profile->signature_parts());
    for (const api::Namespace& known : RandomNamespaces(random)) handle.plain_listers.Set(known);
    for (size_t i = 0; i < num_nodes; ++i) SetNode(i);
    for (size_t i = 0; i < kTemplates; ++i) templates_.push_back(NewTemplate(i));
  }

  std::string RandomNode() { return "node-" + std::to_string(random.Below(num_nodes)); }

  void SetNode(size_t index) {
    api::Node node = std::move(RandomNodes(random, 1).front());
    const std::string name = "node-" + std::to_string(index);
    node.metadata.name = name;
    for (auto& [key, value] : node.metadata.labels) {
      if (key == "kubernetes.io/hostname") value = name;
    }
    if (random.Below(3) != 0) {
      node.spec.taints.clear();
      node.spec.unschedulable = false;
    }
    if (random.Below(3) != 0) {
      node.status.allocatable = MakeResources({{"cpu", "32"},
                                               {"ephemeral-storage", "30Gi"},
                                               {"memory", "64Gi"},
                                               {"nvidia.com/gpu", "8"},
                                               {"pods", "30"}});
    }
    if (random.Below(8) == 0) {
      const std::string rare = TenantName(random.Below(kTenantNames));
      node.metadata.labels.emplace_back(rare, std::to_string(random.Below(2)));
      std::ranges::sort(node.metadata.labels);
      node.status.allocatable.emplace_back(rare, api::Quantity::FromUnits(4));
      std::ranges::sort(node.status.allocatable, {}, &api::ResourceList::value_type::first);
    }
    cache.SetNode(std::make_shared<const api::Node>(std::move(node)));
  }

  PodInfoPtr NewPod(size_t which) {
    api::Pod pod = templates_[which];
    const std::string number = std::to_string(num_pods_++);
    pod.metadata.name = "pod-" + number;
    pod.metadata.uid = "uid-" + number;
    if ((profile->signature_parts() & pod_part::kPriority) == 0) {
      pod.spec.priority = static_cast<int32_t>(random.Below(3));
    }
    if (random.Below(4) == 0) {
      static constexpr std::string_view kAsks[] = {OwnNodes::kNone,
                                                   OwnNodes::kRejected,
                                                   OwnNodes::kNamed,
                                                   OwnNodes::kScored,
                                                   OwnNodes::kFails,
                                                   "1",
                                                   "2",
                                                   "2",
                                                   "3",
                                                   "7",
                                                   "50"};
      const std::string_view asks = kAsks[random.Below(std::size(kAsks))];
      pod.metadata.annotations.assign({{std::string(OwnNodes::kName), std::string(asks)}});
    }
    api::StringMap& labels = pod.metadata.labels;
    const std::pair<std::string, std::string> index{kIndex, number.substr(number.size() - 1)};
    labels.insert(std::lower_bound(labels.begin(), labels.end(), index), index);
    return cache.MakePodInfo(std::make_shared<const api::Pod>(std::move(pod)));
  }

  // Another scheduler's pod; its node may not be there.
  PodInfoPtr NewPlacedPod() {
    api::Pod pod = RandomPlacedPods(random, 1, num_nodes).front();
    const std::string number = std::to_string(num_pods_++);
    pod.metadata.name = "pod-" + number;
    pod.metadata.uid = "uid-" + number;
    if (random.Below(3) == 0) AddTenantNames(pod);
    if (late && random.Below(4) == 0) {
      // Sooner or later a pod wants none of that number near.
      api::PodAffinityTerm term;
      term.topology_key = "kubernetes.io/hostname";
      term.namespaces = {templates_[random.Below(kTemplates)].metadata.namespace_};
      term.label_selector = api::LabelSelector{{{kIndex, std::to_string(random.Below(10))}}, {}};
      if (!pod.spec.affinity) pod.spec.affinity.emplace();
      auto& terms = pod.spec.affinity->pod_anti_affinity.emplace();
      terms.required_during_scheduling_ignored_during_execution.push_back(std::move(term));
    }
    return cache.MakePodInfo(std::make_shared<const api::Pod>(std::move(pod)));
  }

  void ChangeObjects() {
    const uint64_t what = random.Below(5);
    if (what == 0) {
      api::PodDisruptionBudget budget;
      budget.metadata.name = "budget";
      const api::Pod& pod = templates_[random.Below(kTemplates)];
      budget.metadata.namespace_ = pod.metadata.namespace_;
      budget.spec.selector = api::LabelSelector{pod.metadata.labels, {}};
      budget.status.disruptions_allowed = static_cast<int32_t>(random.Below(3));
      handle.plain_listers.Set(std::move(budget));
      return;
    }
    if (what < 3) {
      for (const api::Namespace& known : RandomNamespaces(random)) {
        handle.plain_listers.Set(known);
      }
      return;
    }
    const api::Pod& pod = templates_[random.Below(kTemplates)];
    api::Service service;
    service.metadata.name = "service-" + std::to_string(random.Below(3));
    service.metadata.namespace_ = pod.metadata.namespace_;
    if (random.Below(3) != 0) service.spec.selector = pod.metadata.labels;
    if (late && random.Below(4) == 0) service.spec.selector = {{kIndex, "3"}};
    cache.TestSelectorOf(std::make_shared<const api::Service>(service));
    handle.plain_listers.Set(std::move(service));
  }

  Random random;
  const size_t num_nodes;
  FakeHandle handle;
  cache::Cache cache;
  std::unique_ptr<framework::Profile> profile;
  bool late = false;  // in the second half, more is selected

 private:
  // Resources and topology keys that some pods name, and few nodes have.
  static constexpr uint64_t kTenantNames = 20;
  static std::string TenantName(uint64_t number) { return "tenant.io/r" + std::to_string(number); }
  // A label by which pods of one template differ.
  static constexpr const char* kIndex = "apps.kubernetes.io/pod-index";

  api::Pod NewTemplate(size_t number) {
    api::Pod pod = RandomPod(random, number, num_nodes);
    pod.spec.node_name.clear();
    // Most of what is required at random no node has.
    if (random.Below(2) == 0) {
      pod.spec.node_selector.clear();
      if (pod.spec.affinity && pod.spec.affinity->node_affinity) {
        pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution
            .reset();
      }
    }
    if (random.Below(4) == 0) pod.spec.affinity = std::nullopt;
    if (random.Below(4) == 0) AddTenantNames(pod);
    // Some fit nowhere.
    if (random.Below(4) == 0 && !pod.spec.containers.empty()) {
      pod.spec.containers.front().resources.requests =
          MakeResources({{"cpu", random.Below(2) == 0 ? "31" : "90"}});
    }
    return pod;
  }

  // A pod may ask for resources, and name keys, that no node or hardly any has.
  void AddTenantNames(api::Pod& pod) {
    if (random.Below(2) == 0) {
      api::PodAffinityTerm term;
      term.topology_key = TenantName(random.Below(kTenantNames));
      term.label_selector = api::LabelSelector{pod.metadata.labels, {}};
      if (!pod.spec.affinity) pod.spec.affinity.emplace();
      auto& anti = pod.spec.affinity->pod_anti_affinity;
      if (!anti) anti.emplace();
      anti->required_during_scheduling_ignored_during_execution.push_back(std::move(term));
    }
    if (pod.spec.containers.empty()) return;
    api::ResourceList& requests = pod.spec.containers.front().resources.requests;
    for (uint64_t i = random.Below(3); i > 0; --i) {
      const std::string name = TenantName(random.Below(kTenantNames));
      if (api::Find(requests, name) != nullptr) continue;
      requests.emplace_back(name, api::Quantity::FromUnits(static_cast<int64_t>(random.Below(3))));
    }
    std::ranges::sort(requests, {}, &api::ResourceList::value_type::first);
  }

  std::vector<api::Pod> templates_;
  size_t num_pods_ = 0;
};

}  // namespace berth::test
