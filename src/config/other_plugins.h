// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/plugin.h"
#include "src/config/types.h"

// Plugins that kube-scheduler 1.37 has not.
namespace berth::config {

// Of each profile, the plugins of older releases that it enables: what to write in their place,
// and which plugin, enabled as well, undoes what they do or does it twice. `configuration` has its
// defaults.
std::vector<std::string> OldPluginWarnings(const SchedulerConfiguration& configuration);

// Of each profile, the plugins that it disables or gives args where none has that name, which
// changes nothing, and one of `known` was probably meant.
std::vector<std::string> MisspeltPluginWarnings(const SchedulerConfiguration& configuration,
                                                const std::vector<PluginRegistration>& known);

// What a plugin is that is known by name and not there: "it is a plugin of ...", for messages. "":
// nothing is known of the name.
std::string WhatItIs(std::string_view plugin);

}  // namespace berth::config
