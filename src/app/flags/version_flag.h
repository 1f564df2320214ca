// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "src/app/flags/flag_set.h"
#include "src/app/version.h"

namespace berth::app {

// What --version asks for: nothing, the version, or with "raw" more of it. --version=v1.37.1-x
// names what to report instead, where its numbers are those of ours.
struct VersionFlag {
  std::string value = "false";  // given last
  std::string reported = std::string(kKubernetesVersion);

  bool asked() const { return value == "true" || value == "raw"; }
  std::string Text() const;
};

void AddVersion(FlagSet& flags, VersionFlag& out);

}  // namespace berth::app
