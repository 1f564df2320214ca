// SPDX-License-Identifier: Apache-2.0
#include "src/extender/extender_bind.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/base/logging.h"

namespace berth::extender {

using binding::BindContext;
using binding::RequestEnd;

// A bind by one extender.
class ExtenderBind::Attempt final : public binding::BindAttempt {
 public:
  // `extender` must stay until its end.
  Attempt(std::shared_ptr<BindContext> context, std::shared_ptr<const api::Pod> pod,
          std::string node_name, Extender& extender)
      : BindAttempt(std::move(context), std::move(pod), std::move(node_name)),
        extender_(extender) {}

 private:
  std::shared_ptr<client::Call> Send() override {
    // The extender answers on a thread of its own. Until then the timer keeps the attempt.
    const std::weak_ptr<BindAttempt> weak = weak_from_this();
    auto call = extender_.Bind(*pod(), node_name(),
                               [this, weak, link = context()->link](const RequestEnd& end) {
                                 if (const auto self = weak.lock())
                                   link->Post([this, self, end] { OnAnswer(end); });
                               });
    timer_ = context()->api.executor().PostAfter(
        extender_.Timeout(), [call, self = shared_from_this()] { call->Cancel(); });
    late_timer_ = context()->api.executor().PostAfter(client::kLateAfter, [this, weak] {
      if (const auto self = weak.lock()) OnLate();
    });
    return call;
  }
  bool MayRepeat() const override { return false; }

  void OnAnswer(const RequestEnd& end) {
    context()->api.executor().Cancel(timer_);
    context()->api.executor().Cancel(late_timer_);
    OnRequestEnd(end);
  }

  Extender& extender_;
  base::Executor::TimerId timer_ = 0;
  base::Executor::TimerId late_timer_ = 0;
};

// One pod's way from extender to extender.
class ExtenderBind::Turns : public std::enable_shared_from_this<Turns> {
 public:
  Turns(std::weak_ptr<const ExtenderList> extenders, std::shared_ptr<BindContext> context,
        std::shared_ptr<const api::Pod> pod, std::string node_name, AsyncDone done)
      : extenders_(std::move(extenders)),
        context_(std::move(context)),
        pod_(std::move(pod)),
        node_name_(std::move(node_name)),
        done_(std::move(done)) {}

  void AskNext() {
    const auto extenders = extenders_.lock();
    if (extenders == nullptr) return;
    Extender* extender = nullptr;
    while (extender == nullptr && next_ < extenders->size()) {
      Extender& candidate = *(*extenders)[next_++];
      if (candidate.IsBinder() && candidate.IsInterested(*pod_)) extender = &candidate;
    }
    if (extender == nullptr) {
      done_({Code::kSkip});
    } else if (context_->closing) {
      done_({Code::kError, "not asked to bind: the scheduler is shutting down"});
    } else if (!context_->api.MayWrite()) {
      done_({Code::kError, "not asked to bind: this process does not hold the lease"});
    } else {
      const auto attempt = std::make_shared<Attempt>(context_, pod_, node_name_, *extender);
      attempt_ = attempt;
      attempt->Start([this, extender, self = shared_from_this()](AsyncStatus status) {
        OnEnd(*extender, std::move(status));
      });
    }
  }

  void Cancel() {
    cancelled_ = true;
    if (const auto attempt = attempt_.lock()) attempt->Cancel();
  }

 private:
  void OnEnd(const Extender& extender, AsyncStatus status) {
    if (extenders_.expired()) return;
    if (status.ok() || cancelled_ || !extender.IsIgnorable()) {
      done_(std::move(status));
      return;
    }
    base::LogInfo("Skipping an extender that failed", {{"extender", extender.Name()},
                                                       {"verb", "bind"},
                                                       {"pod", pod_->metadata.Key()},
                                                       {"err", status.message}});
    AskNext();
  }

  const std::weak_ptr<const ExtenderList> extenders_;
  const std::shared_ptr<BindContext> context_;
  const std::shared_ptr<const api::Pod> pod_;
  const std::string node_name_;
  const AsyncDone done_;

  size_t next_ = 0;
  bool cancelled_ = false;
  std::weak_ptr<binding::BindAttempt> attempt_;  // the last one
};

bool ExtenderBind::IsInterested(const api::Pod& pod) const {
  return std::any_of(extenders_->begin(), extenders_->end(), [&pod](const auto& extender) {
    return extender->IsBinder() && extender->IsInterested(pod);
  });
}

void ExtenderBind::Bind(CycleState&, const PodInfo& pod, std::string_view node_name,
                        Cancellation& cancellation, AsyncDone done) {
  const auto turns = std::make_shared<Turns>(extenders_, context_, pod.pod, std::string(node_name),
                                             std::move(done));
  cancellation.OnCancel([weak = std::weak_ptr(turns), link = context_->link] {
    link->Run([weak] {
      if (const auto alive = weak.lock()) alive->Cancel();
    });
  });
  turns->AskNext();
}

}  // namespace berth::extender
