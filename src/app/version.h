// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/config_value.h"

namespace berth::app {

// Berth's own version, "v0.1.0": that of project() in CMakeLists.txt.
extern const std::string_view kVersion;
// The kube-scheduler whose contract is kept.
inline constexpr std::string_view kKubernetesVersion = "v1.37.1";
inline constexpr int kKubernetesMinor = 37;

// Both versions, as /version and `berth version -o json` show them.
ConfigValue VersionDocument();

// `berth version`: prints both versions. `arguments` follow the command; `program` is its name for
// messages. Returns the exit code: kDone or kBadInput.
int ShowVersion(const std::vector<std::string>& arguments, const std::string& program);

}  // namespace berth::app
