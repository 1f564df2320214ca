// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "berth/in_tree/points.h"
#include "src/binding/bind_attempt.h"
#include "src/extender/extender.h"

namespace berth::extender {

// Has extenders bind pods: the first one that binds and is interested in the pod is asked; if it
// is ignorable and did not bind the pod, the next one. Skip: the Bind plugins are to do it.
//
// Each extender gets one request, and binding::BindAttempt finds out what became of it. None is
// asked while this process may not write (client::ApiClient::MayWrite).
//
// Thread safety: Bind() on the executor's thread, where `done` is called, too.
class ExtenderBind final : public BindPlugin {
 public:
  ExtenderBind(ExtenderList extenders, std::shared_ptr<binding::BindContext> context)
      : extenders_(std::make_shared<const ExtenderList>(std::move(extenders))),
        context_(std::move(context)) {}

  // Whether an extender wants to bind the pod. Any thread.
  bool IsInterested(const api::Pod& pod) const;
  void Bind(CycleState& state, const PodInfo& pod, std::string_view node_name,
            Cancellation& cancellation, AsyncDone done) override;

 private:
  class Attempt;
  class Turns;

  const std::shared_ptr<const ExtenderList> extenders_;
  const std::shared_ptr<binding::BindContext> context_;
};

}  // namespace berth::extender
