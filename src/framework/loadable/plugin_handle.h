// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/api/plugin_object.h"
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
  berth_host_handle(berth::Handle& profile, std::string plugin,
                    std::vector<berth::api::PluginKindId> kinds)
      : handle(profile), plugin_name(std::move(plugin)), own_kinds(std::move(kinds)) {}

  // What the plugin calls `kind`; nullopt: it is none of the plugin's own.
  std::optional<berth::api::PluginKindId> OwnKind(int32_t kind) const {
    const int64_t index = int64_t{kind} - BERTH_KIND_OWN;
    if (index < 0 || index >= static_cast<int64_t>(own_kinds.size())) return std::nullopt;
    return own_kinds[static_cast<size_t>(index)];
  }

  berth::Handle& handle;
  const std::string plugin_name;
  const std::vector<berth::api::PluginKindId> own_kinds;

  berth::base::Mutex mutex;
  std::deque<berth_host_metric> metrics BERTH_GUARDED_BY(mutex);  // they stay where they are
};
