// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "berth/matching.h"
#include "plugins/fragmentation_aware/args.h"
#include "plugins/fragmentation_aware/device_shares.h"
#include "plugins/fragmentation_aware/fragmentation.h"
#include "plugins/fragmentation_aware/seen_pods.h"

namespace berth::plugins {

// Prefers nodes whose leftovers stay of use to the expected pods: the score is by how much less of
// what a node has left is of no use to them, once the pod is there (Fragmentation), or by how much
// of the node they will take beside it (ExpectedUse).
//
// Where the args name no class of devices, a node's score depends on that node alone, and the
// engine keeps it. Where they do, it depends on what claims hold, and each pod is asked about; the
// scores of nodes that have the same left as before are kept here.
//
// Thread safety: the scheduling thread.
class FragmentationAware : public PreScorePlugin, public ColumnScorePlugin, public MemoryPlugin {
 public:
  static constexpr std::string_view kName = "FragmentationAware";

  // `args` are valid; `handle` must outlive the plugin.
  FragmentationAware(const FragmentationAwareArgs& args, Handle& handle);

  Inputs DeclaredInputs() const;

  // Skips where no pods are expected: all nodes are alike.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  // From 0 to 99, 50 where the pod changes nothing.
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;

  size_t kept_bytes() const override;

 protected:
  // What the pod asks for of the list of resources, and of devices by claims that have none yet.
  Demand DemandOf(const PodInfo& pod) const;
  // From now on these pods are expected. `pods`: by shape, whose node affinity counts; nullptr: all
  // nodes.
  void Expect(std::vector<Shape> shapes, std::span<const std::shared_ptr<const api::Pod>> pods);

  SeenPods seen_;

 private:
  // The scores of one demand, by row: the number of what the row had left, and the score.
  struct KnownScore {
    uint64_t left = 0;
    int64_t score = 0;
  };
  struct KnownLeft {
    NodeLeft left;
    uint64_t number = 0;
  };

  Demand DemandOf(const ShapeSpec& shape) const;
  void AddDevices(const api::ResourceClaim& claim, Demand& demand) const;
  void FillDevices(const api::Node& node, NodeLeft& left) const;
  int64_t ScoreOnRow(const Demand& demand, std::vector<KnownScore>& known, NodeRow row) const;
  std::vector<KnownScore>& KnownScores(const Demand& demand, size_t rows) const;
  // Which nodes each affinity of the mix admits.
  void FindAdmitted(const Snapshot& snapshot) const;

  Handle& handle_;
  const bool learns_;
  const FragmentationMeasure measure_kind_;
  std::vector<std::string> names_;  // the list of resources
  std::vector<ResourceId> ids_;
  std::vector<CountedResource> counted_;
  double total_weight_ = 0;
  bool expects_ = false;  // any pods
  std::unique_ptr<const LeftoverMeasure> measure_;
  std::vector<RequiredNodeAffinity> affinities_;
  const std::unique_ptr<DeviceShares> devices_;

  // Used again from node to node, and from pod to pod.
  mutable NodeLeft left_;
  mutable std::vector<NodeSet> admitted_;
  mutable std::vector<KnownLeft> known_left_;  // by row
  mutable uint64_t last_number_ = 0;
  mutable absl::flat_hash_map<std::vector<int64_t>, std::vector<KnownScore>> known_scores_;
  mutable size_t num_known_scores_ = 0;
};

// The same without a mix in its args: it expects pods as those that it has seen.
//
// Thread safety: the scheduling thread.
class LearningFragmentationAware final : public FragmentationAware, public PreFilterPlugin {
 public:
  using FragmentationAware::FragmentationAware;

  // Looks at the pod, and always skips.
  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
};

}  // namespace berth::plugins
