// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "berth/status.h"
#include "berth/time.h"
#include "src/extender/extender.h"
#include "src/scheduler/messages.h"

// What a recording consists of, one frame after the other: each stands for one call of a
// scheduler::Tape, and holds what that took or answered.
//
// On disk a frame is its size, its type and its fields (bytes.h); times are counted from the
// recording's start, rows of the cache stand as they are. docs/recording.md has the layout.
namespace berth::recording {

struct TurnBegan {
  Time now;
  Duration wall_offset;  // of the wall clock
};
struct CycleEnded {
  Time now;
};
struct AttemptEnded {
  std::string pod_uid;
  Code code = Code::kSuccess;
  std::string node_name;
  std::string message;

  friend bool operator==(const AttemptEnded&, const AttemptEnded&) = default;
};
// A BindOutcome without its CycleState, which the replay has kept.
struct BindEnded {
  std::string pod_uid;
  std::string node_name;
  AsyncStatus status;
  binding::BindingStage stage = binding::BindingStage::kPostBind;
  bool unknown = false;
};
struct PreBindCancelled {
  bool cancelled = false;
};
struct Reloaded {
  std::string configuration;  // YAML, without secrets
};
// What an extender answered; `error` where it failed.
struct ExtenderFiltered {
  std::string error;
  extender::FilterResult result;
};
struct ExtenderPrioritized {
  std::string error;
  std::vector<extender::HostPriority> scores;
};
// A candidate that was left: the victims by UID, from those that it was asked about.
struct LeftCandidate {
  NodeRow row = kNoRow;
  std::vector<std::string> victim_uids;
  int64_t num_pdb_violations = 0;
};
struct ExtenderPreempted {
  std::string error;
  std::vector<LeftCandidate> candidates;
};
// Why a recording ended whose scheduler did, too.
inline constexpr std::string_view kStopped = "stopped";

// Nothing follows. A recording without it broke off.
struct Ended {
  std::string reason;
};

// In the order of their numbers on disk, which change with the header's format only.
using Frame =
    std::variant<TurnBegan, CycleEnded, AttemptEnded, informers::InformerEvent, BindEnded,
                 scheduler::PreBindDone, scheduler::BindUnconfirmed, scheduler::StopRequested,
                 scheduler::BinderClosed, scheduler::LeadingBegan, EvictionAnswered,
                 PreBindCancelled, Reloaded, PodsActivated, ClaimWritten, ClaimsSettled,
                 VolumeWritten, ExtenderFiltered, ExtenderPrioritized, ExtenderPreempted, Ended,
                 NodesMeasured>;

// Which parts of an InformerEvent follow on disk.
enum EventPart : uint64_t { kOldIsKnown = 1, kOld = 2, kNew = 4, kUndecodable = 8 };
// The same of a MeasuredResource: average and deviation, and the last value.
enum MeasuredPart : uint64_t { kKnown = 1, kLast = 2 };

}  // namespace berth::recording
