// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/config_value.h"

namespace berth::inline in_tree {

// The feature gates that args depend on; the defaults are Kubernetes 1.37's.
struct ArgsFeatures {
  bool storage_capacity_scoring = true;
  bool dra_scheduler_filter_timeout = true;
  // DRADeviceBindingConditions and DRAResourceClaimDeviceStatus.
  bool dra_device_binding_conditions = true;
};

// What args are checked by.
struct ArgsCheck {
  ArgsFeatures features = {};
  FieldHint hint = nullptr;
};

// What a configuration knows of the args of a plugin where they are a kind of their own,
// <plugin>Args in kubescheduler.config.k8s.io/v1. Args are handed over as a value of that kind,
// without apiVersion and kind, or null.
struct PluginArgs {
  std::string_view plugin;
  // `args` with the defaults set, as the effective configuration shows them. May be nullptr.
  ConfigValue (*with_defaults)(const ConfigValue& args, const ArgsFeatures& features) = nullptr;
  // What is wrong with args whose defaults are set, each with its field below `path`. May be
  // nullptr: then only the plugin checks them.
  std::vector<std::string> (*problems)(const ConfigValue& args, const std::string& path,
                                       const ArgsCheck& by) = nullptr;
};

}  // namespace berth::inline in_tree
