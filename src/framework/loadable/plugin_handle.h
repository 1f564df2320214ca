// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>

#include "berth/in_tree/handle.h"
#include "berth/loadable/abi.h"
#include "src/base/mutex.h"

struct berth_host_metric {
  berth::PluginMetrics* metrics = nullptr;
  berth::PluginMetrics::Id id = 0;
};

// What one instance of a loaded plugin knows of its profile. Thread safety: as abi.h says of each
// function that takes it.
struct berth_host_handle {
  berth_host_handle(berth::Handle& profile, std::string plugin)
      : handle(profile), plugin_name(std::move(plugin)) {}

  berth::Handle& handle;
  const std::string plugin_name;

  berth::base::Mutex mutex;
  std::deque<berth_host_metric> metrics BERTH_GUARDED_BY(mutex);  // they stay where they are
};
