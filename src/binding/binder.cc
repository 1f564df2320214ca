// SPDX-License-Identifier: Apache-2.0
#include "src/binding/binder.h"

#include <absl/container/btree_map.h>

#include <optional>
#include <utility>

#include "berth/check.h"
#include "berth/random.h"
#include "src/base/mutex.h"
#include "src/binding/bind_operation.h"
#include "src/binding/binding_run.h"

namespace berth::binding {

class Binder::Impl : public RunHost, public std::enable_shared_from_this<Binder::Impl> {
 public:
  Impl(client::ApiClient& api, const Clock& clock, uint64_t seed, BinderCallbacks callbacks)
      : api_(api), clock_(clock), random_(seed), callbacks_(std::move(callbacks)) {}

  void Post(std::function<void()> task) override { api_.executor().Post(std::move(task)); }
  const Clock& clock() const override { return clock_; }
  bool closing() const override { return closing_; }
  void PreBindDone(const std::string& pod_uid) override {
    if (callbacks_.pre_bind_done) callbacks_.pre_bind_done(pod_uid);
  }
  void Finished(BindOutcome outcome) override;

  void Start(BindingCycle cycle);
  bool CancelPreBind(std::string_view pod_uid, const std::string& cause);
  void PostBindPod(BindTarget target, Cancellation& cancellation, AsyncDone done);
  void Close(Duration patience, std::function<void(size_t)> closed);
  size_t in_hand() const {
    base::MutexLock lock(mutex_);
    return runs_.size();
  }

 private:
  // Runs `task` on the executor's thread, unless the binder is gone by then.
  void PostIfAlive(std::function<void(Impl&)> task) {
    Post([weak = weak_from_this(), task = std::move(task)] {
      if (const auto self = weak.lock()) task(*self);
    });
  }
  std::vector<std::shared_ptr<BindingRun>> Runs() const;
  void BindPod(BindTarget target, Cancellation& cancellation, AsyncDone done);
  void DoClose(Duration patience, std::function<void(size_t)> closed);
  void ReportClosed();

  client::ApiClient& api_;
  const Clock& clock_;

  // Executor's thread.
  Random random_;
  BinderCallbacks callbacks_;
  bool closing_ = false;
  std::function<void(size_t)> closed_;
  std::optional<base::Executor::TimerId> patience_;
  uint64_t last_operation_ = 0;
  absl::btree_map<uint64_t, std::shared_ptr<BindOperation>> operations_;

  mutable base::Mutex mutex_;
  // By UID, in an order that does not change from run to run.
  absl::btree_map<std::string, std::shared_ptr<BindingRun>, std::less<>> runs_
      BERTH_GUARDED_BY(mutex_);
};

void Binder::Impl::Start(BindingCycle cycle) {
  std::string uid = cycle.pod->pod->metadata.uid;
  auto run = std::make_shared<BindingRun>(std::move(cycle), weak_from_this());
  {
    base::MutexLock lock(mutex_);
    const bool first = runs_.try_emplace(std::move(uid), run).second;
    BERTH_CHECK(first, "a binding cycle is in hand for the pod already");
  }
  PostIfAlive([run = std::move(run)](Impl& self) { run->Start(self); });
}

void Binder::Impl::Finished(BindOutcome outcome) {
  bool last = false;
  {
    base::MutexLock lock(mutex_);
    runs_.erase(outcome.pod_uid);
    last = runs_.empty();
  }
  callbacks_.outcome(std::move(outcome));
  if (closing_ && last) ReportClosed();
}

bool Binder::Impl::CancelPreBind(std::string_view pod_uid, const std::string& cause) {
  std::shared_ptr<BindingRun> run;
  {
    base::MutexLock lock(mutex_);
    const auto found = runs_.find(pod_uid);
    if (found == runs_.end()) return false;
    run = found->second;
  }
  return run->CancelPreBind(cause);
}

void Binder::Impl::PostBindPod(BindTarget target, Cancellation& cancellation, AsyncDone done) {
  // `cancellation` lives until `done` is called.
  PostIfAlive([target = std::move(target), &cancellation, done = std::move(done)](Impl& self) {
    self.BindPod(target, cancellation, done);
  });
}

void Binder::Impl::BindPod(BindTarget target, Cancellation& cancellation, AsyncDone done) {
  const uint64_t id = ++last_operation_;
  auto finish = [weak = weak_from_this(), id, done = std::move(done)](BindResult result) {
    if (const auto self = weak.lock()) self->operations_.erase(id);
    if (result.end == BindEnd::kBound) {
      done({});
    } else {
      done({Code::kError, std::move(result.message)});
    }
  };
  auto settling = [weak = weak_from_this(), uid = target.pod_uid] {
    const auto self = weak.lock();
    if (self != nullptr && self->callbacks_.settling) self->callbacks_.settling(uid);
  };
  auto operation = std::make_shared<BindOperation>(api_, clock_, random_.Next(), std::move(target),
                                                   std::move(finish), std::move(settling));
  operations_.emplace(id, operation);
  if (closing_) operation->StopWriting();
  // Before the start, so that a pod cancelled already is never sent.
  cancellation.OnCancel([weak = std::weak_ptr(operation)] {
    if (const auto alive = weak.lock()) alive->Cancel();
  });
  operation->Start();
}

std::vector<std::shared_ptr<BindingRun>> Binder::Impl::Runs() const {
  std::vector<std::shared_ptr<BindingRun>> runs;
  base::MutexLock lock(mutex_);
  for (const auto& [uid, run] : runs_) runs.push_back(run);
  return runs;
}

void Binder::Impl::Close(Duration patience, std::function<void(size_t)> closed) {
  PostIfAlive(
      [patience, closed = std::move(closed)](Impl& self) { self.DoClose(patience, closed); });
}

void Binder::Impl::DoClose(Duration patience, std::function<void(size_t)> closed) {
  closing_ = true;
  closed_ = std::move(closed);
  for (const auto& [id, operation] : operations_) operation->StopWriting();
  const auto runs = Runs();
  for (const auto& run : runs) run->CancelPreBind("the scheduler is shutting down");
  if (runs.empty()) {
    ReportClosed();
    return;
  }
  patience_ = api_.executor().PostAfter(patience, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->patience_.reset();
    for (const auto& run : self->Runs()) run->Abandon();
    self->ReportClosed();
  });
}

void Binder::Impl::ReportClosed() {
  if (patience_) api_.executor().Cancel(*patience_);
  patience_.reset();
  const auto closed = std::exchange(closed_, nullptr);
  if (closed) closed(in_hand());
}

Binder::Binder(client::ApiClient& api, const Clock& clock, uint64_t seed, BinderCallbacks callbacks)
    : impl_(std::make_shared<Impl>(api, clock, seed, std::move(callbacks))) {}
Binder::~Binder() = default;

void Binder::Start(BindingCycle cycle) { impl_->Start(std::move(cycle)); }

bool Binder::CancelPreBind(std::string_view pod_uid, std::string cause) {
  return impl_->CancelPreBind(pod_uid, cause);
}

void Binder::BindPod(const api::Pod& pod, std::string_view node_name, Cancellation& cancellation,
                     AsyncDone done) {
  impl_->PostBindPod(
      {pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid, std::string(node_name)},
      cancellation, std::move(done));
}

void Binder::Close(Duration patience, std::function<void(size_t)> closed) {
  impl_->Close(patience, std::move(closed));
}

size_t Binder::in_hand() const { return impl_->in_hand(); }

}  // namespace berth::binding
