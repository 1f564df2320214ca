// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/plugin.h"
#include "src/client/api_client.h"

namespace berth::binding {

// All that a binding cycle needs. Plugins must outlive it.
struct BindingCycle {
  PodInfoPtr pod;
  std::string node_name;
  CycleState state;
  // In profile order, without those whose PreBindPreFlight said Skip.
  std::vector<PreBindPlugin*> pre_bind;
  // Asked before all others, if there is one; its failures stand as they are, in no plugin's name.
  BindPlugin* extender = nullptr;
  std::vector<BindPlugin*> bind;
  std::vector<PostBindPlugin*> post_bind;
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
  // Where it ended, and the plugin that ended it ("" for none).
  BindingStage stage = BindingStage::kPostBind;
  std::string failed_plugin;
  // The Bind was given up without an answer: the pod may or may not be bound.
  bool unknown = false;
  CycleState state;
  std::vector<BindingTiming> timings;
};

// Where a binder reports to. Called on the executor's thread.
struct BinderCallbacks {
  // Once for each cycle, last.
  std::function<void(BindOutcome)> outcome;
  // The pod's PreBind plugins are done and its Bind begins: from here on the cycle counts for
  // back-pressure. Not called for a cycle that has no PreBind plugin.
  std::function<void(std::string pod_uid)> pre_bind_done;
  // A BindPod() of the pod is being settled: it has reached the API server, and what became of it
  // has to be read. That may take long, so from here on the cycle does not count for back-pressure.
  std::function<void(std::string pod_uid)> settling = {};
};

// Runs binding cycles (PreBind, Bind, PostBind) without occupying a thread for each.
//
// Knows neither the cache nor the queue: every outcome goes to a callback, and the scheduler
// forgets and requeues, or keeps the pod. Whoever waits on Permit is not here yet.
//
//   Start -> PreBind, group by group -> Bind, until one does not skip -> PostBind -> outcome
//                 | failed, cancelled          | failed                                ^
//                 +----------------------------+----------------------------------------+
//
// PreBind plugins that allow it run together with their neighbours; the first failure cancels the
// others, and the cycle waits for all of them, since they hold its state.
//
// Thread safety: any thread. Plugins are called on the executor's thread; their completions may
// come from any.
class Binder {
 public:
  // `api` and `clock` must outlive the binder. Destroy it on the executor's thread, or once that
  // has stopped: cycles in hand end without an outcome.
  Binder(client::ApiClient& api, const Clock& clock, uint64_t seed, BinderCallbacks callbacks);
  ~Binder();
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  // Takes the pod over. No other cycle may be in hand for it.
  void Start(BindingCycle cycle);

  // Ends the pod's cycle with `cause` if that is still in PreBind. False: it is not, and the
  // caller has to delete the pod instead.
  bool CancelPreBind(std::string_view pod_uid, std::string cause);

  // What Handle::BindPod needs: see BindOperation. An end that is unknown is reported as Error.
  void BindPod(const api::Pod& pod, std::string_view node_name, Cancellation& cancellation,
               AsyncDone done);

  // Starts no further write and cancels the PreBinds in hand; later Start()s end at once. Calls
  // `closed` with the number of cycles given up, once every cycle has posted its outcome; those
  // that have not after `patience` are cancelled and given up.
  void Close(Duration patience, std::function<void(size_t)> closed);

  // Cycles that have not posted their outcome.
  size_t in_hand() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::binding
