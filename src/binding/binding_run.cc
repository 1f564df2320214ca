// SPDX-License-Identifier: Apache-2.0
#include "src/binding/binding_run.h"

#include <algorithm>
#include <utility>

#include "src/base/logging.h"
#include "src/framework/guarded.h"

namespace berth::binding {
namespace {

constexpr std::string_view kClosing = "the scheduler is shutting down";

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

// Carries a plugin's answer to the executor's thread. A plugin that loses its AsyncDone without
// calling it has failed: the cycle must not wait for ever.
class BindingRun::Completion {
 public:
  Completion(std::shared_ptr<BindingRun> run, std::shared_ptr<Call> call)
      : run_(std::move(run)), call_(std::move(call)) {}
  ~Completion() {
    if (!called_.load()) Deliver({Code::kError, "the plugin ended without a verdict"});
  }
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  void Deliver(AsyncStatus status) {
    if (called_.exchange(true)) {
      base::LogError("A plugin called its completion twice", {{"plugin", call_->plugin}});
      return;
    }
    const auto host = run_->host_.lock();
    if (host == nullptr) return;
    host->Post([run = run_, call = call_, status = std::move(status)] {
      // A task must not keep the host alive beyond the binder.
      if (const auto alive = run->host_.lock()) run->OnDone(*alive, call, status);
    });
  }

 private:
  std::shared_ptr<BindingRun> run_;
  std::shared_ptr<Call> call_;
  std::atomic<bool> called_ = false;
};

BindingRun::BindingRun(BindingCycle cycle, std::weak_ptr<RunHost> host)
    : cycle_(std::move(cycle)), host_(std::move(host)), in_pre_bind_(!cycle_.pre_bind.empty()) {}

void BindingRun::Start(RunHost& host) {
  stage_started_ = host.clock().Now();
  if (cycle_.pre_bind.empty()) {
    StartBind(host);
  } else {
    RunPreBindGroup(host);
  }
}

bool BindingRun::CancelPreBind(const std::string& cause) {
  {
    base::MutexLock lock(mutex_);
    if (!in_pre_bind_) return false;
    if (!cancel_cause_) cancel_cause_ = cause;
  }
  Abandon();
  return true;
}

void BindingRun::Abandon() {
  std::vector<std::shared_ptr<Call>> running;
  {
    base::MutexLock lock(mutex_);
    running = running_;
  }
  for (const auto& call : running) call->cancel.Cancel();
}

std::shared_ptr<BindingRun::Call> BindingRun::Begin(RunHost& host, BindingStage stage,
                                                    std::string_view plugin) {
  auto call = std::make_shared<Call>();
  call->stage = stage;
  call->plugin = plugin;
  call->started = host.clock().Now();
  bool cancelled = false;
  {
    base::MutexLock lock(mutex_);
    running_.push_back(call);
    cancelled = stage == BindingStage::kPreBind && cancel_cause_.has_value();
  }
  // Cancelled between two plugins of a group: this one must hear of it too.
  if (cancelled) call->cancel.Cancel();
  return call;
}

AsyncDone BindingRun::DoneOf(const std::shared_ptr<Call>& call) {
  return [completion = std::make_shared<Completion>(shared_from_this(), call)](AsyncStatus status) {
    completion->Deliver(std::move(status));
  };
}

void BindingRun::OnDone(RunHost& host, const std::shared_ptr<Call>& call, AsyncStatus status) {
  call->cancel.Disarm();
  {
    base::MutexLock lock(mutex_);
    std::erase(running_, call);
  }
  if (cycle_.time_plugins && !asks_extender_) {
    Timed(host, call->stage, call->plugin, status.code, call->started);
  }
  if (call->stage == BindingStage::kPreBind) {
    OnPreBindDone(host, *call, std::move(status));
  } else {
    OnBindDone(host, *call, std::move(status));
  }
}

// Starts the next plugin, with the neighbours that may run beside it.
void BindingRun::RunPreBindGroup(RunHost& host) {
  if (next_ == cycle_.pre_bind.size()) {
    FinishPreBind(host);
    return;
  }
  bool cancelled = false;
  {
    base::MutexLock lock(mutex_);
    cancelled = cancel_cause_.has_value();
  }
  if (cancelled || host.closing()) {
    FinishPreBind(host);
    return;
  }
  const size_t begin = next_++;
  if (cycle_.pre_bind[begin]->AllowParallel()) {
    while (next_ < cycle_.pre_bind.size() && cycle_.pre_bind[next_]->AllowParallel()) ++next_;
  }
  outstanding_ = next_ - begin;
  for (size_t i = begin; i < begin + outstanding_; ++i) {
    PreBindPlugin& plugin = *cycle_.pre_bind[i];
    const auto call = Begin(host, BindingStage::kPreBind, plugin.Name());
    framework::GuardedAsync(DoneOf(call), [&](const AsyncDone& done) {
      plugin.PreBind(cycle_.state, *cycle_.pod, cycle_.node_name, call->cancel, done);
    });
  }
}

void BindingRun::OnPreBindDone(RunHost& host, const Call& call, AsyncStatus status) {
  --outstanding_;
  if (!status.ok() && !failure_) {
    if (status.code == Code::kError) {
      // The cause says more than the plugin's own word for being cancelled.
      base::MutexLock lock(mutex_);
      if (cancel_cause_) status.message = *cancel_cause_;
    }
    failure_ = Explain("PreBind", call.plugin, std::move(status));
    failed_plugin_ = call.plugin;
    Abandon();
  }
  if (outstanding_ > 0) return;
  if (failure_) {
    FinishPreBind(host);
  } else {
    RunPreBindGroup(host);
  }
}

void BindingRun::FinishPreBind(RunHost& host) {
  {
    // From here on the pod can only be deleted, not called back.
    base::MutexLock lock(mutex_);
    in_pre_bind_ = false;
    if (cancel_cause_ && !failure_) failure_ = AsyncStatus{Code::kError, *cancel_cause_};
  }
  if (!failure_ && host.closing()) failure_ = AsyncStatus{Code::kError, std::string(kClosing)};
  Timed(host, BindingStage::kPreBind, "", failure_ ? failure_->code : Code::kSuccess,
        stage_started_);
  if (failure_) {
    End(host, BindingStage::kPreBind, failed_plugin_, std::move(*failure_));
    return;
  }
  host.PreBindDone(cycle_.pod->pod->metadata.uid);
  next_ = 0;
  StartBind(host);
}

void BindingRun::StartBind(RunHost& host) {
  if (cycle_.extender == nullptr || host.closing()) {
    stage_started_ = host.clock().Now();
    RunBind(host);
    return;
  }
  asks_extender_ = true;
  const auto call = Begin(host, BindingStage::kBind, cycle_.extender->Name());
  cycle_.extender->Bind(cycle_.state, *cycle_.pod, cycle_.node_name, call->cancel, DoneOf(call));
}

void BindingRun::RunBind(RunHost& host) {
  if (host.closing()) {
    End(host, BindingStage::kBind, "", {Code::kError, std::string(kClosing)});
    return;
  }
  if (next_ == cycle_.bind.size()) {
    Timed(host, BindingStage::kBind, "", Code::kSkip, stage_started_);
    End(host, BindingStage::kBind, "", {Code::kError, "every Bind plugin skipped the pod"});
    return;
  }
  BindPlugin& plugin = *cycle_.bind[next_++];
  const auto call = Begin(host, BindingStage::kBind, plugin.Name());
  framework::GuardedAsync(DoneOf(call), [&](const AsyncDone& done) {
    plugin.Bind(cycle_.state, *cycle_.pod, cycle_.node_name, call->cancel, done);
  });
}

void BindingRun::OnBindDone(RunHost& host, const Call& call, AsyncStatus status) {
  const bool by_extender = std::exchange(asks_extender_, false);
  if (status.code == Code::kSkip) {
    if (by_extender) stage_started_ = host.clock().Now();
    RunBind(host);
    return;
  }
  if (!by_extender) Timed(host, BindingStage::kBind, "", status.code, stage_started_);
  if (status.ok()) {
    RunPostBind(host);
    return;
  }
  // A plugin that was told to give up cannot say how far its write came.
  const bool unknown = call.cancel.cancelled();
  if (!by_extender) status = Explain("Bind", call.plugin, std::move(status));
  End(host, BindingStage::kBind, call.plugin, std::move(status), unknown);
}

void BindingRun::RunPostBind(RunHost& host) {
  const Time started = host.clock().Now();
  for (PostBindPlugin* plugin : cycle_.post_bind) {
    const Time plugin_started = cycle_.time_plugins ? host.clock().Now() : started;
    const auto thrown =
        framework::ThrownBy([&] { plugin->PostBind(cycle_.state, *cycle_.pod, cycle_.node_name); });
    // The pod is bound: its verdict stands.
    if (thrown) {
      base::LogError(
          "PostBind plugin failed",
          {{"plugin", plugin->Name()}, {"pod", cycle_.pod->pod->metadata.Key()}, {"err", *thrown}});
    }
    if (cycle_.time_plugins) {
      Timed(host, BindingStage::kPostBind, plugin->Name(), Code::kSuccess, plugin_started);
    }
  }
  if (!cycle_.post_bind.empty()) {
    Timed(host, BindingStage::kPostBind, "", Code::kSuccess, started);
  }
  End(host, BindingStage::kPostBind, "", {});
}

void BindingRun::Timed(RunHost& host, BindingStage stage, std::string_view plugin, Code code,
                       Time since) {
  timings_.push_back({stage, plugin, code, host.clock().Now() - since});
}

void BindingRun::End(RunHost& host, BindingStage stage, std::string_view plugin, AsyncStatus status,
                     bool unknown) {
  BindOutcome outcome;
  outcome.pod_uid = cycle_.pod->pod->metadata.uid;
  outcome.node_name = cycle_.node_name;
  outcome.status = std::move(status);
  outcome.stage = stage;
  outcome.failed_plugin = plugin;
  outcome.unknown = unknown;
  outcome.state = std::move(cycle_.state);
  outcome.timings = std::move(timings_);
  host.Finished(std::move(outcome));
}

}  // namespace berth::binding
