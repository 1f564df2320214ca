// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "berth/in_tree/claim_preview.h"
#include "berth/in_tree/handle.h"
#include "berth/in_tree/points.h"
#include "plugins/volume_binding/args.h"
#include "plugins/volume_binding/find_volumes.h"

namespace berth::plugins {

// Puts a pod only where its claims' volumes are, can be taken or can be made, and binds them before
// the pod is bound.
//
//   PreFilter   sorts the claims: bound, waiting for a consumer, or unbound and so not schedulable
//   Filter      what a node has for them (find_volumes.h)
//   Score       how well a node's volumes or its room for volumes would be used
//   Reserve     assumes what the node gives, for all later pods (assumed_pod_volumes.h)
//   PreBind     writes it, and waits for the PV controller and the provisioner
//   Unreserve   takes back what was assumed and not written
//
// All rejections are UnschedulableAndUnresolvable: evicting pods frees no volume.
//
// Reserve and Score look at their nodes again instead of remembering what Filter found on each:
// nothing that Filter reads changes within a cycle. Where the profile does not call Filter, there
// is nothing to remember: all nodes score 0, and the pod is bound as if its claims were. Where it
// does not call Reserve, PreBind finds volumes that nothing has been done to, and fails; a pod
// without claims fails before.
//
// Thread safety: see points.h.
class VolumeBinding final : public PreFilterPlugin,
                            public ColumnFilterPlugin,
                            public PreScorePlugin,
                            public ColumnScorePlugin,
                            public ReservePlugin,
                            public PreBindPlugin,
                            public ClaimPreviewPlugin,
                            public PointsAwarePlugin,
                            public EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "VolumeBinding";
  static constexpr bool kSkipsDeferredResizes = true;
  static constexpr std::string_view kFilterWithoutPreFilter = "not found";

  // `args` are valid; `handle` must outlive the plugin.
  VolumeBinding(const VolumeBindingArgs& args, Handle& handle);

  Inputs DeclaredInputs() const { return Inputs::EachPod(); }
  void SetCalledPoints(const CalledPoints& points) override { called_ = points; }

  PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                            const Snapshot& snapshot) override;
  Status Filter(const CycleState& state, const PodInfo& pod, const NodeView& node) const override;
  Status FilterNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                     NodeSet& nodes) const override;

  // Skips pods none of whose claims wait for a consumer: they score 0 everywhere.
  Status PreScore(CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  const NodeSet& feasible) override;
  ScoreResult Score(const CycleState& state, const PodInfo& pod,
                    const NodeView& node) const override;
  void ScoreNodes(const CycleState& state, const PodInfo& pod, const Snapshot& snapshot,
                  std::span<const NodeRow> nodes, std::span<int64_t> scores) const override;

  Status Reserve(CycleState& state, const PodInfo& pod, std::string_view node_name) override;
  void Unreserve(CycleState& state, const PodInfo& pod, std::string_view node_name) override;

  // Skips pods for which Reserve had nothing to do.
  Status PreBindPreFlight(CycleState& state, const PodInfo& pod,
                          std::string_view node_name) override;
  bool AllowParallel() const override { return true; }
  void PreBind(CycleState& state, const PodInfo& pod, std::string_view node_name,
               Cancellation& cancellation, AsyncDone done) override;

  ByNode PreviewClaims(const PodInfo& pod) const override;

  std::vector<ClusterEventWithHint> EventsToRegister() const override;

 private:
  Status Verdict(const NodeVerdict& verdict, const CycleState& state) const;
  // What is to be scored; nullptr: the pod scores 0 everywhere.
  const PodClaims* ToScore(const CycleState& state) const;

  Handle& handle_;
  const Duration bind_timeout_;
  CalledPoints called_;
  // nullopt: the gate StorageCapacityScoring is off.
  std::optional<BrokenLinearFunction> shape_;
  // By the reasons' bits.
  std::array<Status, volume_reason::kAll + 1> rejections_;
  Status unbound_immediate_;
};

}  // namespace berth::plugins
