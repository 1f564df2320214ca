// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "src/base/string_map.h"
#include "src/recording/replay.h"

namespace berth::recording {

// Sets the decisions of a replay against the recorded ones. Where both decide about the same pods
// in another order, the decisions about one pod are paired.
//
// Thread safety: one owner.
class Comparison {
 public:
  // Differences of pods of which `shows` says no are counted, and not reported one by one.
  explicit Comparison(size_t most_differences, ShowsPod shows = nullptr)
      : most_differences_(most_differences), shows_(std::move(shows)) {}

  void SetTime(Time now) { now_ = now; }
  // Decisions of the recording so far.
  uint64_t decisions() const { return decisions_; }

  // What both decided next; pods by "namespace/name".
  void Add(const AttemptEnded& recorded, const std::string& recorded_pod, AttemptEnded replayed,
           const std::string& replayed_pod, std::string why);
  // What only one of them did.
  void AddMissing(AttemptEnded recorded, const std::string& pod);
  void AddExtra(AttemptEnded replayed, const std::string& pod);
  // Into the report. What was not paired counts as a difference.
  void Finish(ReplayReport& report);

 private:
  struct Unpaired {
    uint64_t number = 0;
    Time at;
    std::string pod;
    AttemptEnded decision;
  };
  using ByPod = base::StringMap<std::deque<Unpaired>>;  // by UID

  void Compare(const AttemptEnded& recorded, AttemptEnded replayed, uint64_t number,
               const std::string& pod, bool in_order, std::string why);
  void Note(Difference difference);
  // Takes the earliest one about the pod; nullopt: there is none.
  static std::optional<Unpaired> TakeFrom(ByPod& by_pod, const std::string& uid);

  const size_t most_differences_;
  const ShowsPod shows_;
  Time now_;
  uint64_t decisions_ = 0;
  uint64_t equal_ = 0;
  uint64_t num_differences_ = 0;
  uint64_t num_shown_ = 0;
  std::vector<Difference> differences_;
  ByPod recorded_;
  ByPod replayed_;
};

}  // namespace berth::recording
