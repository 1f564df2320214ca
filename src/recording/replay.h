// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/plugin.h"
#include "src/config/types.h"
#include "src/recording/frames.h"
#include "src/recording/reader.h"

namespace berth::recording {

// How a decision of the replay compares with the recorded one.
enum class DifferenceKind {
  kNode,     // another node
  kVerdict,  // a node for one, none for the other; or rejected for one, an error for the other
  kMessage,  // no node for either, but for other reasons
  kOrder,    // the same, but when another pod was decided
  kMissing,  // only the recording decided
  kExtra,    // only the replay did
};
std::string_view NameOf(DifferenceKind kind);

struct Difference {
  DifferenceKind kind = DifferenceKind::kNode;
  uint64_t number = 0;  // of the decision, counted in the recording from 1; of kExtra: before which
  Time at;
  std::string pod;  // "namespace/name"
  std::optional<AttemptEnded> recorded;
  std::optional<AttemptEnded> replayed;
  // What the replay makes of the recorded node, or of the pod; "" where that was not asked.
  std::string why;
};

struct ReplayReport {
  uint64_t messages = 0;
  uint64_t cycles = 0;
  uint64_t decisions = 0;  // of the recording
  uint64_t equal = 0;      // of these, bit for bit
  uint64_t num_differences = 0;
  uint64_t num_shown = 0;               // of these, those of pods that are shown
  std::vector<Difference> differences;  // the first ones that are shown
  // Where the recording does not end in an orderly way, and whether it merely breaks off.
  std::optional<std::string> problem;
  bool torn = false;
  Time ended;  // the time of the last step

  bool identical() const { return num_differences == 0; }
};

// Whether differences of the pod, "namespace/name", are reported one by one; empty: of all pods.
using ShowsPod = std::function<bool(std::string_view pod)>;

struct ReplayOptions {
  // What to decide with: the recording's own, or another.
  config::SchedulerConfiguration configuration;
  // Likewise; nullopt: the recording's own.
  std::optional<Features> features;
  // Reads a configuration that was reloaded; empty: reloads are passed over.
  std::function<Result<config::SchedulerConfiguration>(std::string_view yaml)> load;
  // How many differences to tell of one by one.
  size_t most_differences = 20;
  ShowsPod shows;
  // Before the decisions of these numbers, the pod is judged, so that a difference can be
  // explained; ascending.
  std::vector<uint64_t> explain;
};

// Posts to a new scheduler what the recorded one took, at the times at which it did, and compares
// what it decides. Where it decides otherwise, the replay goes on with what the recording says
// happened next: a pod that the recording left without a node gets none here, and one that it bound
// is seen on its node by the event that says so.
//
// Errors: the profiles cannot be built.
Result<ReplayReport> Replay(RecordingReader& reader,
                            const std::vector<PluginRegistration>& registry,
                            const ReplayOptions& options);

}  // namespace berth::recording
