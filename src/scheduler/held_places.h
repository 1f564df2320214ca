// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/time.h"
#include "src/cache/cache.h"
#include "src/cache/nominator.h"

namespace berth::scheduler {

// Places that are kept for pods which controllers are still to make, in the place of pods that
// leave their nodes: each is a nomination, in memory, of a pod that is like the one to come. As any
// nomination it keeps out pods of the same or of lower priority.
//
// A place is kept for two minutes after the pod that leaves has gone, and for ten in all.
//
// Thread safety: the scheduling thread.
class HeldPlaces {
 public:
  // Both must outlive it.
  HeldPlaces(cache::Cache& cache, cache::Nominator& nominator)
      : cache_(cache), nominator_(nominator) {}

  // Keeps room on the node for the next pod that the controller of `leaving` makes, in place of
  // what was kept for that before.
  void Hold(std::shared_ptr<const api::Pod> leaving, std::string_view node_name, Time now);
  void GiveBack(std::string_view leaving_uid);
  // The node where room was kept for a pod that has come without one; it is the pod's from now on.
  // "": none was.
  std::string Take(const api::Pod& pod);
  void Expire(Time now);
  std::optional<Time> NextExpiry() const;
  bool empty() const { return held_.empty(); }
  // Calls visit(pod, node_name) for what is held: a pod that is like the one to come.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Held& held : held_) visit(held.next, std::string_view(held.node_name));
  }

 private:
  struct Held {
    std::shared_ptr<const api::Pod> leaving;
    PodInfoPtr next;
    std::string node_name;
    Time since;
    Time until;
  };

  void Release(std::vector<Held>::iterator held);

  cache::Cache& cache_;
  cache::Nominator& nominator_;
  std::vector<Held> held_;  // in the order in which they were held
};

}  // namespace berth::scheduler
