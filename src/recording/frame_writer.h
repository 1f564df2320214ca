// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/recording/frames.h"
#include "src/recording/known_objects.h"

namespace berth::recording {

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
  void Append(const EvictionAnswered& frame, std::string& out);
  void Append(const PreBindCancelled& frame, std::string& out);
  void Append(const Reloaded& frame, std::string& out);
  void Append(const PodsActivated& frame, std::string& out);
  void Append(const ClaimWritten& frame, api::TextFilter* filter, std::string& out);
  void Append(const ClaimsSettled& frame, std::string& out);
  void Append(const VolumeWritten& frame, std::string& out);
  void Append(const ExtenderFiltered& frame, std::string& out);
  void Append(const ExtenderPrioritized& frame, std::string& out);
  void Append(const ExtenderPreempted& frame, std::string& out);
  void Append(const NodesMeasured& frame, std::string& out);
  void Append(const Ended& frame, std::string& out);

 private:
  template <typename T, typename Write>
  void Put(const Write& write, std::string& out);
  int64_t Since(Time time) const { return (time - start_).count(); }

  const Time start_;
  std::string body_;
};

}  // namespace berth::recording
