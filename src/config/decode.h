// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/config_value.h"
#include "berth/result.h"
#include "src/config/types.h"

namespace berth::config {

// Reads the fields of a KubeSchedulerConfiguration v1 whose apiVersion and kind were checked, and
// sets the defaults of scalar fields. Profiles hold what is written, nothing merged; of plugin args
// only apiVersion and kind are looked at, and taken out. Errors: all problems in one message.
Result<SchedulerConfiguration> DecodeFields(const ConfigValue& document);

}  // namespace berth::config
