// SPDX-License-Identifier: Apache-2.0
#include "src/framework/profile.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "berth/field_errors.h"

namespace berth::framework {
namespace {

bool Names(const std::vector<config::PluginRef>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(),
                     [name](const config::PluginRef& ref) { return ref.name == name; });
}

}  // namespace

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
    if (auto weighted = Weigh(); !weighted) return weighted;
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
    RegisterEvents();
    return {};
  }

 private:
  bool InEveryProfile(const PluginRegistration& registration) const {
    if (!registration.in_every_profile) return false;
    for (const config::PluginSet* set :
         {&config_.plugins.multi_point, &config_.plugins.pre_filter}) {
      if (Names(set->disabled, "*") || Names(set->disabled, registration.name)) return false;
    }
    return true;
  }

  std::set<std::string> NeededPlugins() const {
    std::set<std::string> needed;
    const config::Plugins& p = config_.plugins;
    for (const config::PluginSet* set :
         {&p.pre_enqueue, &p.queue_sort, &p.pre_filter, &p.filter, &p.post_filter, &p.pre_score,
          &p.score, &p.reserve, &p.permit, &p.pre_bind, &p.bind, &p.post_bind, &p.multi_point,
          &p.placement_generate, &p.placement_score, &p.pod_group_post_filter}) {
      for (const config::PluginRef& ref : set->enabled) needed.insert(ref.name);
    }
    for (const PluginRegistration& registration : registry_) {
      if (InEveryProfile(registration)) needed.emplace(registration.name);
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
      if (!registration.factory) {
        not_yet_.insert(name);
        continue;
      }
      static const ConfigValue kNoArgs;
      const auto it = args.find(name);
      auto made = registration.factory(it == args.end() ? kNoArgs : *it->second, profile_.handle_);
      if (!made) return Fail(made.error().Within("initializing plugin " + Quoted(name)));
      if (profile_.instances_.size() == kMaxPlugins) {
        return Fail("profile " + Quoted(config_.scheduler_name) + " has more than " +
                    std::to_string(kMaxPlugins) + " plugins");
      }
      by_name_[name] = profile_.instances_.size();
      profile_.instances_.push_back(std::move(*made));
      if (registration.partial) partial_.insert(name);
      if (InEveryProfile(registration)) in_every_profile_.push_back(name);
    }
    return {};
  }

  template <typename E>
  using InterfaceOf = std::remove_pointer_t<decltype(E::plugin)>;

  template <typename E>
  void Append(std::vector<E>& list, const std::string& name) {
    const size_t index = by_name_.at(name);
    Plugin* plugin = profile_.instances_[index].get();
    E entry;
    entry.plugin = PluginCast<InterfaceOf<E>>(plugin);
    entry.name = plugin->Name();
    entry.index = index;
    if constexpr (std::is_same_v<E, FilterEntry>) {
      entry.column = PluginCast<ColumnFilterPlugin>(plugin);
    } else if constexpr (std::is_same_v<E, ScoreEntry>) {
      entry.column = PluginCast<ColumnScorePlugin>(plugin);
    }
    list.push_back(std::move(entry));
  }

  template <typename E>
  static bool Listed(const std::vector<E>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(),
                       [&](const E& entry) { return entry.name == name; });
  }

  template <typename E>
  bool Implements(const std::string& name) const {
    return PluginCast<InterfaceOf<E>>(profile_.instances_[by_name_.at(name)].get()) != nullptr;
  }

  tl::unexpected<Error> NotThere(std::string_view type, const std::string& name) const {
    std::string text = std::string(type) + " " + Quoted(name) + " does not exist";
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

  // One extension point: overrides in their own order, then MultiPoint, then what only this point
  // names.
  template <typename E>
  Result<void> Fill(std::vector<E>& list, const config::PluginSet& set, std::string_view type) {
    std::vector<std::string> explicit_names;
    for (const config::PluginRef& ref : set.enabled) {
      if (not_yet_.contains(ref.name)) continue;
      if (!by_name_.contains(ref.name)) {
        return NotThere(type, ref.name);
      }
      if (!Implements<E>(ref.name)) {
        if (partial_.contains(ref.name)) continue;
        return Fail("plugin " + Quoted(ref.name) + " does not extend " + std::string(type) +
                    " plugin");
      }
      if (std::find(explicit_names.begin(), explicit_names.end(), ref.name) !=
          explicit_names.end()) {
        return Fail("plugin " + Quoted(ref.name) + " already registered as " + Quoted(type));
      }
      explicit_names.push_back(ref.name);
    }
    std::vector<std::string> overrides;
    std::vector<std::string> multi_point;
    if (!Names(set.disabled, "*")) {
      for (const config::PluginRef& ref : config_.plugins.multi_point.enabled) {
        if (not_yet_.contains(ref.name)) continue;
        if (!by_name_.contains(ref.name)) {
          return NotThere(type, ref.name);
        }
        if (!Implements<E>(ref.name) || Names(set.disabled, ref.name)) continue;
        if (Names(set.enabled, ref.name)) {
          overrides.push_back(ref.name);
        } else if (std::find(multi_point.begin(), multi_point.end(), ref.name) !=
                   multi_point.end()) {
          return Fail("plugin " + Quoted(ref.name) + " already registered as " + Quoted(type));
        } else {
          multi_point.push_back(ref.name);
        }
      }
    }
    const auto overridden = [&](const std::string& name) {
      return std::find(overrides.begin(), overrides.end(), name) != overrides.end();
    };
    for (const std::string& name : explicit_names)
      if (overridden(name)) Append(list, name);
    for (const std::string& name : multi_point) Append(list, name);
    for (const std::string& name : explicit_names)
      if (!overridden(name)) Append(list, name);
    for (const std::string& name : in_every_profile_) {
      if (Implements<E>(name) && !Listed(list, name)) Append(list, name);
    }
    return {};
  }

  // For points that nothing is called at.
  Result<void> CheckNames(const config::PluginSet& set, std::string_view type) const {
    for (const config::PluginRef& ref : set.enabled) {
      if (by_name_.contains(ref.name) || not_yet_.contains(ref.name)) continue;
      return Fail(std::string(type) + " " + Quoted(ref.name) + " does not exist");
    }
    return {};
  }

  Result<void> FillLists() {
    const config::Plugins& p = config_.plugins;
    PluginLists& l = profile_.lists_;
    Result<void> result;
    // The order decides which of several errors is reported; it is kube-scheduler's.
    (void)((result = Fill(l.pre_filter, p.pre_filter, "PreFilterPlugin")) &&
           (result = Fill(l.filter, p.filter, "FilterPlugin")) &&
           (result = Fill(l.post_filter, p.post_filter, "PostFilterPlugin")) &&
           (result = Fill(l.reserve, p.reserve, "ReservePlugin")) &&
           (result = Fill(l.pre_score, p.pre_score, "PreScorePlugin")) &&
           (result = Fill(l.score, p.score, "ScorePlugin")) &&
           (result = Fill(l.pre_bind, p.pre_bind, "PreBindPlugin")) &&
           (result = Fill(l.bind, p.bind, "BindPlugin")) &&
           (result = Fill(l.post_bind, p.post_bind, "PostBindPlugin")) &&
           (result = Fill(l.permit, p.permit, "PermitPlugin")) &&
           (result = Fill(l.pre_enqueue, p.pre_enqueue, "PreEnqueuePlugin")) &&
           (result = Fill(l.queue_sort, p.queue_sort, "QueueSortPlugin")) &&
           (result = CheckNames(p.placement_generate, "PlacementGeneratePlugin")) &&
           (result = CheckNames(p.placement_score, "PlacementScorePlugin")) &&
           (result = CheckNames(p.pod_group_post_filter, "PodGroupPostFilterPlugin")));
    return result;
  }

  // A weight at the score point beats the MultiPoint one; 0 means 1.
  Result<void> Weigh() {
    int64_t total = 0;
    for (ScoreEntry& entry : profile_.lists_.score) {
      for (const config::PluginSet* set : {&config_.plugins.score, &config_.plugins.multi_point}) {
        const auto it =
            std::find_if(set->enabled.begin(), set->enabled.end(),
                         [&](const config::PluginRef& ref) { return ref.name == entry.name; });
        if (it == set->enabled.end()) continue;
        entry.weight = it->weight == 0 ? 1 : it->weight;
        break;
      }
      if (entry.weight > (std::numeric_limits<int64_t>::max() - total) / kMaxNodeScore) {
        return Fail("score plugins: total score of Score plugins could overflow");
      }
      total += entry.weight * kMaxNodeScore;
    }
    return {};
  }

  // Only plugins that can reject a pod take part in requeueing.
  void RegisterEvents() {
    for (const auto& instance : profile_.instances_) {
      Plugin* plugin = instance.get();
      const Inputs inputs = plugin->DeclaredInputs();
      if (inputs.declared) profile_.signature_parts_ |= inputs.pod;
      const bool rejects = PluginCast<PreEnqueuePlugin>(plugin) != nullptr ||
                           PluginCast<PreFilterPlugin>(plugin) != nullptr ||
                           PluginCast<FilterPlugin>(plugin) != nullptr ||
                           PluginCast<ReservePlugin>(plugin) != nullptr ||
                           PluginCast<PermitPlugin>(plugin) != nullptr;
      if (!rejects) continue;
      const auto* extensions = PluginCast<EnqueueExtensions>(plugin);
      const auto events =
          extensions == nullptr ? AllClusterEvents() : extensions->EventsToRegister();
      for (const ClusterEventWithHint& event : events) {
        profile_.events_.push_back(
            {std::string(plugin->Name()), event, inputs.declared, extensions != nullptr});
      }
    }
  }

  const config::Profile& config_;
  const std::vector<PluginRegistration>& registry_;
  Profile& profile_;
  std::map<std::string, size_t> by_name_;
  std::set<std::string> not_yet_;  // named, and without a factory
  std::set<std::string> partial_;
  std::vector<std::string> in_every_profile_;
};

Result<std::unique_ptr<Profile>> Profile::Make(const config::Profile& config,
                                               const std::vector<PluginRegistration>& registry,
                                               Handle& handle) {
  std::unique_ptr<Profile> profile(new Profile(handle));
  if (auto built = Builder(config, registry, *profile).Build(); !built) {
    return Fail(built.error());
  }
  return profile;
}

}  // namespace berth::framework
