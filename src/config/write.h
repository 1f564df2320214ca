// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/config_value.h"
#include "src/config/types.h"

namespace berth::config {

// The configuration as a YAML document that Load() reads back: keys sorted, plugins merged but not
// expanded, as kube-scheduler's --write-config-to does. Plugin args appear as written: their
// defaults are the plugins' own.
std::string ToYaml(const SchedulerConfiguration& config);
// The same document as a value.
ConfigValue ToDocument(const SchedulerConfiguration& config);

// Any value as block-style YAML, keys sorted, with a newline at the end.
std::string ToYaml(const ConfigValue& value);

}  // namespace berth::config
