// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "src/config/schema.h"

namespace berth::config {

// KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1.
const Schema& ConfigurationSchema();
// The kind <plugin>Args, or nullptr where the plugin has none: its args are its own business.
const Schema* ArgsSchema(std::string_view plugin);

}  // namespace berth::config
