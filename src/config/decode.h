// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/config_value.h"
#include "berth/result.h"
#include "src/config/types.h"

namespace berth::config {

// Reads the fields of a KubeSchedulerConfiguration v1 whose apiVersion and kind were checked, and
// sets the defaults of scalar fields. Profiles hold what is written, nothing merged or defaulted;
// apiVersion and kind are taken out of args. `sorted`: the order in which problems are found is
// that of YAML (by name), not of JSON (as it stands). Errors, in kube-scheduler's words: the first
// field of a wrong type, or else all that are unknown.
Result<SchedulerConfiguration> DecodeFields(const ConfigValue& document, bool sorted);

}  // namespace berth::config
