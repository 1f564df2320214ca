// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/points.h"
#include "src/base/mutex.h"
#include "src/base/string_map.h"
#include "src/binding/bind_attempt.h"
#include "src/client/api_client.h"
#include "src/framework/profile.h"

namespace berth::binding {

// All that a binding cycle needs. Plugins must outlive it.
struct BindingCycle {
  PodInfoPtr pod;
  std::string node_name;
  CycleState state;
  // In profile order, without those whose PreBindPreFlight said Skip.
  std::vector<framework::Entry<PreBindPlugin>> pre_bind;
  // Asked before all others, if there is one; its failures stay as they are, in no plugin's name.
  framework::Entry<BindPlugin> extender;
  absl::InlinedVector<framework::Entry<BindPlugin>, 1> bind;  // mostly there is one
  std::vector<framework::Entry<PostBindPlugin>> post_bind;
  // Also time each plugin call, not only each extension point.
  bool time_plugins = false;
};

enum class BindingStage { kPreBind, kBind, kPostBind };

// How long an extension point took, or one plugin in it.
struct BindingTiming {
  BindingStage stage = BindingStage::kPreBind;
  std::string_view plugin;  // "": the whole extension point
  Code code = Code::kSuccess;
  Duration duration{};
};

// The end of a binding cycle.
struct BindOutcome {
  std::string pod_uid;
  std::string node_name;
  // Success: bound. A failure's message is complete: `running Bind plugin "X": ...`.
  AsyncStatus status;
  BindingStage stage = BindingStage::kPostBind;  // where it ended
  // The Bind was given up without an answer: the pod may or may not be bound.
  bool unknown = false;
  CycleState state;
  std::vector<BindingTiming> timings;
};

// Where a binder reports to. Called on the executor's thread.
struct BinderCallbacks {
  // Once for each cycle, last.
  std::function<void(BindOutcome&&)> outcome;
  // The pod's PreBind plugins are done and its Bind begins: from here on the cycle counts for
  // back-pressure. Not called for a cycle that has no PreBind plugin.
  std::function<void(std::string pod_uid)> pre_bind_done = {};
  // See BindContext: the answer to its Bind is late, or what became of it has to be read. From here
  // on the cycle does not count for back-pressure.
  std::function<void(std::string pod_uid)> unconfirmed = {};
};

// Runs binding cycles (PreBind, Bind, PostBind) without occupying a thread for each. What a cycle
// does stands in binder.cc, what a bind does in bind_attempt.h.
//
// Knows neither the cache nor the queue: every outcome goes to a callback, and the scheduler
// forgets and requeues, or keeps the pod. A pod that waits on Permit is not here yet.
//
// A pod crosses threads twice: with Start() to the executor's, with its outcome back. Between them
// one step calls the next; only what a plugin answers on a thread of its own is posted.
//
// Thread safety: any thread. Plugins are called on the executor's thread; their answers may come
// from any.
class Binder {
 public:
  // `api` and `clock` must outlive the binder. Destroy it on the executor's thread, or once that
  // has stopped: cycles under way end without an outcome.
  Binder(client::ApiClient& api, const Clock& clock, uint64_t seed, BinderCallbacks callbacks);
  ~Binder();
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  // Takes the pod over. No other cycle may be under way for it.
  void Start(BindingCycle cycle);

  // Ends the pod's cycle with `cause` if that is still in PreBind. False: it is not, and the
  // caller has to delete the pod instead.
  bool CancelPreBind(std::string_view pod_uid, std::string cause);

  // What Handle::BindPod needs: see BindAttempt.
  void BindPod(std::shared_ptr<const api::Pod> pod, std::string_view node_name,
               Cancellation& cancellation, AsyncDone done);

  // Starts no further write and cancels the PreBinds under way; later Start()s end at once. Calls
  // `closed` with the number of cycles given up, once every cycle has reported its outcome; those
  // that have not after `patience` are cancelled and given up.
  void Close(Duration patience, std::function<void(size_t)> closed);

  // For those who bind by another road.
  const std::shared_ptr<BindContext>& context() const { return context_; }

 private:
  class Run;

  // Executor's thread.
  void Begin(const std::shared_ptr<Run>& run);
  void DoClose(Duration patience, std::function<void(size_t)> closed);
  void GiveUp();
  // Those under way, in an order that does not change from one process to the next.
  std::vector<std::shared_ptr<Run>> Runs() const;
  void Finish(BindOutcome&& outcome);

  // Any thread.
  // Why the pod is called back, if it is.
  std::optional<std::string> CancelCause(std::string_view pod_uid) const;
  // The same; from now on it cannot be called back any more.
  std::optional<std::string> EndPreBind(std::string_view pod_uid);

  const std::shared_ptr<BindContext> context_;
  const BinderCallbacks callbacks_;

  // Executor's thread.
  // By UID.
  absl::flat_hash_map<std::string_view, std::shared_ptr<Run>, base::StringHash> runs_;
  std::function<void(size_t)> closed_;
  std::optional<base::Executor::TimerId> patience_;

  mutable base::Mutex mutex_;
  // The pods in PreBind, by UID, with the cause why a cycle is cancelled.
  base::StringMap<std::optional<std::string>> pre_binds_ BERTH_GUARDED_BY(mutex_);
};

}  // namespace berth::binding
