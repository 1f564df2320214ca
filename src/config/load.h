// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/config_value.h"
#include "berth/in_tree/plugin_args.h"
#include "berth/result.h"
#include "src/config/types.h"

// Reads KubeSchedulerConfiguration files: YAML or JSON, strictly and case-sensitively, as
// kube-scheduler 1.37 does. Reads no file itself.

namespace berth::config {

// What a configuration is read against. Immutable once made.
struct KnownPlugins {
  // The plugins of a default profile, in order, with their weights.
  std::vector<PluginRef> defaults;
  // Of the plugins whose args are a kind of their own, by name: how to default and check them.
  std::map<std::string, PluginArgs, std::less<>> args = {};
  ArgsFeatures features = {};
  // What errors say behind an unknown field; nullptr: nothing.
  FieldHint hint = nullptr;
};

// Lays what a profile says about one extension point over the defaults, as kube-scheduler's
// mergePluginSet does:
//  - disabled: the custom names, then the default ones; a disabled "*" drops all defaults.
//  - enabled: the defaults that are not disabled, in their order; one that `custom` enables too is
//    replaced in its place, weight included (an omitted weight is then 0, not the default's).
//  - then the other custom plugins in their order. A repeated one stays, and fails later.
// So a plugin both enabled and disabled in `custom` ends up enabled, at the end.
PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& custom);

// Merges each extension point.
Plugins MergePlugins(const Plugins& defaults, const Plugins& custom);

inline constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";
inline constexpr std::string_view kKind = "KubeSchedulerConfiguration";

// What runs without a configuration file: one profile, "default-scheduler".
SchedulerConfiguration DefaultConfiguration(const KnownPlugins& known);

// Decodes `text`, sets defaults (those of args too) and merges the default plugins into each
// profile, but does not validate: flags may come on top before Validate(). Of several documents the
// first that is not empty counts. Errors begin with `file_name`: a syntax error or a repeated key
// with its line; a wrong apiVersion or kind; the first mistyped field; all unknown fields with
// their paths and `known.hint`.
Result<SchedulerConfiguration> Decode(std::string_view text, std::string_view file_name,
                                      const KnownPlugins& known);

// Checks a configuration whose defaults are set, in kube-scheduler's order and words. Args are
// checked by what `known` has for them; what it has nothing for is left to the plugins. Validate()
// makes one error of all problems: one as it is, several as "[a, b]"; nullopt when there is none.
std::vector<std::string> FindProblems(const SchedulerConfiguration& config,
                                      const KnownPlugins& known = {});
std::optional<Error> Validate(const SchedulerConfiguration& config, const KnownPlugins& known = {});

// Decode() and Validate().
Result<SchedulerConfiguration> Load(std::string_view text, std::string_view file_name,
                                    const KnownPlugins& known);

// Has NodeResourcesFit pass over the resources that extenders keep the books of
// (managedResources[].ignoredByScheduler): if there are any they become its ignoredResources in
// every profile, in place of those configured, as kube-scheduler has it. Errors: a profile without
// that plugin and its args.
Result<void> LeaveManagedResources(SchedulerConfiguration& configuration);

// How a new configuration differs from the one that runs.
struct ReloadDifference {
  // Paths of the fields that only a restart can change, those of a map in the order of their names:
  // everything but a profile's plugins and pluginConfig; of these, what queueSort names. A profile
  // that is new is one, too.
  std::vector<std::string> fixed;
  // schedulerNames of the profiles that are gone.
  std::vector<std::string> removed_profiles;
  // Whether a profile that stays has other plugins, weights or args.
  bool profiles_changed = false;

  bool none() const { return fixed.empty() && removed_profiles.empty() && !profiles_changed; }
};

// Compares every field that a configuration has, as it would be written to a file. Both must be
// valid. Profiles are matched by their schedulerName; paths count them in `next`.
ReloadDifference CompareForReload(const SchedulerConfiguration& running,
                                  const SchedulerConfiguration& next);

}  // namespace berth::config
