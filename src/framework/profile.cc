// SPDX-License-Identifier: Apache-2.0
#include "src/framework/profile.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "berth/field_errors.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "src/base/suggestion.h"
#include "src/config/extension_points.h"
#include "src/config/other_plugins.h"
#include "src/config/types.h"

namespace berth::framework {
namespace {

bool Names(const std::vector<config::PluginRef>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(),
                     [name](const config::PluginRef& ref) { return ref.name == name; });
}

}  // namespace

// Takes the place of a Filter or Score that needs what PreFilter or PreScore leaves in the state,
// in a profile that does not call that.
class Profile::Unprepared final : public FilterPlugin, public ScorePlugin {
 public:
  explicit Unprepared(const Status& error) : error_(error) {}
  Status Filter(const CycleState&, const PodInfo&, const NodeView&) const override {
    return error_;
  }
  ScoreResult Score(const CycleState&, const PodInfo&, const NodeView&) const override {
    return {0, error_};
  }

 private:
  const Status error_;
};

// Assembles one profile; the rules are kube-scheduler's framework construction.
class Profile::Builder {
 public:
  Builder(const config::Profile& config, const std::vector<PluginRegistration>& registry,
          Profile& profile)
      : config_(config), registry_(registry), profile_(profile) {}

  Result<void> Build() {
    profile_.scheduler_name_ = config_.scheduler_name;
    profile_.percentage_ = config_.percentage_of_nodes_to_score;
    if (auto made = Instantiate(); !made) return made;
    if (auto filled = FillLists(); !filled) return filled;
    const PluginLists& lists = profile_.lists_;
    if (lists.queue_sort.size() != 1) {
      return Fail("only one queue sort plugin required for profile with scheduler name " +
                  Quoted(config_.scheduler_name) + ", but got " +
                  std::to_string(lists.queue_sort.size()));
    }
    if (lists.bind.empty()) {
      return Fail("at least one bind plugin is needed for profile with scheduler name " +
                  Quoted(config_.scheduler_name));
    }
    if (lists.placement_generate.size() > 1) {
      return Fail(
          "at most one placement generate plugin is allowed for profile with scheduler name " +
          Quoted(config_.scheduler_name));
    }
    if (auto weighted = Weigh(); !weighted) return weighted;
    RegisterEvents();
    TellPoints();
    return {};
  }

 private:
  std::set<std::string> NeededPlugins() const {
    std::set<std::string> needed;
    for (const config::ExtensionPoint& point : config::kExtensionPoints) {
      for (const config::PluginRef& ref : (config_.plugins.*point.set).enabled) {
        needed.insert(ref.name);
      }
    }
    return needed;
  }

  Result<void> Instantiate() {
    std::map<std::string, const ConfigValue*> args;
    for (const config::PluginConfig& entry : config_.plugin_config) {
      if (!args.emplace(entry.name, &entry.args).second) {
        return Fail("repeated config for plugin " + entry.name);
      }
    }
    const std::set<std::string> needed = NeededPlugins();
    for (const PluginRegistration& registration : registry_) {
      const std::string name(registration.name);
      if (!needed.contains(name)) continue;
      static const ConfigValue kNoArgs;
      const auto it = args.find(name);
      auto made = registration.factory(it == args.end() ? kNoArgs : *it->second, profile_.handle_);
      if (!made) return Fail(made.error().Within("initializing plugin " + Quoted(name)));
      if (profile_.instances_.size() == kMaxPlugins) {
        return Fail("profile " + Quoted(config_.scheduler_name) + " has more than " +
                    std::to_string(kMaxPlugins) + " plugins");
      }
      by_name_[name] = profile_.instances_.size();
      profile_.instances_.push_back(std::make_unique<const Plugin>(std::move(*made)));
    }
    return {};
  }

  const Plugin& Instance(const std::string& name) const {
    return *profile_.instances_[by_name_.at(name)];
  }

  template <typename Interface>
  auto EntryFor(const std::string& name, Interface* Plugin::* point) const {
    const Plugin& plugin = Instance(name);
    typename EntryOf<Interface>::Type entry;
    entry.plugin = plugin.*point;
    entry.instance = &plugin;
    entry.name = plugin.name;
    entry.index = by_name_.at(name);
    return entry;
  }
  template <typename E, typename Interface>
  void Append(std::vector<E>& list, const std::string& name, Interface* Plugin::* point) {
    list.push_back(EntryFor(name, point));
  }
  void Append(std::vector<FilterEntry>& list, const std::string& name,
              FilterPlugin* Plugin::* point) {
    FilterEntry& entry = list.emplace_back(EntryFor(name, point));
    entry.column = entry.instance->column_filter;
    if (Unprepared* stand_in = StandIn(entry.instance->filter_without_pre_filter,
                                       Listed(profile_.lists_.pre_filter, name))) {
      entry.plugin = stand_in;
      entry.column = nullptr;
    }
  }
  void Append(std::vector<ScoreEntry>& list, const std::string& name,
              ScorePlugin* Plugin::* point) {
    ScoreEntry& entry = list.emplace_back(EntryFor(name, point));
    entry.column = entry.instance->column_score;
    entry.extensions = entry.instance->score_extensions;
    if (Unprepared* stand_in = StandIn(entry.instance->score_without_pre_score,
                                       Listed(profile_.lists_.pre_score, name))) {
      entry.plugin = stand_in;
      entry.column = nullptr;
      entry.extensions = nullptr;
    }
  }

  // What answers in the plugin's place, where it cannot do without what is not called.
  Unprepared* StandIn(std::string_view error, bool prepared) {
    if (error.empty() || prepared) return nullptr;
    return profile_.unprepared_
        .emplace_back(std::make_unique<Unprepared>(profile_.handle_.reasons().Error(error)))
        .get();
  }

  template <typename E>
  static bool Listed(const std::vector<E>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(),
                       [&](const E& entry) { return entry.name == name; });
  }

  tl::unexpected<Error> NotThere(std::string_view type, const std::string& name) const {
    std::string text = std::string(type) + " " + Quoted(name) + " does not exist";
    base::Suggestion meant(name);
    for (const PluginRegistration& registration : registry_) meant.Try(registration.name);
    const std::string what = config::WhatItIs(name);
    text += what.empty() ? meant.ToString() : "; " + what;
    std::set<std::string_view> libraries;
    for (const PluginRegistration& registration : registry_) {
      if (!registration.library.empty()) libraries.insert(registration.library);
    }
    std::string_view separator = "; plugin libraries looked at: ";
    for (const std::string_view library : libraries) {
      text.append(separator).append(library);
      separator = ", ";
    }
    return Fail(std::move(text));
  }

  template <typename Interface>
  bool Implements(const std::string& name, Interface* Plugin::* point) const {
    return Instance(name).*point != nullptr;
  }

  static tl::unexpected<Error> RegisteredTwice(const std::string& name, std::string_view type) {
    return Fail("plugin " + Quoted(name) + " already registered as " + Quoted(type));
  }

  // Errors: what the point's own list names cannot be there.
  template <typename Interface>
  Result<void> CheckNamed(Interface* Plugin::* point, const config::PluginSet& set,
                          std::string_view type) const {
    std::set<std::string_view> seen;
    for (const config::PluginRef& ref : set.enabled) {
      if (!by_name_.contains(ref.name)) return NotThere(type, ref.name);
      if (!Implements(ref.name, point)) {
        return Fail("plugin " + Quoted(ref.name) + " does not extend " + std::string(type) +
                    " plugin");
      }
      if (!seen.insert(ref.name).second) return RegisteredTwice(ref.name, type);
    }
    return {};
  }

  // One extension point: overrides in their own order, then MultiPoint, then what only this point
  // names.
  template <typename E, typename Interface>
  Result<void> Fill(std::vector<E>& list, Interface* Plugin::* point, const config::PluginSet& set,
                    std::string_view type) {
    std::vector<std::string> overrides;
    std::vector<std::string> multi_point;
    if (!Names(set.disabled, "*")) {
      for (const config::PluginRef& ref : config_.plugins.multi_point.enabled) {
        if (!by_name_.contains(ref.name)) return NotThere(type, ref.name);
        if (!Implements(ref.name, point) || Names(set.disabled, ref.name)) continue;
        if (Names(set.enabled, ref.name)) {
          overrides.push_back(ref.name);
        } else if (std::find(multi_point.begin(), multi_point.end(), ref.name) !=
                   multi_point.end()) {
          return RegisteredTwice(ref.name, type);
        } else {
          multi_point.push_back(ref.name);
        }
      }
    }
    const auto overridden = [&](const std::string& name) {
      return std::find(overrides.begin(), overrides.end(), name) != overrides.end();
    };
    for (const config::PluginRef& ref : set.enabled)
      if (overridden(ref.name)) Append(list, ref.name, point);
    for (const std::string& name : multi_point) Append(list, name, point);
    for (const config::PluginRef& ref : set.enabled)
      if (!overridden(ref.name)) Append(list, ref.name, point);
    return {};
  }

  Result<void> FillLists() {
    const config::Plugins& p = config_.plugins;
    PluginLists& lists = profile_.lists_;
    // Of several errors the one is reported that kube-scheduler comes upon first: it takes the
    // lists of all points before it looks at MultiPoint.
    std::map<int, Result<void>> checked;
#define BERTH_CHECK_NAMED(Name, member, field, build_order) \
  checked[build_order] = CheckNamed(&Plugin::member, p.member, #Name "Plugin");
    BERTH_EXTENSION_POINTS(BERTH_CHECK_NAMED)
    BERTH_POD_GROUP_POINTS(BERTH_CHECK_NAMED)
#undef BERTH_CHECK_NAMED
    for (const auto& [order, result] : checked)
      if (!result) return result;
    std::map<int, Result<void>> filled;
#define BERTH_FILL(Name, member, field, build_order) \
  filled[build_order] = Fill(lists.member, &Plugin::member, p.member, #Name "Plugin");
    BERTH_EXTENSION_POINTS(BERTH_FILL)
    BERTH_POD_GROUP_POINTS(BERTH_FILL)
#undef BERTH_FILL
    for (const auto& [order, result] : filled)
      if (!result) return result;
    for (const auto& instance : profile_.instances_) {
      if (instance->placement_feasible == nullptr) continue;
      Append(lists.placement_feasible, instance->name, &Plugin::placement_feasible);
    }
    return {};
  }

  Result<void> Weigh() {
    const config::Plugins& p = config_.plugins;
    if (auto weighed = Weigh(profile_.lists_.score, &Plugin::score, p.score); !weighed) {
      return Fail(weighed.error().Within("score plugins"));
    }
    if (auto weighed =
            Weigh(profile_.lists_.placement_score, &Plugin::placement_score, p.placement_score);
        !weighed) {
      return Fail(weighed.error().Within("placement score plugins"));
    }
    return {};
  }

  // A weight at the point itself beats the MultiPoint one; 0 means 1. As in kube-scheduler plugins
  // that are disabled at the point count for the total, and none may follow where that is negative.
  template <typename E, typename Point>
  Result<void> Weigh(std::vector<E>& list, Point* Plugin::* member,
                     const config::PluginSet& point) {
    std::map<std::string_view, int64_t> weights;
    int64_t total = 0;
    for (const config::PluginSet* set : {&point, &config_.plugins.multi_point}) {
      for (const config::PluginRef& ref : set->enabled) {
        const bool scores = std::ranges::any_of(profile_.instances_, [&](const auto& instance) {
          return instance->name == ref.name && (*instance).*member != nullptr;
        });
        if (!scores || weights.contains(ref.name)) continue;
        const int64_t weight = ref.weight == 0 ? 1 : ref.weight;
        if (total < 0 || weight > (std::numeric_limits<int64_t>::max() - total) / kMaxNodeScore) {
          return Fail("total score of Score plugins could overflow");
        }
        total += weight * kMaxNodeScore;
        weights.emplace(ref.name, weight);
      }
    }
    for (E& entry : list) {
      if (const auto found = weights.find(entry.name); found != weights.end()) {
        entry.weight = found->second;
      }
    }
    return {};
  }

  void TellPoints() const {
    const PluginLists& lists = profile_.lists_;
    for (const auto& instance : profile_.instances_) {
      if (instance->points_aware == nullptr) continue;
      CalledPoints called;
#define BERTH_TELL(Name, member, ...) called.member = Listed(lists.member, instance->name);
      BERTH_EXTENSION_POINTS(BERTH_TELL)
#undef BERTH_TELL
      instance->points_aware->SetCalledPoints(called);
    }
  }

  // Only plugins that can reject a pod take part in requeueing.
  void RegisterEvents() {
    for (const auto& instance : profile_.instances_) {
      const Plugin& plugin = *instance;
      if (plugin.inputs.declared) {
        profile_.signature_parts_ |= plugin.inputs.pod;
        profile_.tested_label_keys_.insert(profile_.tested_label_keys_.end(),
                                           plugin.inputs.label_keys.begin(),
                                           plugin.inputs.label_keys.end());
      }
      const bool rejects = plugin.pre_enqueue != nullptr || plugin.pre_filter != nullptr ||
                           plugin.filter != nullptr || plugin.reserve != nullptr ||
                           plugin.permit != nullptr;
      if (!rejects) continue;
      const EnqueueExtensions* extensions = plugin.enqueue_extensions;
      const auto events = extensions == nullptr
                              ? AllClusterEvents(profile_.handle_.features().generic_workload)
                              : extensions->EventsToRegister();
      for (const ClusterEventWithHint& event : events) {
        profile_.events_.push_back(
            {plugin.name, event, plugin.inputs.declared, extensions != nullptr});
      }
    }
  }

  const config::Profile& config_;
  const std::vector<PluginRegistration>& registry_;
  Profile& profile_;
  std::map<std::string, size_t> by_name_;
};

Profile::Profile(Handle& handle) : handle_(handle) {}
Profile::~Profile() = default;

Result<std::unique_ptr<Profile>> Profile::Make(const config::Profile& config,
                                               const std::vector<PluginRegistration>& registry,
                                               Handle& handle) {
  std::unique_ptr<Profile> profile(new Profile(handle));
  if (auto built = Builder(config, registry, *profile).Build(); !built) return Fail(built.error());
  return profile;
}

}  // namespace berth::framework
