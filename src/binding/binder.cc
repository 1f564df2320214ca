// SPDX-License-Identifier: Apache-2.0
#include "src/binding/binder.h"

#include <algorithm>
#include <utility>

#include "berth/check.h"
#include "src/binding/binding_run.h"

namespace berth::binding {

Binder::Binder(client::ApiClient& api, const Clock& clock, uint64_t seed, BinderCallbacks callbacks)
    : context_(std::make_shared<BindContext>(
          BindContext{api, clock, std::make_shared<base::ExecutorLink>(api.executor()),
                      Random(seed), callbacks.unconfirmed})),
      callbacks_(std::move(callbacks)) {}

Binder::~Binder() { context_->link->Close(); }

void Binder::Start(BindingCycle cycle) {
  if (!cycle.pre_bind.empty()) {
    base::MutexLock lock(mutex_);
    pre_binds_.try_emplace(cycle.pod->pod->metadata.uid);
  }
  auto run = std::make_shared<Run>(std::move(cycle), *this);
  context_->link->Post([this, run = std::move(run)] { Begin(run); });
}

void Binder::Begin(const std::shared_ptr<Run>& run) {
  const bool first = runs_.try_emplace(run->pod_uid(), run).second;
  BERTH_CHECK(first, "a binding cycle is under way for the pod already");
  run->Advance();
}

void Binder::Finish(BindOutcome&& outcome) {
  runs_.erase(outcome.pod_uid);
  callbacks_.outcome(std::move(outcome));
  if (!runs_.empty() || closed_ == nullptr) return;
  if (patience_) context_->api.executor().Cancel(*patience_);
  std::exchange(closed_, nullptr)(0);
}

bool Binder::CancelPreBind(std::string_view pod_uid, std::string cause) {
  {
    base::MutexLock lock(mutex_);
    const auto found = pre_binds_.find(pod_uid);
    if (found == pre_binds_.end()) return false;
    if (!found->second) found->second = std::move(cause);
  }
  context_->link->Post([this, uid = std::string(pod_uid)] {
    const auto found = runs_.find(uid);
    if (found != runs_.end()) std::shared_ptr(found->second)->CancelCalls();
  });
  return true;
}

std::optional<std::string> Binder::CancelCause(std::string_view pod_uid) const {
  base::MutexLock lock(mutex_);
  return pre_binds_.at(pod_uid);
}

std::optional<std::string> Binder::EndPreBind(std::string_view pod_uid) {
  base::MutexLock lock(mutex_);
  const auto found = pre_binds_.find(pod_uid);
  std::optional<std::string> cause = std::move(found->second);
  pre_binds_.erase(found);
  return cause;
}

void Binder::BindPod(std::shared_ptr<const api::Pod> pod, std::string_view node_name,
                     Cancellation& cancellation, AsyncDone done) {
  // `cancellation` lives until `done` is called.
  context_->link->Run([this, pod = std::move(pod), node = std::string(node_name), &cancellation,
                       done = std::move(done)]() mutable {
    if (context_->closing || cancellation.cancelled()) {
      done({Code::kError, "the bind was cancelled"});
      return;
    }
    const auto bind = std::make_shared<ApiBind>(context_, std::move(pod), std::move(node));
    cancellation.OnCancel([weak = std::weak_ptr<BindAttempt>(bind)] {
      if (const auto alive = weak.lock()) alive->Cancel();
    });
    bind->Start(std::move(done));
  });
}

std::vector<std::shared_ptr<Binder::Run>> Binder::Runs() const {
  std::vector<std::shared_ptr<Run>> runs;
  runs.reserve(runs_.size());
  for (const auto& [uid, run] : runs_) runs.push_back(run);
  std::ranges::sort(runs, {}, &Run::pod_uid);
  return runs;
}

void Binder::Close(Duration patience, std::function<void(size_t)> closed) {
  context_->link->Post([this, patience, closed = std::move(closed)] { DoClose(patience, closed); });
}

void Binder::DoClose(Duration patience, std::function<void(size_t)> closed) {
  context_->closing = true;
  if (runs_.empty()) {
    closed(0);
    return;
  }
  closed_ = std::move(closed);
  patience_ = context_->api.executor().PostAfter(patience, [this, context = context_] {
    if (!context->link->closed()) GiveUp();
  });
  for (const auto& run : Runs()) CancelPreBind(run->pod_uid(), std::string(kShuttingDown));
}

void Binder::GiveUp() {
  patience_.reset();
  const auto closed = std::exchange(closed_, nullptr);
  const auto runs = Runs();
  for (const auto& run : runs) run->GiveUp();
  closed(runs.size());
}

}  // namespace berth::binding
