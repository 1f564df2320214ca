// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/api/node_resource_topology.h"
#include "plugins/in_tree_registry.h"
#include "src/cache/cache.h"
#include "src/cache/node_metrics_table.h"
#include "src/config/types.h"
#include "src/documents/parse.h"
#include "src/framework/profile.h"
#include "tests/support/builders.h"
#include "tests/support/default_plugins.h"
#include "tests/support/fake_handle.h"
#include "tests/support/random_cluster.h"
#include "tests/support/shipped.h"
#include "tests/unit/engine/own_nodes_plugin.h"

namespace berth::test {

// A cluster to which things happen at random. Its own pods, all alike but for their names, come
// from a few templates.
class RestlessCluster {
 public:
  static constexpr size_t kTemplates = 12;

  explicit RestlessCluster(uint64_t seed)
      : has_shipped(seed % 4 == 0),
        measures(seed % 8 == 6),
        has_numa(seed % 8 == 7),
        random(seed),
        num_nodes(random.Below(8) == 0 ? 200 : 3 + random.Below(30)) {
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
    // Off by default.
    if (seed % 4 == 1) config.plugins.score.enabled.push_back({"NodeResourcesAllocatable", 3});
    if (seed % 9 == 4) AddWeightedSpread(seed, config);
    if (measures) {
      handle.watch_node_metrics = [this](const NodeMetricsSource& source) -> const MeasuredNodes& {
        return node_metrics.Watch(source, handle.virtual_clock.WallNow());
      };
      for (const char* name :
           {"TargetLoadPacking", "LoadVariationRiskBalancing", "LowRiskOverCommitment"}) {
        config.plugins.score.enabled.push_back({name, 4});
      }
      if (seed % 16 == 14) config.plugins.multi_point.enabled.push_back({"NodeOverload"});
    }
    if (has_numa) config.plugins.multi_point.enabled.push_back({"NodeResourceTopologyMatch"});
    if (has_shipped) AddShippedPlugins(config.plugins, registry);
    if (seed % 4 == 1 || seed % 32 == 3) AddFragmentation(seed % 4 == 1, config);
    auto made = framework::Profile::Make(config, registry, handle);
    EXPECT_TRUE(made.has_value());
    profile = std::move(*made);
    cache.SetSignatureParts(profile->signature_parts(), profile->tested_label_keys());
    for (const api::Namespace& known : RandomNamespaces(random)) handle.plain_listers.Set(known);
    for (size_t i = 0; i < num_nodes; ++i) SetNode(i);
    for (size_t i = 0; has_numa && i < num_nodes; i += 2) MeasureNuma(i);
    for (size_t i = 0; i < kTemplates; ++i) templates_.push_back(NewTemplate(i));
    for (size_t i = 0; has_shipped && i < 20; ++i) ChangeObjects();
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
    if (measures) node.status.capacity = node.status.allocatable;
    cache.SetNode(std::make_shared<const api::Node>(std::move(node)));
  }

  // What some nodes use is measured again; sometimes nothing is known any more.
  void Measure() {
    const auto resource = [this] {
      const auto draw = [this] { return static_cast<double>(random.Below(110)); };
      return MeasuredResource{.known = random.Below(9) != 0,
                              .average = draw(),
                              .deviation = draw() / 9,
                              .last = draw()};
    };
    if (random.Below(9) == 0) measured_.clear();
    const auto wall_now = std::chrono::floor<std::chrono::seconds>(handle.virtual_clock.WallNow());
    NodesMeasured told{.source = NodeMetricsSource().Name(),
                       .window_end = wall_now.time_since_epoch().count(),
                       .amounts = random.Below(4) == 0,
                       .nodes = {}};
    for (uint64_t i = random.Below(num_nodes); i > 0; --i) {
      const std::string name = RandomNode();
      measured_[name] = {name, resource(), resource()};
    }
    for (const auto& [name, node] : measured_) told.nodes.push_back(node);
    node_metrics.Take(told);
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
    // ServiceAffinity looks for pods with the very same labels.
    const std::pair<std::string, std::string> index{
        kIndex, has_shipped ? std::to_string(random.Below(2)) : number.substr(number.size() - 1)};
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

  // What the NUMA nodes of a node have left is reported again.
  void MeasureNuma(size_t index) {
    api::NodeResourceTopology topology;
    topology.metadata.name = "node-" + std::to_string(index);
    topology.attributes = {
        {"topologyManagerPolicy", random.Below(4) == 0 ? "none" : "single-numa-node"},
        {"topologyManagerScope", random.Below(2) == 0 ? "pod" : "container"}};
    for (const char* name : {"node-0", "node-1"}) {
      api::NodeTopologyZone& zone = topology.zones.emplace_back();
      zone.name = name;
      zone.type = "Node";
      zone.resources = {
          {"cpu", api::Quantity::FromUnits(static_cast<int64_t>(random.Below(5)))},
          {"memory", api::Quantity::FromUnits(static_cast<int64_t>(random.Below(4)) << 30)}};
    }
    handle.plain_listers.Set(std::move(topology));
  }

  void ChangeObjects() {
    if (has_numa && random.Below(2) == 0) {
      MeasureNuma(random.Below(num_nodes));
      return;
    }
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

  const bool has_shipped;  // some plugins of the library that comes with Berth
  const bool measures;     // some plugins score by what nodes are measured to use
  const bool has_numa;     // a plugin looks at NUMA nodes, and some pods are Guaranteed
  Random random;
  const size_t num_nodes;
  FakeHandle handle;
  cache::Cache cache;
  cache::NodeMetricsTable node_metrics{cache};
  std::unique_ptr<framework::Profile> profile;
  bool late = false;  // in the second half, more is selected

 private:
  // Resources and topology keys that some pods name, and few nodes have.
  static constexpr uint64_t kTenantNames = 20;
  static std::string TenantName(uint64_t number) { return "tenant.io/r" + std::to_string(number); }
  // A label by which pods of one template differ.
  static constexpr const char* kIndex = "apps.kubernetes.io/pod-index";

  // Shares of the zones for some pods, and shares or an order of nodes for all.
  static void AddWeightedSpread(uint64_t seed, config::Profile& profile_config) {
    Random draw(seed);
    const auto weight = [&draw] { return std::to_string(1 + draw.Below(5)); };
    const std::string when = draw.Below(3) != 0 ? "DoNotSchedule" : "ScheduleAnyway";
    const std::string values = draw.Below(2) == 0 ? R"("order":["true","x"])"
                                                  : R"("weights":[{"value":"true","weight":1}])";
    const std::string args =
        R"({"constraints":[{"labelSelector":{"matchLabels":{"app":"web"}},"topologyKey":"zone",)"
        R"("weights":[{"value":"a","weight":)" +
        weight() + R"(},{"value":"b","weight":)" + weight() + R"(},{"value":"c","weight":)" +
        weight() + R"(}],"whenUnsatisfiable":")" + when +
        R"("},{"labelSelector":{},"matchLabelKeys":["app"],"topologyKey":"ssd",)" + values +
        R"(,"whenUnsatisfiable":"ScheduleAnyway"}]})";
    profile_config.plugins.multi_point.enabled.push_back({"WeightedTopologySpread", 2});
    profile_config.plugin_config.push_back(
        {"WeightedTopologySpread", *documents::ParseJson(args, "")});
  }

  // With expected pods the scores are kept; without them each pod is seen, and evaluated by itself.
  static void AddFragmentation(bool with_mix, config::Profile& profile) {
    profile.plugins.multi_point.enabled.push_back({"FragmentationAware", 101});
    profile.plugins.multi_point.enabled.push_back({"FixedNodeOrder", 1});
    if (!with_mix) return;
    const auto shape = [](int64_t weight, const char* cpu, const char* gpus) {
      return ConfigValue(ConfigValue::Map{
          {"weight", ConfigValue(weight)},
          {"requests",
           ConfigValue(ConfigValue::Map{{"cpu", ConfigValue(std::string(cpu))},
                                        {"nvidia.com/gpu", ConfigValue(std::string(gpus))}})}});
    };
    profile.plugin_config.push_back(
        {"FragmentationAware",
         ConfigValue(ConfigValue::Map{
             {"mix", ConfigValue(ConfigValue::List{shape(3, "2", "0"), shape(1, "500m", "1")})}})});
  }

  // Plugins of older releases: what they declare, and their counts, pass through the interface of
  // loadable plugins. Where one normalises by node nothing is kept, so there are few of those.
  void AddShippedPlugins(config::Plugins& plugins, std::vector<PluginRegistration>& registry) {
    const auto list = [](const char* key) {
      return ConfigValue(ConfigValue::List{ConfigValue(std::string(key))});
    };
    const std::map<std::string_view, ConfigValue> args = {
        {"NodeLabel", ConfigValue(ConfigValue::Map{{"absentLabels", list("ssd")},
                                                   {"presentLabelsPreference", list("zone")}})},
        {"ServiceAffinity", ConfigValue(ConfigValue::Map{{"affinityLabels", list("zone")}})}};
    for (PluginRegistration& plugin : ShippedRegistry()) {
      if (random.Below(plugin.name == "SelectorSpread" ? 6 : 2) != 0) continue;
      const config::PluginRef named{std::string(plugin.name)};
      if (plugin.name == "ServiceAffinity") {
        plugins.pre_filter.enabled.push_back(named);
        plugins.filter.enabled.push_back(named);
      } else {
        plugins.multi_point.enabled.push_back(named);
      }
      if (const auto at = args.find(plugin.name); at != args.end()) {
        plugin.factory = [make = plugin.factory, given = at->second](
                             const ConfigValue&, Handle& of) { return make(given, of); };
      }
      registry.push_back(std::move(plugin));
    }
  }

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
    if (measures) {
      for (api::Container& container : pod.spec.containers) {
        if (random.Below(2) == 0) {
          container.resources.limits = MakeResources({{"cpu", "3"}, {"memory", "4Gi"}});
        }
      }
    }
    if (has_numa && random.Below(3) == 0) {
      for (api::Container& container : pod.spec.containers) {
        container.resources.requests = MakeResources({{"cpu", "1"}, {"memory", "1Gi"}});
        container.resources.limits = container.resources.requests;
      }
    }
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
  std::map<std::string, NodeMetrics> measured_;
  size_t num_pods_ = 0;
};

}  // namespace berth::test
