// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "src/engine/judgement.h"
#include "src/informers/informer_event.h"
#include "src/scheduler/profiles.h"

namespace berth::scheduler {

// What a pod's profile makes of it as things stand. Extenders are not asked.
struct Opinion {
  using PodPtr = std::shared_ptr<const api::Pod>;

  // The node it would get now, by the engine that decides; "": none.
  std::function<std::string(const PodPtr&)> choose;
  std::function<std::unique_ptr<engine::Judgement>(const PodPtr&)> judge;
};

// What a scheduler in the shadow of another one learns of what that one does with the pods that
// both decide about. What this one decides, it gets from SchedulerOptions::on_cycle.
//
// Thread safety: called on the scheduling thread, outside of cycles.
class ShadowListener {
 public:
  virtual ~ShadowListener() = default;

  // A pod came that has no node.
  virtual void Seen(const api::Pod& pod, Time now) = 0;
  // The other scheduler bound the pod. The opinion is that of this moment: with all that was
  // bound before, and with nothing that Berth has decided.
  virtual void Bound(const std::shared_ptr<const api::Pod>& pod, std::string_view node_name,
                     const Opinion& opinion, Time now) = 0;
  // The other scheduler says that no node takes it.
  virtual void Refused(const api::Pod& pod) = 0;
  // It was deleted before it had a node.
  virtual void Gone(const api::Pod& pod) = 0;
};

// What the watch tells of pods without a node, as the doings of another scheduler.
//
// Thread safety: the scheduling thread.
class ShadowWatch {
 public:
  // All must outlive this.
  ShadowWatch(const Profiles& profiles, ShadowListener& listener, Opinion opinion)
      : profiles_(profiles), listener_(listener), opinion_(std::move(opinion)) {}

  // To be called with an event before the cache and the queue have it.
  void Before(const informers::InformerEvent& event, Time now);

 private:
  using PodPtr = std::shared_ptr<const api::Pod>;

  void Update(const PodPtr& old_pod, const PodPtr& pod, Time now);
  bool IsPending(const PodPtr& pod) const;

  const Profiles& profiles_;
  ShadowListener& listener_;
  const Opinion opinion_;
};

}  // namespace berth::scheduler
