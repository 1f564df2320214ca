// SPDX-License-Identifier: Apache-2.0
#include "src/binding/binder.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "berth/check.h"
#include "src/base/logging.h"
#include "src/binding/cancel_source.h"
#include "src/framework/guarded.h"

namespace berth::binding {
namespace {

constexpr std::string_view kShuttingDown = "the scheduler is shutting down";

bool IsRejected(Code code) {
  return code == Code::kUnschedulable || code == Code::kUnschedulableAndUnresolvable ||
         code == Code::kPending;
}

// A rejection stays as it is; everything else that is no success counts as a failure.
AsyncStatus Explain(const char* point, std::string_view plugin, AsyncStatus status) {
  if (IsRejected(status.code)) return status;
  std::string text = std::string("running ") + point + " plugin \"";
  text.append(plugin).append("\": ").append(status.message);
  return {Code::kError, std::move(text)};
}

}  // namespace

// One binding cycle under way.
//
//   PreBind, group by group -> Bind, until one does not skip -> PostBind -> outcome
//      | failed, cancelled       | failed                                     ^
//      +-------------------------+--------------------------------------------+
//
// PreBind plugins that allow it run together with their neighbours; the first failure cancels the
// others, and the cycle waits for all of them, since they hold its state.
//
// Thread safety: the executor's thread. Does nothing once the binder is gone.
class Binder::Run : public std::enable_shared_from_this<Binder::Run> {
 public:
  Run(BindingCycle cycle, Binder& binder);

  const std::string& pod_uid() const { return cycle_.pod->pod->metadata.uid; }
  // Goes on until the cycle is over or waits for an answer.
  void Advance();
  // Cancels the plugin calls under way.
  void CancelCalls();
  // The same, and the outcome of a Bind is not known any more.
  void GiveUp();

 private:
  class Call;
  // But for PreBind plugins that run side by side there is one.
  using Calls = absl::InlinedVector<std::pair<const Call*, std::weak_ptr<Call>>, 1>;

  // The steps: each calls plugins, moves on to the next stage, or ends the cycle.
  void PreBind();
  void EndPreBind();
  void Bind();
  void PostBind();
  void End(AsyncStatus status);

  // Has `call` call the plugin with a cancellation and a way to answer.
  template <typename CallIt>
  void CallPlugin(std::string_view plugin, CallIt call);
  void OnAnswer(const Call* call, std::string_view plugin, Time called, AsyncStatus status);
  void OnPreBindAnswer(std::string_view plugin, AsyncStatus status);
  void OnBindAnswer(std::string_view plugin, AsyncStatus status);
  void Timed(std::string_view plugin, Code code, Time since);
  Time Now() const { return context_->clock.Now(); }

  BindingCycle cycle_;
  Binder& binder_;  // there as long as the link is open
  const std::shared_ptr<BindContext> context_;

  BindingStage stage_;
  size_t next_ = 0;  // the next plugin of the stage
  Time stage_began_;
  bool asks_extender_ = false;
  bool advancing_ = false;
  bool given_up_ = false;
  bool ended_ = false;
  size_t unanswered_ = 0;  // plugin calls
  Calls calls_;
  std::optional<AsyncStatus> failure_;  // the first of the PreBind plugins
  std::vector<BindingTiming> timings_;
};

// A plugin call under way, kept by what the plugin answers with. A plugin that loses that without
// answering has failed: the cycle must not wait for ever.
//
// Thread safety: any thread.
class Binder::Run::Call {
 public:
  Call(std::shared_ptr<Run> run, std::string_view plugin)
      : run_(std::move(run)), plugin_(plugin), called_(run_->Now()) {}
  ~Call() {
    if (!answered_) Deliver({Code::kError, "the plugin ended without a verdict"});
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void Answer(AsyncStatus status) {
    if (answered_.exchange(true)) {
      base::LogError("A plugin called its completion twice", {{"plugin", plugin_}});
      return;
    }
    cancel.Disarm();
    Deliver(std::move(status));
  }

  CancelSource cancel;

 private:
  void Deliver(AsyncStatus status) {
    run_->context_->link->Run([run = run_, call = this, plugin = plugin_, called = called_,
                               status = std::move(status)]() mutable {
      run->OnAnswer(call, plugin, called, std::move(status));
    });
  }

  const std::shared_ptr<Run> run_;
  const std::string_view plugin_;
  const Time called_;
  std::atomic<bool> answered_ = false;
};

Binder::Run::Run(BindingCycle cycle, Binder& binder)
    : cycle_(std::move(cycle)),
      binder_(binder),
      context_(binder.context_),
      stage_(cycle_.pre_bind.empty() ? BindingStage::kBind : BindingStage::kPreBind) {
  timings_.reserve(3);
  // The point counts for each pod, as in kube-scheduler.
  if (cycle_.pre_bind.empty()) timings_.emplace_back();
}

void Binder::Run::Advance() {
  // A plugin that answers within its call, or ends another's: the loop below goes on.
  if (std::exchange(advancing_, true)) return;
  const auto self = shared_from_this();
  while (unanswered_ == 0 && !ended_) {
    switch (stage_) {
      case BindingStage::kPreBind:
        PreBind();
        break;
      case BindingStage::kBind:
        Bind();
        break;
      case BindingStage::kPostBind:
        PostBind();
        break;
    }
  }
  advancing_ = false;
}

// Calls the next plugin, with the neighbours that may run beside it.
void Binder::Run::PreBind() {
  if (next_ == 0) stage_began_ = Now();
  if (failure_ || next_ == cycle_.pre_bind.size() || context_->closing ||
      binder_.CancelCause(pod_uid())) {
    EndPreBind();
    return;
  }
  const size_t begin = next_++;
  if (cycle_.pre_bind[begin].plugin->AllowParallel()) {
    while (next_ < cycle_.pre_bind.size() && cycle_.pre_bind[next_].plugin->AllowParallel())
      ++next_;
  }
  for (size_t i = begin; i < next_; ++i) {
    const framework::Entry<PreBindPlugin>& entry = cycle_.pre_bind[i];
    CallPlugin(entry.name, [&](Cancellation& cancellation, AsyncDone done) {
      entry.plugin->PreBind(cycle_.state, *cycle_.pod, cycle_.node_name, cancellation,
                            std::move(done));
    });
  }
}

void Binder::Run::OnPreBindAnswer(std::string_view plugin, AsyncStatus status) {
  if (status.ok() || failure_) return;
  if (status.code == Code::kError) {
    // The cause says more than the plugin's own word for being cancelled.
    if (auto cause = binder_.CancelCause(pod_uid())) status.message = *std::move(cause);
  }
  failure_ = Explain("PreBind", plugin, std::move(status));
  CancelCalls();
}

void Binder::Run::EndPreBind() {
  // From here on the pod can only be deleted, not called back.
  std::optional<std::string> cause = binder_.EndPreBind(pod_uid());
  if (!cause && context_->closing) cause = kShuttingDown;
  if (cause && !failure_) failure_ = AsyncStatus{Code::kError, *std::move(cause)};
  Timed("", failure_ ? failure_->code : Code::kSuccess, stage_began_);
  if (failure_) {
    End(*std::move(failure_));
    return;
  }
  if (binder_.callbacks_.pre_bind_done) binder_.callbacks_.pre_bind_done(pod_uid());
  stage_ = BindingStage::kBind;
  next_ = 0;
}

// Has the extender bind the pod, if there is one; then asks the plugins in turn.
void Binder::Run::Bind() {
  if (context_->closing) {
    End({Code::kError, std::string(kShuttingDown)});
    return;
  }
  framework::Entry<BindPlugin> entry = std::exchange(cycle_.extender, {});
  asks_extender_ = entry.plugin != nullptr;
  if (!asks_extender_) {
    if (next_ == 0) stage_began_ = Now();
    if (next_ == cycle_.bind.size()) {
      Timed("", Code::kSkip, stage_began_);
      End({Code::kError, "every Bind plugin skipped the pod"});
      return;
    }
    entry = cycle_.bind[next_++];
  }
  CallPlugin(entry.name, [&](Cancellation& cancellation, AsyncDone done) {
    entry.plugin->Bind(cycle_.state, *cycle_.pod, cycle_.node_name, cancellation, std::move(done));
  });
}

void Binder::Run::OnBindAnswer(std::string_view plugin, AsyncStatus status) {
  if (status.code == Code::kSkip) return;
  if (!asks_extender_) Timed("", status.code, stage_began_);
  if (status.ok()) {
    stage_ = BindingStage::kPostBind;
  } else {
    End(asks_extender_ ? std::move(status) : Explain("Bind", plugin, std::move(status)));
  }
}

void Binder::Run::PostBind() {
  stage_began_ = Now();
  for (const auto& entry : cycle_.post_bind) {
    const Time called = cycle_.time_plugins ? Now() : stage_began_;
    const auto thrown = framework::ThrownBy(
        [&] { entry.plugin->PostBind(cycle_.state, *cycle_.pod, cycle_.node_name); });
    // The pod is bound all the same.
    if (thrown) {
      base::LogError(
          "PostBind plugin failed",
          {{"plugin", entry.name}, {"pod", cycle_.pod->pod->metadata.Key()}, {"err", *thrown}});
    }
    if (cycle_.time_plugins) Timed(entry.name, Code::kSuccess, called);
  }
  Timed("", Code::kSuccess, stage_began_);
  End({});
}

void Binder::Run::End(AsyncStatus status) {
  ended_ = true;
  binder_.Finish({.pod_uid = pod_uid(),
                  .node_name = std::move(cycle_.node_name),
                  .status = std::move(status),
                  .stage = stage_,
                  .unknown = given_up_ && stage_ == BindingStage::kBind,
                  .state = std::move(cycle_.state),
                  .timings = std::move(timings_)});
}

template <typename CallIt>
void Binder::Run::CallPlugin(std::string_view plugin, CallIt call_it) {
  ++unanswered_;
  const auto call = std::make_shared<Call>(shared_from_this(), plugin);
  calls_.emplace_back(call.get(), call);
  // Cancelled between two plugins of a group: this one is cancelled, too.
  if (stage_ == BindingStage::kPreBind && (failure_ || binder_.CancelCause(pod_uid()))) {
    call->cancel.Cancel();
  }
  const auto thrown = framework::ThrownBy([&] {
    call_it(call->cancel, [call](AsyncStatus status) { call->Answer(std::move(status)); });
  });
  if (thrown) call->Answer({Code::kError, *thrown});
}

void Binder::Run::OnAnswer(const Call* call, std::string_view plugin, Time called,
                           AsyncStatus status) {
  calls_.erase(std::ranges::find(calls_, call, &Calls::value_type::first));
  --unanswered_;
  if (cycle_.time_plugins && !asks_extender_) Timed(plugin, status.code, called);
  if (stage_ == BindingStage::kPreBind) {
    OnPreBindAnswer(plugin, std::move(status));
  } else {
    OnBindAnswer(plugin, std::move(status));
  }
  Advance();
}

void Binder::Run::CancelCalls() {
  const auto calls = calls_;
  for (const auto& [call, weak] : calls) {
    if (const auto alive = weak.lock()) alive->cancel.Cancel();
  }
}

void Binder::Run::GiveUp() {
  given_up_ = true;
  CancelCalls();
}

void Binder::Run::Timed(std::string_view plugin, Code code, Time since) {
  timings_.push_back({stage_, plugin, code, Now() - since});
}

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
