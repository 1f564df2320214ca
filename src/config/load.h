// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "berth/result.h"
#include "src/config/known_plugins.h"
#include "src/config/types.h"

// Reads KubeSchedulerConfiguration files: YAML or JSON, strictly and case-sensitively, as
// kube-scheduler 1.37 does. Reads no file itself.
namespace berth::config {

inline constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";
inline constexpr std::string_view kKind = "KubeSchedulerConfiguration";

// What runs without a configuration file: one profile, "default-scheduler".
SchedulerConfiguration DefaultConfiguration(const KnownPlugins& known);

// Decodes `text`, sets defaults (those of args too) and merges the default plugins into each
// profile, but does not validate: flags may come on top before Validate(). Of several documents the
// first that is not empty counts. Errors begin with `file_name`: a syntax error or a repeated key
// with its line; a wrong apiVersion or kind; the first mistyped field; all unknown fields with
// their paths.
Result<SchedulerConfiguration> Decode(std::string_view text, std::string_view file_name,
                                      const KnownPlugins& known);

// Decode() and Validate().
Result<SchedulerConfiguration> Load(std::string_view text, std::string_view file_name,
                                    const KnownPlugins& known);

}  // namespace berth::config
