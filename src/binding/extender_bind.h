// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "berth/plugin.h"
#include "src/client/api_client.h"
#include "src/framework/extender.h"

namespace berth::binding {

// Has extenders bind pods: the first one that binds and is interested in the pod is asked; if that
// fails and is ignorable, the next one. Skip: the Bind plugins are to do it.
//
//   extender -- bound -------------------------------------------> Success
//    ^    |  no definite answer      the pod is on our node          ^
//    |    +----------------------> GET ------------------------------+
//    |    |  refused                | it is not
//    |    +-------------------------+---> Error
//    +-- ignorable: the next one ---+
//
// An answer that never came is settled by reading the pod: while nobody knows, its room is kept.
// No extender is asked while this process may not write (client::ApiClient::MayWrite).
//
// Thread safety: Bind() on the executor's thread, where `done` is called, too.
class ExtenderBind final : public BindPlugin {
 public:
  // `api` must outlive it. Destroy it on the executor's thread, or once that has stopped.
  ExtenderBind(framework::ExtenderList extenders, client::ApiClient& api, uint64_t seed);
  ~ExtenderBind() override;

  std::string_view Name() const override { return framework::kExtenderName; }
  // Whether an extender wants to bind the pod. Any thread.
  bool IsInterested(const api::Pod& pod) const;
  void Bind(CycleState& state, const PodInfo& pod, std::string_view node_name,
            Cancellation& cancellation, AsyncDone done) override;

 private:
  class Attempt;
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace berth::binding
