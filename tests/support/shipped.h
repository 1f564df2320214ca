// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/points.h"
#include "plugins/in_tree_registry.h"
#include "src/framework/loader.h"

namespace berth::test {

// The plugins of libraries that come with Berth, loaded as a profile loads them.
inline std::vector<PluginRegistration> ShippedRegistry() {
  std::vector<PluginRegistration> registry;
  for (const plugins::ShippedPlugin& plugin : plugins::ShippedPlugins()) {
    registry.push_back(framework::ShippedPlugin(plugin.name, plugin.library, plugin.prepare_args));
  }
  return registry;
}

inline Result<Plugin> TryMakeShipped(std::string_view name, const ConfigValue& args,
                                     Handle& handle) {
  for (const PluginRegistration& plugin : ShippedRegistry()) {
    if (plugin.name == name) return plugin.factory(args, handle);
  }
  return Fail("no such plugin");
}

// One of them, to be asked like an object of its class.
class Shipped final : public EnqueueExtensions {
 public:
  Shipped(std::string_view name, const ConfigValue& args, Handle& handle) {
    auto made = TryMakeShipped(name, args, handle);
    EXPECT_TRUE(made) << made.error().message;
    if (made) plugin_ = std::move(*made);
  }
  Shipped(std::string_view name, Handle& handle) : Shipped(name, ConfigValue(), handle) {}

  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod, const Snapshot& snapshot) {
    return plugin_.pre_filter->PreFilter(state, pod, snapshot);
  }
  Status AddPod(CycleState& state, const PodInfo& pod, const PodInfo& added, const NodeView& node) {
    return plugin_.pre_filter_extensions->AddPod(state, pod, added, node);
  }
  Status RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& removed,
                   const NodeView& node) {
    return plugin_.pre_filter_extensions->RemovePod(state, pod, removed, node);
  }
  void Detach(CycleState& state) { plugin_.pre_filter_extensions->Detach(state); }
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const {
    return plugin_.filter->Filter(state, pod, node);
  }
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) {
    return plugin_.pre_score->PreScore(state, pod, snapshot, feasible);
  }
  ScoreResult Score(const CycleState& state, const PodInfo& pod, const NodeView& node) const {
    return plugin_.score->Score(state, pod, node);
  }
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const {
    plugin_.column_score->ScoreNodes(state, pod, snapshot, nodes, scores);
  }
  Status NormalizeScore(const CycleState& state, const PodInfo& pod, std::span<const NodeRow> nodes,
                        std::span<int64_t> scores) const {
    return plugin_.score_extensions->NormalizeScore(state, pod, nodes, scores);
  }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return plugin_.enqueue_extensions->EventsToRegister();
  }
  const Plugin& plugin() const { return plugin_; }

 private:
  Plugin plugin_;
};

}  // namespace berth::test
