// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "berth/in_tree/claim_tracker.h"
#include "berth/status.h"
#include "berth/time.h"
#include "src/extender/extender.h"
#include "src/recording/known_objects.h"
#include "src/scheduler/messages.h"

// What a recording consists of, one frame after the other: each stands for one call of a
// scheduler::Tape, and tells what that was told or answered.
//
// On disk a frame is its size, its type and its fields (bytes.h); times are counted from the
// recording's start, rows of the cache stand as they are. docs/recording.md has the layout.
namespace berth::recording {

struct TurnBegan {
  Time now;
  Time wall_now;
};
struct CycleEnded {
  Time now;
};
// The end of an attempt.
struct Decision {
  std::string pod_uid;
  Code code = Code::kSuccess;
  std::string node_name;
  std::string message;

  friend bool operator==(const Decision&, const Decision&) = default;
};
// A BindOutcome without its CycleState, which the replay has kept.
struct BindEnded {
  std::string pod_uid;
  std::string node_name;
  AsyncStatus status;
  binding::BindingStage stage = binding::BindingStage::kPostBind;
  std::string failed_plugin;
  bool unknown = false;
};
// A plugin's function ran that can be brought about again.
struct QueryRan {
  scheduler::QueryOrigin origin;
};
struct PreBindCancelled {
  bool cancelled = false;
};
struct Reloaded {
  std::string configuration;  // YAML, without secrets
};
struct Activated {
  std::vector<std::string> pod_keys;
};
struct ClaimAssumed {
  ClaimPtr claim;
};
struct PendingClaimRemoved {
  std::string uid;
  ClaimTracker::Sharers sharers = ClaimTracker::Sharers::kOne;
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
// Nothing follows. A recording without it broke off.
struct Ended {
  std::string reason;
};

// In the order of their numbers on disk, which never change.
using Frame =
    std::variant<TurnBegan, CycleEnded, Decision, informers::InformerEvent, BindEnded,
                 scheduler::PreBindDone, scheduler::BindUnconfirmed, scheduler::StopRequested,
                 scheduler::BinderClosed, scheduler::LeadingBegan, QueryRan, PreBindCancelled,
                 Reloaded, Activated, ClaimAssumed, PendingClaimRemoved, ExtenderFiltered,
                 ExtenderPrioritized, ExtenderPreempted, Ended>;

// Appends frames to bytes.
//
// Thread safety: one owner.
class FrameWriter {
 public:
  // Times are counted from `start`.
  explicit FrameWriter(Time start) : start_(start) {}

  void Append(const TurnBegan& frame, std::string& out);
  void Append(const CycleEnded& frame, std::string& out);
  // A Decision.
  void AppendDecision(std::string_view pod_uid, Code code, std::string_view node_name,
                      std::string_view message, std::string& out);
  // `filter` may be nullptr. Takes note of the event in `known`.
  void Append(const informers::InformerEvent& event, KnownObjects& known, api::TextFilter* filter,
              std::string& out);
  void Append(const BindEnded& frame, std::string& out);
  void Append(const scheduler::PreBindDone& frame, std::string& out);
  void Append(const scheduler::BindUnconfirmed& frame, std::string& out);
  void Append(const scheduler::StopRequested& frame, std::string& out);
  void Append(const scheduler::BinderClosed& frame, std::string& out);
  void Append(const scheduler::LeadingBegan& frame, std::string& out);
  void Append(const QueryRan& frame, std::string& out);
  void Append(const PreBindCancelled& frame, std::string& out);
  void Append(const Reloaded& frame, std::string& out);
  void Append(const Activated& frame, std::string& out);
  void Append(const ClaimAssumed& frame, api::TextFilter* filter, std::string& out);
  void Append(const PendingClaimRemoved& frame, std::string& out);
  void Append(const ExtenderFiltered& frame, std::string& out);
  void Append(const ExtenderPrioritized& frame, std::string& out);
  void Append(const ExtenderPreempted& frame, std::string& out);
  void Append(const Ended& frame, std::string& out);

 private:
  template <typename T, typename Write>
  void Put(const Write& write, std::string& out);
  int64_t Since(Time time) const { return (time - start_).count(); }

  const Time start_;
  std::string body_;
};

// Takes the next frame off `bytes`; takes note of events in `known`. Errors: what no FrameWriter
// writes, also a type that is not known, an object that cannot be decoded, or one that is told of
// as known and is not.
Result<Frame> ReadFrame(std::string_view& bytes, Time start, KnownObjects& known);

}  // namespace berth::recording
