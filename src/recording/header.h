// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/plugin_object.h"
#include "berth/in_tree/features.h"
#include "berth/result.h"
#include "berth/time.h"

namespace berth::recording {

// What a recording is of: all that a scheduler is made from, but for its plugins. Stands at the
// beginning of each file.
struct Header {
  std::string berth_version;
  std::string id;     // the same in all files of a recording
  uint32_t part = 0;  // of which file this is, from 0
  Time start;         // what times are counted from
  uint64_t seed = 0;
  bool leading = true;
  bool asks_extenders = true;  // those that the configuration names
  Duration pod_max_in_unschedulable_pods_duration{};
  uint64_t max_kept_bytes = 0;
  Features features;  // without plugin_kinds
  // Those of berth::PluginKinds(), in their order.
  std::vector<api::PluginKind> plugin_kinds;
  std::string configuration;  // YAML, without secrets
};

std::string ToJson(const Header& header);
// Errors: no JSON of a header, or one of another format, with the version that wrote it.
Result<Header> ReadHeader(std::string_view json);

}  // namespace berth::recording
