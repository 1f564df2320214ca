// SPDX-License-Identifier: Apache-2.0
#include "src/base/text.h"
#include "src/plan/plan_run.h"

// Moves whose eviction is asked for by an EvictionRequest, which others carry out.
namespace berth::plan {
namespace {

// Within this time a controller looks at an EvictionRequest, where there is one in the cluster.
constexpr Duration kMostUnseen = std::chrono::seconds(30);

}  // namespace

// Awaits what an EvictionRequest of an earlier run brings. Without one, what was begun never came.
bool PlanRun::GoOnByRequest(size_t move, const api::Pod& pod) {
  if (options_.dry_run || options_.evict_by != EvictBy::kRequest) return true;
  const auto request = edge_.FindRequest(pod);
  if (!request) return Stop(move, request.error().message);
  return request->kind == RequestState::Kind::kNone || RelocateByRequest(move);
}

// Where the pod goes after all, its successor is awaited by a run that is repeated.
bool PlanRun::StopRequest(size_t move, const PodPtr& pod, const std::string& why) {
  const Answer answer = edge_.Withdraw(*pod);
  if (answer.kind == Answer::Kind::kDone || answer.kind == Answer::Kind::kGone) {
    return Stop(move, why + "; it is withdrawn");
  }
  return Stop(move, base::Concat(why, "; it is not withdrawn: ", answer.message));
}

// Looks at the request, and makes it where it is not there yet.
bool PlanRun::LookAtRequest(size_t move, const PodPtr& pod, const std::vector<PodPtr>& pods,
                            RequestState& request) {
  using Kind = RequestState::Kind;
  const auto found = edge_.FindRequest(*pod);
  if (!found) return Stop(move, found.error().message);
  if (found->kind == Kind::kUnknown) return true;
  const bool is_first = request.kind == Kind::kNone;
  if (!is_first && found->kind == Kind::kNone) {
    // It goes with the pod, whose end the watch may show a moment later.
    if (request.kind == Kind::kUnknown) return Stop(move, "its EvictionRequest was deleted");
    request.kind = Kind::kUnknown;
    return true;
  }
  request = *found;
  if (is_first) {
    // That of an earlier run may have brought a successor already, which is not to be noted as one
    // of those before.
    const bool is_new = request.kind == Kind::kNone;
    if ((is_new || Begun(move) == nullptr) && !NoteBegun(move, pod, pods)) return false;
    leaving_[move].pod = pod;
    Hold(move);
  }
  if (request.kind == Kind::kFailed) return StopRequest(move, pod, request.why);
  if (request.kind != Kind::kNone) return true;
  const Answer answer = edge_.Request(*pod);
  if (answer.kind == Answer::Kind::kDone) {
    request.kind = Kind::kUnseen;
    edge_.Say(leaving_[move].key + ": is requested to go");
  } else if (answer.kind == Answer::Kind::kLater) {
    edge_.Say(base::Concat(leaving_[move].key, ": waits: ", answer.message));
  } else {
    return Stop(move, "the EvictionRequest is refused: " + answer.message);
  }
  return true;
}

bool PlanRun::RelocateByRequest(size_t move) {
  using Kind = RequestState::Kind;
  const Time begun = edge_.Now();
  Time next_look = begun;
  RequestState request;
  for (;;) {
    const std::vector<PodPtr> pods = PodsBeside(move);
    const PodPtr pod = FindByUid(pods, leaving_[move].uid);
    if (pod == nullptr || pod->metadata.deletion_timestamp) {
      if (request.kind != Kind::kNone) {
        edge_.Say(base::Concat(leaving_[move].key, ": is evicted from ", plan_.moves[move].from));
      }
      return TakeAsGone(move);
    }
    if (edge_.Now() >= next_look) {
      next_look = edge_.Now() + kFirstPause;
      if (request.kind != Kind::kNone && !IsWanted(move)) {
        (void)edge_.Withdraw(*pod);
        Settle(move, State::kSkipped, "", "no pod waits for its room any more");
        checked_ = false;
        return true;
      }
      if (!LookAtRequest(move, pod, pods, request)) return false;
    }
    if (request.kind != Kind::kNone) {
      Hold(move);  // its scheduler may have taken a nomination away
      HoldFor(move, SuccessorOf(move, pods));
    }
    const Duration waited = edge_.Now() - begun;
    if (request.kind == Kind::kUnseen && waited >= kMostUnseen) {
      return StopRequest(move, pod,
                         base::Concat("no controller has looked at its EvictionRequest within ",
                                      FormatGoDuration(kMostUnseen)));
    }
    if (waited >= options_.patience) {
      return StopRequest(move, pod,
                         base::Concat("after ", FormatGoDuration(options_.patience),
                                      " its EvictionRequest has not made it go"));
    }
    edge_.AwaitNews(kLook);
  }
}

}  // namespace berth::plan
