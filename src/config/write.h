// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/config_value.h"
#include "src/config/types.h"

namespace berth::config {

// The configuration as a document that Load() reads back, as kube-scheduler's --write-config-to
// and /configz have it: plugins merged but not expanded; args of enabled plugins only, by name.
ConfigValue ToDocument(const SchedulerConfiguration& config);

// The same as YAML, keys sorted.
std::string ToYaml(const SchedulerConfiguration& config);

// The configuration with a word in the place of each key: for logs, dumps and endpoints.
SchedulerConfiguration WithoutSecrets(SchedulerConfiguration config);

}  // namespace berth::config
