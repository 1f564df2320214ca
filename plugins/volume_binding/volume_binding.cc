// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/volume_binding.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "plugins/volume_binding/assumed_pod_volumes.h"
#include "plugins/volume_binding/bind_run.h"
#include "plugins/volume_binding/pod_claims.h"
#include "plugins/volume_binding/preview_claims.h"
#include "plugins/volume_binding/queueing_hints.h"
#include "plugins/volume_binding/stage_errors.h"
#include "plugins/volume_binding/volume_score.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kNoPreFilter = VolumeBinding::kFilterWithoutPreFilter;
constexpr std::string_view kUnboundImmediate = "pod has unbound immediate PersistentVolumeClaims";

// What PreFilter found; good for the running cycle.
struct PreFilterState {
  std::shared_ptr<const PodClaims> claims;
};

// What Reserve gave the pod; where the profile does not call it, what the node would give.
struct ReserveState {
  std::shared_ptr<AssumedPodVolumes> volumes;
};

}  // namespace

VolumeBinding::VolumeBinding(const VolumeBindingArgs& args, Handle& handle)
    : handle_(handle),
      bind_timeout_(args.bind_timeout),
      unbound_immediate_(
          handle.reasons().Make(Code::kUnschedulableAndUnresolvable, kUnboundImmediate)) {
  if (handle.features().storage_capacity_scoring) shape_.emplace(args.shape);
  for (uint32_t bits = 1; bits < rejections_.size(); ++bits) {
    rejections_[bits] = handle.reasons().Make(Code::kUnschedulableAndUnresolvable, ReasonsOf(bits));
  }
}

Inputs VolumeBinding::DeclaredInputs() const { return Inputs::EachPod(); }

PreFilterResult VolumeBinding::PreFilter(CycleState& state, const PodInfo& pod, const Snapshot&) {
  if (!HasClaims(*pod.pod)) return {.status = Status::Skip()};
  if (const auto problem = FindClaimProblem(*pod.pod, handle_.listers())) {
    return {.status = state.reasons().Make(Code::kUnschedulableAndUnresolvable, *problem)};
  }
  auto claims = FindPodClaims(*pod.pod, handle_);
  if (!claims) return {.status = state.reasons().Error(claims.error().message)};
  if (claims->has_unbound_immediate) return {.status = unbound_immediate_};
  state.Write(PreFilterState{std::make_shared<const PodClaims>(*std::move(claims))});
  return {};
}

Status VolumeBinding::Verdict(const NodeVerdict& verdict, const CycleState& state) const {
  if (verdict.error.empty()) return rejections_[verdict.reasons];
  CountStageError(handle_, "predicate");
  return state.reasons().Error(verdict.error);
}

Status VolumeBinding::Filter(const CycleState& state, const PodInfo&, const NodeView& node) const {
  const PodClaims& claims = *state.Read<PreFilterState>().claims;
  return Verdict(FindNodeVolumes(claims, node.node(), handle_.listers(), nullptr), state);
}

// Volumes that are there, and that migration makes no difference to, are looked at for all nodes at
// once.
Status VolumeBinding::FilterNodes(const CycleState& state, const PodInfo&, const Snapshot& snapshot,
                                  NodeSet& nodes) const {
  const PodClaims& claims = *state.Read<PreFilterState>().claims;
  const bool only_affinities =
      claims.delayed.empty() && std::ranges::all_of(claims.bound, [](const BoundClaim& bound) {
        return bound.volume != nullptr && bound.migrated == nullptr;
      });
  if (only_affinities) {
    for (const BoundClaim& bound : claims.bound) bound.affinity.FilterNodes(snapshot, nodes);
    return {};
  }
  return FilterEach(nodes, [&](NodeRow row) {
    return Verdict(FindNodeVolumes(claims, snapshot.node(row), handle_.listers(), nullptr), state);
  });
}

const PodClaims* VolumeBinding::ToScore(const CycleState& state) const {
  const auto* found = state.Find<PreFilterState>();
  const bool any = shape_ && found != nullptr && !found->claims->delayed.empty();
  return any ? found->claims.get() : nullptr;
}

Status VolumeBinding::PreScore(CycleState& state, const PodInfo&, const Snapshot&, const NodeSet&) {
  return ToScore(state) == nullptr ? Status::Skip() : Status::Success();
}

ScoreResult VolumeBinding::Score(const CycleState& state, const PodInfo& pod,
                                 const NodeView& node) const {
  const NodeRow row = node.row();
  ScoreResult result;
  ScoreNodes(state, pod, node.snapshot(), {&row, 1}, {&result.score, 1});
  return result;
}

void VolumeBinding::ScoreNodes(const CycleState& state, const PodInfo&, const Snapshot& snapshot,
                               std::span<const NodeRow> nodes, std::span<int64_t> scores) const {
  std::ranges::fill(scores, 0);
  const PodClaims* claims = ToScore(state);
  if (claims == nullptr || !called_.filter) return;
  NodeVolumes volumes;
  VolumeScorer scorer(*shape_);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const api::Node& node = snapshot.node(nodes[i]);
    if (!FindNodeVolumes(*claims, node, handle_.listers(), &volumes).ok()) continue;
    scores[i] = scorer.Score(volumes);
  }
}

Status VolumeBinding::Reserve(CycleState& state, const PodInfo&, std::string_view node_name) {
  if (!called_.pre_filter) return state.reasons().Error(kNoPreFilter);
  const auto* found = state.Find<PreFilterState>();
  if (found == nullptr || !called_.filter || found->claims->delayed.empty()) return {};
  const Snapshot& snapshot = handle_.snapshot();
  const NodeRow row = snapshot.FindNode(node_name);
  if (row == kNoRow) {
    return state.reasons().Error("node \"" + std::string(node_name) + "\" not found");
  }
  NodeVolumes volumes;
  const NodeVerdict verdict =
      FindNodeVolumes(*found->claims, snapshot.node(row), handle_.listers(), &volumes);
  if (!verdict.ok()) return Verdict(verdict, state);
  auto assumed = AssumePodVolumes(volumes, node_name, handle_);
  if (!assumed) {
    CountStageError(handle_, "assume");
    return state.reasons().Error(assumed.error().message);
  }
  state.Write(ReserveState{*std::move(assumed)});
  // The pod may be on its way for long, and nothing asks for these any more.
  state.Mutable<PreFilterState>().claims.reset();
  return {};
}

void VolumeBinding::Unreserve(CycleState& state, const PodInfo&, std::string_view) {
  auto* reserved = state.Find<ReserveState>();
  if (reserved == nullptr || reserved->volumes == nullptr) return;
  RevertAssumed(*reserved->volumes, handle_.assumed_volumes());
  reserved->volumes.reset();
}

Status VolumeBinding::PreBindPreFlight(CycleState& state, const PodInfo&,
                                       std::string_view node_name) {
  if (state.Find<ReserveState>() != nullptr) return Status::Success();
  if (!called_.pre_filter) return state.reasons().Error(kNoPreFilter);
  if (called_.reserve) return Status::Skip();
  const auto* found = state.Find<PreFilterState>();
  const NodeRow row = handle_.snapshot().FindNode(node_name);
  if (found == nullptr || !called_.filter || row == kNoRow) {
    return state.reasons().Error("no pod volume found for node \"" + std::string(node_name) + "\"");
  }
  NodeVolumes volumes;
  const NodeVerdict verdict =
      FindNodeVolumes(*found->claims, handle_.snapshot().node(row), handle_.listers(), &volumes);
  if (!verdict.ok()) return Verdict(verdict, state);
  state.Write(ReserveState{UnassumedPodVolumes(volumes, node_name)});
  state.Mutable<PreFilterState>().claims.reset();
  return Status::Success();
}

void VolumeBinding::PreBind(CycleState& state, const PodInfo& pod, std::string_view,
                            Cancellation& cancellation, AsyncDone done) {
  const auto run = std::make_shared<BindRun>(state.Read<ReserveState>().volumes, pod.pod,
                                             bind_timeout_, handle_, cancellation, std::move(done));
  run->Start();
}

ClaimPreviewPlugin::ByNode VolumeBinding::PreviewClaims(const PodInfo& pod) const {
  return plugins::PreviewClaims(*pod.pod, handle_);
}

std::vector<ClusterEventWithHint> VolumeBinding::EventsToRegister() const {
  return VolumeBindingEvents();
}

}  // namespace berth::plugins
