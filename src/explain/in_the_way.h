// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/judgement.h"

namespace berth::explain {

// What it is on a node that a plugin's reason means: the pod that holds the host port, that is kept
// away from or keeps away, that uses the claim; the counts of a spread constraint; the volumes that
// reach a driver's limit. For people: events and conditions keep kube-scheduler's words.
//
// Covers NodePorts, InterPodAffinity, PodTopologySpread and VolumeRestrictions, as far as the
// nodes and their pods show: nothing is said where a term names namespaces by their labels, nor of
// what a profile's args add to a pod. Others speak for themselves (InTheWayPlugin).
//
// Thread safety: as the judgement's, which has been explained and outlives it.
class InTheWay {
 public:
  explicit InTheWay(const engine::Judgement& judgement)
      : judgement_(judgement), snapshot_(judgement.snapshot()) {}

  // "pod shop/web-1 has host port 80/TCP"; "": unknown.
  const std::string& On(NodeRow row);

 private:
  // Pods that match a constraint, by the value of its label.
  struct Spread {
    const api::TopologySpreadConstraint* constraint = nullptr;
    std::map<std::string, int64_t, std::less<>> counts;
    std::pair<std::string, int64_t> least;  // of `counts`
    int64_t self = 0;                       // 1 where the pod matches, too
  };
  // The first pod that a term means, by the value of the term's label.
  using PodByDomain = std::map<std::string, std::string, std::less<>>;

  std::string Find(NodeRow row);
  std::string HolderOfPort(NodeRow row) const;
  std::string Repelled(NodeRow row);
  std::string Repelling(NodeRow row);
  std::string UserOfClaim() const;
  std::string Skew(NodeRow row);
  void CountSpreads();

  const engine::Judgement& judgement_;
  const Snapshot& snapshot_;
  std::map<NodeRow, std::string> found_;
  std::optional<std::vector<PodByDomain>> repelled_;             // by required anti-affinity term
  std::optional<std::map<std::string, PodByDomain>> repelling_;  // by topology key
  std::optional<std::vector<Spread>> spreads_;
};

}  // namespace berth::explain
