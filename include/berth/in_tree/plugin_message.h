// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "berth/in_tree/async.h"
#include "berth/in_tree/claim_tracker.h"
#include "berth/in_tree/node_metrics.h"

// What plugins, and those who work for them, tell the scheduling thread from elsewhere. Data only:
// a recording holds it, and a replay carries it out again.
namespace berth::inline in_tree {

// These pods, by "namespace/name", are tried again: Handle::Activate.
struct PodsActivated {
  std::vector<std::string> pod_keys;
};

// The API server has accepted a write of the claim, and this is its answer: ClaimTracker::Assume.
// Passed over where something newer has been shown, or nothing of it yet: who has made a claim
// waits until it is shown.
struct ClaimWritten {
  ClaimPtr claim;
};

// What is pending under these uids is written, for all that share it: ClaimTracker::RemovePending.
struct ClaimsSettled {
  std::vector<std::string> uids;
};

// The API server has accepted a write of what is assumed of the volume or claim:
// AssumedVolumes::Restore leaves that until another version is shown.
struct VolumeWritten {
  enum class Kind : uint8_t { kVolume, kClaim };

  Kind kind = Kind::kVolume;
  std::string key;               // ObjectMeta::Key()
  std::string resource_version;  // of what was assumed
};

// A victim is going, has gone without this (Skip), or will not go: PreemptionPlugin::TakeAnswer.
struct EvictionAnswered {
  std::string scheduler_name;  // of the profile whose plugin asked
  std::string victim_uid;
  // Which it is of the evictions of this victim that the plugin has under way.
  uint64_t number = 0;
  // It had its place only in memory, and was not deleted.
  bool in_memory = false;
  AsyncStatus answer{};
};

using PluginMessage = std::variant<PodsActivated, ClaimWritten, ClaimsSettled, VolumeWritten,
                                   EvictionAnswered, NodesMeasured>;

}  // namespace berth::inline in_tree
