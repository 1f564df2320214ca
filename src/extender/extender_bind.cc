// SPDX-License-Identifier: Apache-2.0
#include "src/extender/extender_bind.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "src/api/decode.h"
#include "src/base/backoff.h"
#include "src/base/logging.h"
#include "src/base/mutex.h"
#include "src/binding/bind_operation.h"
#include "src/binding/paths.h"

namespace berth::extender {

using Doubt = BindResult::Doubt;

// What attempts hold on to; gone with the ExtenderBind.
struct ExtenderBind::Core {
  Core(ExtenderList the_extenders, client::ApiClient& the_api, const Clock& the_clock,
       uint64_t seed, Settling the_settling)
      : extenders(std::move(the_extenders)),
        api(&the_api),
        clock(the_clock),
        settling(std::move(the_settling)),
        random(seed) {}

  // Runs `task` on the executor's thread, unless this has been closed. Any thread.
  void Post(std::function<void()> task) {
    base::MutexLock lock(mutex);
    if (!closed) api->executor().Post(std::move(task));
  }
  void Close() {
    base::MutexLock lock(mutex);
    closed = true;
  }

  const ExtenderList extenders;
  client::ApiClient* const api;
  const Clock& clock;
  const Settling settling;
  Random random;

  base::Mutex mutex;
  bool closed BERTH_GUARDED_BY(mutex) = false;
};

// One pod on its way. Executor's thread, but for what Post() brings there.
class ExtenderBind::Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(std::weak_ptr<Core> core, std::shared_ptr<const api::Pod> pod, std::string node_name,
          Cancellation& cancellation, AsyncDone done)
      : core_(std::move(core)),
        pod_(std::move(pod)),
        node_name_(std::move(node_name)),
        cancellation_(cancellation),
        done_(std::move(done)),
        backoff_(base::Backoff::Shape{}) {}

  void Start() {
    cancellation_.OnCancel([weak = weak_from_this(), core = core_] {
      if (const auto alive = core.lock()) {
        alive->Post([weak] {
          if (const auto self = weak.lock()) self->Finish({Code::kError, "the bind was given up"});
        });
      }
    });
    AskNext();
  }

 private:
  void AskNext() {
    const auto core = core_.lock();
    if (core == nullptr || done_ == nullptr) return;
    extender_ = nullptr;
    while (extender_ == nullptr && next_ < core->extenders.size()) {
      const auto& candidate = core->extenders[next_++];
      if (candidate->IsBinder() && candidate->IsInterested(*pod_)) extender_ = candidate.get();
    }
    if (extender_ == nullptr) {
      Finish({Code::kSkip});
      return;
    }
    if (!core->api->MayWrite()) {
      Finish({Code::kError, "not asked to bind: this process does not hold the lease"});
      return;
    }
    timer_ = core->api->executor().PostAfter(extender_->Timeout(), [self = shared_from_this()] {
      self->timer_.reset();
      if (self->call_ != nullptr) self->call_->Cancel();
    });
    // The extender answers on a thread of its own. Until then the timer keeps the attempt.
    call_ = extender_->Bind(*pod_, node_name_,
                            [weak = weak_from_this(), core = core_](const BindResult& result) {
                              const auto self = weak.lock();
                              const auto alive = core.lock();
                              if (self == nullptr || alive == nullptr) return;
                              alive->Post([self, result] { self->OnAnswer(result); });
                            });
  }

  void OnAnswer(const BindResult& result) {
    StopTimer();
    call_.reset();
    if (done_ == nullptr) return;
    if (result.error.empty()) {
      Finish({});
      return;
    }
    error_ = result.error;
    if (result.doubt == Doubt::kNone) {
      OnFailed();
      return;
    }
    const auto core = core_.lock();
    if (core == nullptr) return;
    doubt_ = result.doubt;
    ended_ = core->clock.Now();
    if (core->settling && !std::exchange(settling_told_, true)) {
      core->settling(pod_->metadata.uid);
    }
    ReadBack();
  }

  void ReadBack() {
    const auto core = core_.lock();
    if (core == nullptr || done_ == nullptr) return;
    client::Request request;
    request.verb = client::Verb::kGet;
    request.priority = client::Priority::kBind;
    request.path = binding::PodPath(pod_->metadata.namespace_, pod_->metadata.name);
    read_ = core->api->Send(std::move(request),
                            [self = shared_from_this()](const client::ResponseResult& result) {
                              if (self->done_ != nullptr) self->OnRead(result);
                            });
  }

  void OnRead(const client::ResponseResult& result) {
    const auto core = core_.lock();
    if (core == nullptr) return;
    const bool in_time = core->clock.Now() - ended_ < binding::BindOperation::kServerTimeout;
    if (!result.has_value() && result.error().code == 404) {
      OnFailed();
      return;
    }
    const auto pod =
        result.has_value() ? api::DecodeJson<api::Pod>(result->body) : Result<api::Pod>(Fail(""));
    if (!pod) {
      // A request that was lost may have been heeded, whatever the time.
      if (doubt_ == Doubt::kAnswered && !in_time) {
        OnFailed();
      } else {
        ReadBackLater(*core);
      }
      return;
    }
    const bool ours = pod->metadata.uid == pod_->metadata.uid;
    if (ours && pod->spec.node_name == node_name_) {
      Finish({});
    } else if (ours && pod->spec.node_name.empty() && doubt_ == Doubt::kNoAnswer && in_time) {
      ReadBackLater(*core);
    } else {
      OnFailed();
    }
  }

  void ReadBackLater(Core& core) {
    timer_ =
        core.api->executor().PostAfter(backoff_.Next(core.random), [self = shared_from_this()] {
          self->timer_.reset();
          self->ReadBack();
        });
  }

  // The extender that was asked did not bind the pod.
  void OnFailed() {
    if (!extender_->IsIgnorable()) {
      Finish({Code::kError, error_});
      return;
    }
    base::LogInfo("Skipping an extender that failed", {{"extender", extender_->Name()},
                                                       {"verb", "bind"},
                                                       {"pod", pod_->metadata.Key()},
                                                       {"err", error_}});
    AskNext();
  }

  void StopTimer() {
    const auto core = core_.lock();
    if (timer_ && core != nullptr) core->api->executor().Cancel(*timer_);
    timer_.reset();
  }

  void Finish(AsyncStatus status) {
    const AsyncDone done = std::exchange(done_, nullptr);
    if (done == nullptr) return;
    StopTimer();
    if (call_ != nullptr) std::exchange(call_, nullptr)->Cancel();
    if (read_ != nullptr) std::exchange(read_, nullptr)->Cancel();
    done(std::move(status));
  }

  const std::weak_ptr<Core> core_;
  const std::shared_ptr<const api::Pod> pod_;
  const std::string node_name_;
  Cancellation& cancellation_;
  AsyncDone done_;  // none once it has been called

  size_t next_ = 0;
  Extender* extender_ = nullptr;  // the one that was asked last; lives as long as the core
  std::string error_;             // what it said
  Doubt doubt_ = Doubt::kNone;    // about what it did
  Time ended_;                    // when the call to it ended
  bool settling_told_ = false;
  std::shared_ptr<client::Call> call_;
  std::shared_ptr<client::Call> read_;
  base::Backoff backoff_;
  std::optional<base::Executor::TimerId> timer_;
};

ExtenderBind::ExtenderBind(ExtenderList extenders, client::ApiClient& api, const Clock& clock,
                           uint64_t seed, Settling settling)
    : core_(std::make_shared<Core>(std::move(extenders), api, clock, seed, std::move(settling))) {}

ExtenderBind::~ExtenderBind() { core_->Close(); }

bool ExtenderBind::IsInterested(const api::Pod& pod) const {
  const auto& extenders = core_->extenders;
  return std::any_of(extenders.begin(), extenders.end(), [&pod](const auto& extender) {
    return extender->IsBinder() && extender->IsInterested(pod);
  });
}

void ExtenderBind::Bind(CycleState& state, const PodInfo& pod, std::string_view node_name,
                        Cancellation& cancellation, AsyncDone done) {
  (void)state;
  std::make_shared<Attempt>(core_, pod.pod, std::string(node_name), cancellation, std::move(done))
      ->Start();
}

}  // namespace berth::extender
