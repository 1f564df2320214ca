// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/app/flags/flag_set.h"
#include "src/questions/replicas.h"

namespace berth::app {

// What `berth simulate` is asked beyond where the pending pods go. Carried out in this order.
struct WhatIfFlags {
  std::string new_config;
  std::vector<std::string> add;  // files
  uint64_t add_nodes = 0;
  std::string like;
  std::vector<std::string> remove_nodes;
  std::vector<questions::Scale> scale;
  std::vector<std::string> cordon;
  std::vector<std::string> drain;
  bool reschedule = false;
  std::string fill;  // a file
  // Of what these name without one.
  std::string default_namespace = "default";

  bool any() const;
};

// Both must outlive the set of flags.
void AddWhatIf(FlagSet& flags, WhatIfFlags& out);

// Errors: one of --add-nodes and --like without the other.
Result<void> CheckWhatIf(const WhatIfFlags& flags);

}  // namespace berth::app
