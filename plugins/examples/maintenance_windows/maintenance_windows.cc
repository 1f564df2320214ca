// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <berth/loadable/plugin.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr size_t kWindow = 0;  // its place in Options().own_kinds

using Names = std::set<std::string, std::less<>>;

// Adds what spec.nodes of a window lists. The text has no blanks, and names of nodes no escapes; a
// plugin that reads more of its objects brings a library for JSON.
void AddNodes(std::string_view json, Names& nodes) {
  constexpr std::string_view kNodes = "\"nodes\":[";
  const size_t list = json.find(kNodes);
  if (list == std::string_view::npos) return;
  const size_t begin = list + kNodes.size();
  std::string_view rest = json.substr(begin, json.find(']', begin) - begin);
  while (true) {
    const size_t open = rest.find('"');
    const size_t close = rest.find('"', open + 1);
    if (open == std::string_view::npos || close == std::string_view::npos) return;
    nodes.emplace(rest.substr(open + 1, close - open - 1));
    rest.remove_prefix(close + 1);
  }
}

// Keeps pods off the nodes that a MaintenanceWindow names, a custom resource (crd.yaml), for as
// long as there is one. No args.
class MaintenanceWindows final : public berth::EnqueueExtensions,
                                 public berth::PreFilterPlugin,
                                 public berth::FilterPlugin {
 public:
  MaintenanceWindows(const berth::ConfigValue& args, berth::Handle handle) : handle_(handle) {
    berth::FieldReader(args).Finish();
  }

  // A window helps when it goes, or when it names a node no more.
  std::vector<berth::ClusterEventWithHint> EventsToRegister() const override {
    return {{berth::KindOf(kWindow), BERTH_ACTION_ALL,
             [](const berth::PodView&, const berth::ObjectView& before,
                const berth::ObjectView& after) {
               Names closed_before;
               Names closed_after;
               if (before) AddNodes(before.json(), closed_before);
               if (after) AddNodes(after.json(), closed_after);
               const bool opens = !std::includes(closed_after.begin(), closed_after.end(),
                                                 closed_before.begin(), closed_before.end());
               return opens ? berth::QueueingHint::kQueue : berth::QueueingHint::kQueueSkip;
             }},
            {BERTH_KIND_NODE, BERTH_ACTION_ADD}};
  }

  berth::PreFilterResult PreFilter(berth::CycleState& state, const berth::PodView&,
                                   const berth::Snapshot&) override {
    auto closed = std::make_unique<Closed>();
    handle_.ForEachObject(berth::KindOf(kWindow), "", [&closed](const berth::ObjectView& window) {
      AddNodes(window.json(), closed->nodes);
    });
    if (closed->nodes.empty()) return {berth::Status::Skip()};
    state.Write(std::move(closed));
    return {berth::Status::Success()};
  }

  // Preemption must not try such a node: evicting its pods would not help.
  berth::Status Filter(const berth::CycleState& state, const berth::PodView&,
                       const berth::NodeView& node) const override {
    const Names& nodes = state.Read<Closed>()->nodes;
    if (nodes.find(node.name()) == nodes.end()) return berth::Status::Success();
    return berth::Status::UnschedulableAndUnresolvable("node(s) were in a maintenance window");
  }

 private:
  struct Closed {
    Names nodes;

    size_t bytes() const {
      size_t sum = 0;
      for (const std::string& name : nodes) sum += sizeof(name) + name.capacity();
      return sum;
    }
  };

  berth::Handle handle_;
};

berth::PluginOptions Options() {
  berth::PluginOptions options;
  options.own_kinds = {
      {"example.com", "v1", "maintenancewindows", "MaintenanceWindow", /*namespaced=*/false}};
  options.filter_without_pre_filter = "MaintenanceWindows needs preFilter, too";
  return options;
}

}  // namespace

BERTH_PLUGINS("1.0.0", berth::Define<MaintenanceWindows>("MaintenanceWindows", Options()))
