// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "berth/in_tree/points.h"
#include "berth/pod_info.h"
#include "src/base/string_map.h"

namespace berth::cache {

// The UID, in a Nominator, of what holds the place of the pod that is made once another has left
// its node. No pod of an API server has such a one.
std::string HeldPlaceUid(std::string_view leaving_uid);
bool IsHeldPlace(const api::Pod& pod);

// Which pods expect to run on which node once their victims are gone. Filters count them in; the
// pods themselves wait in the queue.
//
// Thread safety: belongs to the scheduling thread.
class Nominator {
 public:
  // `is_pending` tells whether the pod still exists and has no node; others are not nominated.
  // nullptr: every pod is.
  explicit Nominator(std::function<bool(const api::Pod&)> is_pending = nullptr)
      : is_pending_(std::move(is_pending)) {}

  // Nominates the pod, in place of an earlier nomination, for the node that `info` names
  // (kOverride) or else for status.nominatedNodeName. "" leaves it without a nomination. For the
  // same node as before it keeps its place.
  void AddNominatedPod(PodInfoPtr pod, const NominatingInfo& info = {});
  // An update that shows no nominatedNodeName before and after keeps the nomination in memory,
  // which the API server may not have yet.
  void UpdateNominatedPod(const api::Pod& old_pod, PodInfoPtr new_pod);
  void DeleteNominatedPodIfExists(const api::Pod& pod) { Remove(pod.metadata.uid); }
  // Nominates a pod that is still to be made, by a HeldPlaceUid(), and takes that away.
  void Hold(PodInfoPtr pod, const std::string& node_name);
  void Release(const std::string& uid) { Remove(uid); }
  // Whether such nominations count for no pod.
  void SetHeldAside(bool aside);

  // A pod that was nominated for the node, and is no more.
  struct Ended {
    PodInfoPtr pod;
    std::string node;
  };
  // What ended since the last call. Who took a nomination away may have given it back since.
  std::vector<Ended> TakeEnded() { return std::exchange(ended_, {}); }
  // TakeEnded() need not tell of the pod's.
  void ForgetEnded(std::string_view uid);

  // In the order of nomination. Valid until the next change.
  std::span<const PodInfoPtr> NominatedPodsForNode(std::string_view node_name) const;
  // Calls visit(node_name, pod) for every nomination, by node name, then in the order of
  // nomination.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [node_name, pods] : pods_on_)
      for (const PodInfoPtr& pod : pods) visit(std::string_view(node_name), pod);
  }
  // Whether `pod` must fit on a node together with `nominated`, which is nominated for it: another
  // pod of higher priority, or of equal one unless `pod` goes before it.
  bool Counts(const PodInfo& pod, const PodInfo& nominated) const;
  // Whether `pod` must leave room for any of the nominated pods.
  bool Matter(const PodInfo& pod) const;
  // Whether this process nominated `uid` for a node, and `other_uid` was nominated for the same one
  // later: then the first need not leave room for the second (docs/decisions/0005).
  bool GoesBefore(std::string_view uid, std::string_view other_uid) const;
  // Until the next call the nominations of these pods count for no pod, and all others do.
  void SetAside(const std::vector<std::string>& uids);
  // The node, or "". Valid until the next change.
  std::string_view NominatedNode(std::string_view uid) const;

  // A nomination among the others.
  struct Place {
    std::string node;
    uint64_t number = 0;     // counts up with each nomination
    bool from_here = false;  // not only read in a pod's status
  };
  // nullopt: the pod is not nominated.
  std::optional<Place> PlaceOf(std::string_view uid) const;
  // Nominates the pod as it was when PlaceOf() said so: it goes before those that came later.
  void Restore(PodInfoPtr pod, const Place& place);

  bool empty() const { return place_of_.empty(); }
  size_t size() const { return place_of_.size(); }
  // Grows whenever a nomination comes, goes or gets a newer pod.
  uint64_t generation() const { return generation_; }
  // Adds to `nodes` the names of those whose nominations changed after `generation`, which may
  // repeat. False: that is not known any more, and those of any node may have.
  bool NodesChangedSince(uint64_t generation, std::vector<std::string>& nodes) const;

 private:
  void Put(PodInfoPtr pod, const std::string& node, bool from_here);
  void Remove(const std::string& uid);
  // Numbers a change of the node's nominations.
  void Note(const std::string& node_name);

  static constexpr size_t kChangesRemembered = 1024;

  std::function<bool(const api::Pod&)> is_pending_;
  std::map<std::string, std::vector<PodInfoPtr>, std::less<>> pods_on_;  // by node name
  base::StringMap<Place> place_of_;                                      // by pod UID
  std::vector<Ended> ended_;
  absl::flat_hash_set<std::string, base::StringHash, std::equal_to<>> set_aside_;
  bool held_aside_ = false;
  uint64_t last_number_ = 0;
  uint64_t generation_ = 0;
  uint64_t all_changed_ = 0;          // the generation of the last change of no certain node
  std::vector<std::string> changes_;  // the last ones, by generation modulo kChangesRemembered
};

}  // namespace berth::cache
