// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/scheduling.h"
#include "berth/in_tree/pod_group_points.h"
#include "src/cache/nominator.h"
#include "src/queue/queued_pod.h"
#include "src/scheduler/attempt.h"

namespace berth::scheduler {

// What kube-scheduler calls errPodGroupUnschedulable.
inline constexpr std::string_view kPodGroupUnschedulable = "pod group is unschedulable";

// What came of one pod of a group.
struct MemberResult {
  enum class Result { kUntried, kPlaced, kRejected, kError };

  Result result = Result::kUntried;
  std::string node_name = {};  // kPlaced
  Failure failure = {};        // kRejected, kError
  Duration took = {};          // the trial
};

// One pod in the cycle of its group.
struct MemberAttempt : MemberResult {
  Attempt attempt;
  std::optional<framework::PermitVerdict> permit;  // once Permit has let it pass

  // Forgets what came of it, to be tried again.
  void StartOver() {
    attempt.cycle = attempt.cycle.Fresh();
    static_cast<MemberResult&>(*this) = {};
  }
};

// What came of a group: Success, Unschedulable or Error.
struct GroupVerdict {
  Code code = Code::kSuccess;
  std::vector<std::string> reasons;

  bool ok() const { return code == Code::kSuccess; }
  // The reasons joined by ", ".
  std::string message() const {
    std::string text;
    for (const std::string& reason : reasons) {
      if (&reason != &reasons.front()) text += ", ";
      text += reason;
    }
    return text;
  }
};

// One attempt at the pods of a pod group: they are tried together.
struct PodGroupAttempt {
  // A member that was tried, and what it was nominated for before it was assumed.
  struct Tried {
    size_t member = 0;
    std::optional<cache::Nominator::Place> nomination;
  };

  std::shared_ptr<const api::PodGroup> object;  // as it is now
  const framework::Profile* profile = nullptr;  // of all members
  std::vector<MemberAttempt> members;           // in the order in which they are tried
  std::vector<Tried> tried;                     // in order; what is still to be taken back
  std::string untried_message;  // once it failed: the message of pods that were not tried
  bool preview = false;         // nothing of it is measured

  // What plugins see of it; good as long as the members stay.
  PodGroupInfo Info() const {
    PodGroupInfo info{.object = {.pod_group = object}, .unscheduled_pods = {}};
    for (const MemberAttempt& member : members) {
      info.unscheduled_pods.push_back(member.attempt.info().get());
      info.states.push_back(&member.attempt.cycle.state);
    }
    return info;
  }
};

}  // namespace berth::scheduler
