// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

// A plugin of the default profile.
struct DefaultPlugin {
  std::string_view name;
  int32_t weight = 0;  // of its score; 0: not set
};

// Every plugin that is built in, in no particular order.
std::vector<PluginRegistration> InTreeRegistry();

// What MultiPoint enables by default, in kube-scheduler's order.
std::vector<DefaultPlugin> DefaultMultiPoint();

}  // namespace berth::plugins
