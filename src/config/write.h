// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/config_value.h"
#include "src/config/types.h"

namespace berth::config {

// Which entries of a pluginConfig a document has: those with args of plugins that are enabled, by
// name, as kube-scheduler's --write-config-to has it; or all, as /configz does.
enum class ShownArgs { kOfEnabled, kAll };

// The configuration as a document that Load() reads back: plugins merged but not expanded.
ConfigValue ToDocument(const SchedulerConfiguration& config,
                       ShownArgs args = ShownArgs::kOfEnabled);

// The same as YAML, keys sorted.
std::string ToYaml(const SchedulerConfiguration& config);

// The configuration with a word in the place of each key: for logs, dumps and endpoints.
SchedulerConfiguration WithoutSecrets(SchedulerConfiguration config);

}  // namespace berth::config
