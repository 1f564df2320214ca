// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/cluster_event.h"
#include "berth/in_tree/plugin.h"
#include "berth/result.h"

namespace berth::config {
struct Profile;
}  // namespace berth::config

namespace berth::framework {

// A set of a profile's plugins, by Entry::index.
inline constexpr size_t kMaxPlugins = 128;
using PluginMask = std::bitset<kMaxPlugins>;

// A plugin at one extension point.
template <typename Interface>
struct Entry {
  Interface* plugin = nullptr;
  const Plugin* instance = nullptr;  // what else it offers
  std::string_view name;             // the plugin's own, cached
  size_t index = 0;                  // of the plugin in its profile
};

struct FilterEntry : Entry<FilterPlugin> {
  const ColumnFilterPlugin* column = nullptr;  // the same plugin, if it has the column form
};

struct ScoreEntry : Entry<ScorePlugin> {
  const ColumnScorePlugin* column = nullptr;
  const ScoreExtensions* extensions = nullptr;
  int64_t weight = 1;
};

struct PlacementScoreEntry : Entry<PlacementScorePlugin> {
  int64_t weight = 1;
};

template <typename Interface>
struct EntryOf {
  using Type = Entry<Interface>;
};
template <>
struct EntryOf<FilterPlugin> {
  using Type = FilterEntry;
};
template <>
struct EntryOf<ScorePlugin> {
  using Type = ScoreEntry;
};
template <>
struct EntryOf<PlacementScorePlugin> {
  using Type = PlacementScoreEntry;
};

// The plugins of each extension point, in the order they are called.
struct PluginLists {
#define BERTH_LIST(Name, member, ...) std::vector<EntryOf<Name##Plugin>::Type> member;
  BERTH_EXTENSION_POINTS(BERTH_LIST)
  BERTH_POD_GROUP_POINTS(BERTH_LIST)
#undef BERTH_LIST
  // Of all plugins of the profile, wherever else they are called.
  std::vector<Entry<PlacementFeasiblePlugin>> placement_feasible;
};

// A plugin's registration for one cluster event.
struct RegisteredEvent {
  std::string plugin;
  ClusterEventWithHint event;
  bool declared = false;  // the plugin names the parts of a pod that it reads
  bool named = false;     // the plugin asked for this event, else it gets all
};

// One scheduling profile: its plugins, instantiated and sorted into extension points as
// kube-scheduler does (per-point settings override MultiPoint, then MultiPoint order, then the
// rest).
//
// Thread safety: immutable after Make; the plugins keep to the threads points.h names.
class Profile {
 public:
  // `registry` lists every known plugin, each with its factory.
  // `handle` must outlive the profile. Errors: an unknown or repeated plugin, one that lacks the
  // extension point, bad args, no or several QueueSort plugins, no Bind plugin, several
  // PlacementGenerate plugins, weights that overflow.
  static Result<std::unique_ptr<Profile>> Make(const config::Profile& config,
                                               const std::vector<PluginRegistration>& registry,
                                               Handle& handle);

  ~Profile();

  const std::string& scheduler_name() const { return scheduler_name_; }
  // nullopt: the global value applies.
  std::optional<int32_t> percentage_of_nodes_to_score() const { return percentage_; }
  const PluginLists& plugins() const { return lists_; }
  // What the plugins that can reject a pod registered for, in plugin order.
  const std::vector<RegisteredEvent>& events() const { return events_; }
  // The parts of a pod that declared plugins read.
  PodParts signature_parts() const { return signature_parts_; }
  // The labels of pods that declared plugins test; may repeat.
  const std::vector<std::string>& tested_label_keys() const { return tested_label_keys_; }
  Handle& handle() const { return handle_; }

 private:
  class Builder;
  class Unprepared;
  explicit Profile(Handle& handle);

  Handle& handle_;
  std::string scheduler_name_;
  std::optional<int32_t> percentage_;
  std::vector<std::unique_ptr<const Plugin>> instances_;
  std::vector<std::unique_ptr<Unprepared>> unprepared_;
  PluginLists lists_;
  std::vector<RegisteredEvent> events_;
  PodParts signature_parts_ = 0;
  std::vector<std::string> tested_label_keys_;
};

}  // namespace berth::framework
