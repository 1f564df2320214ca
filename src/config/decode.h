// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/config_value.h"
#include "berth/result.h"
#include "src/config/schema.h"
#include "src/config/types.h"

namespace berth::config {

// Reads the fields of a KubeSchedulerConfiguration v1 whose apiVersion and kind were checked, and
// sets the defaults of scalar fields. Profiles hold what is written, nothing merged or defaulted;
// apiVersion and kind are taken out of args. Errors, in kube-scheduler's words and found in
// `order`: the first field of a wrong type, or else all that are unknown.
Result<SchedulerConfiguration> DecodeFields(const ConfigValue& document, MemberOrder order);

}  // namespace berth::config
