// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "berth/plugin.h"
#include "src/client/api_client.h"
#include "src/extender/extender.h"

namespace berth::extender {

// Has extenders bind pods: the first one that binds and is interested in the pod is asked; if that
// fails and is ignorable, the next one. Skip: the Bind plugins are to do it.
//
//   extender -- bound -------------------------------------------> Success
//    ^    |  no definite answer            the pod is on our node    ^
//    |    +--------------> GET, with backoff ------------------------+
//    |    |  refused        | it is not, and cannot be any more
//    |    +-----------------+-----------> Error
//    +-- ignorable: the next one ---+
//
// Each extender gets one request. What it answered without telling how it ended (5xx, not to be
// read) is settled by reading the pod once, or given up where no read is answered for
// BindOperation::kServerTimeout. A request whose answer never came may still be worked on: a pod
// that has no node counts as not bound only once kServerTimeout has passed, so that its room is
// kept until then. No extender is asked while this process may not write
// (client::ApiClient::MayWrite).
//
// Thread safety: Bind() on the executor's thread, where `done` is called, too.
class ExtenderBind final : public BindPlugin {
 public:
  // Hears, on the executor's thread and once a bind at most, that a bind of the pod is being
  // settled, which may take long.
  using Settling = std::function<void(std::string pod_uid)>;

  // `api` and `clock` must outlive it. Destroy it on the executor's thread, or once that has
  // stopped.
  ExtenderBind(ExtenderList extenders, client::ApiClient& api, const Clock& clock, uint64_t seed,
               Settling settling = nullptr);
  ~ExtenderBind() override;

  std::string_view Name() const override { return kExtenderName; }
  // Whether an extender wants to bind the pod. Any thread.
  bool IsInterested(const api::Pod& pod) const;
  void Bind(CycleState& state, const PodInfo& pod, std::string_view node_name,
            Cancellation& cancellation, AsyncDone done) override;

 private:
  class Attempt;
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace berth::extender
