// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/mutex.h"
#include "src/binding/binder.h"
#include "src/binding/cancel_source.h"

namespace berth::binding {

// What a run needs from the binder it belongs to. Executor's thread, but for Post().
class RunHost {
 public:
  virtual ~RunHost() = default;
  virtual void Post(std::function<void()> task) = 0;
  virtual const Clock& clock() const = 0;
  virtual bool closing() const = 0;
  virtual void PreBindDone(const std::string& pod_uid) = 0;
  virtual void Finished(BindOutcome outcome) = 0;
};

// One binding cycle under way.
//
// Thread safety: the executor's thread, except CancelPreBind() and Abandon().
class BindingRun : public std::enable_shared_from_this<BindingRun> {
 public:
  // Nothing is called or reported any more once `host` is gone.
  BindingRun(BindingCycle cycle, std::weak_ptr<RunHost> host);

  void Start(RunHost& host);
  // See Binder::CancelPreBind. Any thread.
  bool CancelPreBind(const std::string& cause);
  // Cancels whatever plugin call is under way. Any thread.
  void Abandon();

 private:
  // A plugin call under way.
  struct Call {
    BindingStage stage = BindingStage::kPreBind;
    std::string_view plugin;
    Time started;
    CancelSource cancel;
  };
  // The other half of the AsyncDone that a plugin got.
  class Completion;

  void RunPreBindGroup(RunHost& host);
  void OnPreBindDone(RunHost& host, const Call& call, AsyncStatus status);
  void FinishPreBind(RunHost& host);
  void StartBind(RunHost& host);
  void RunBind(RunHost& host);
  void OnBindDone(RunHost& host, const Call& call, AsyncStatus status);
  void RunPostBind(RunHost& host);

  std::shared_ptr<Call> Begin(RunHost& host, BindingStage stage, std::string_view plugin);
  AsyncDone DoneOf(const std::shared_ptr<Call>& call);
  void OnDone(RunHost& host, const std::shared_ptr<Call>& call, AsyncStatus status);
  void Timed(RunHost& host, BindingStage stage, std::string_view plugin, Code code, Time since);
  // Ends the cycle. `plugin` is "" where none is to blame.
  void End(RunHost& host, BindingStage stage, std::string_view plugin, AsyncStatus status,
           bool unknown = false);

  BindingCycle cycle_;
  std::weak_ptr<RunHost> host_;

  size_t next_ = 0;  // the next plugin of the stage
  bool asks_extender_ = false;
  size_t outstanding_ = 0;
  Time stage_started_;
  std::optional<AsyncStatus> failure_;  // the first of the PreBind group
  std::string_view failed_plugin_;
  std::vector<BindingTiming> timings_;

  base::Mutex mutex_;
  bool in_pre_bind_ BERTH_GUARDED_BY(mutex_);
  std::optional<std::string> cancel_cause_ BERTH_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Call>> running_ BERTH_GUARDED_BY(mutex_);
};

}  // namespace berth::binding
