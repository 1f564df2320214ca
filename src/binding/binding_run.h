// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/inlined_vector.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/binding/binder.h"

namespace berth::binding {

inline constexpr std::string_view kShuttingDown = "the scheduler is shutting down";

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
  void End(AsyncStatus status, std::string_view plugin = "");

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
  std::string_view failed_plugin_;
  std::vector<BindingTiming> timings_;
};

}  // namespace berth::binding
