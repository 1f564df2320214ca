// SPDX-License-Identifier: Apache-2.0
#include "src/engine/dry_run.h"

#include <algorithm>

namespace berth::engine {
namespace {

// Whether pods on nodes are nothing to the filter.
bool ReadsOnlyTheNode(const framework::FilterEntry& entry) {
  const Inputs& inputs = entry.instance->inputs;
  return inputs.declared &&
         std::all_of(inputs.inputs.begin(), inputs.inputs.end(),
                     [](const Input& input) { return input.reach == Reach::kNode; });
}

}  // namespace

PreemptionDryRun::PreemptionDryRun(const framework::Profile& profile, const framework::Cycle& cycle,
                                   const PodInfo& pod, World world)
    : profile_(profile),
      cycle_(cycle),
      pod_(pod),
      world_(world),
      extensions_(framework::HasPreFilterExtensions(profile, cycle)),
      passed_fixed_(world.snapshot.nodes()) {
  world_.nominated.ForEach([&](std::string_view node_name, const PodInfo& nominated) {
    if (!world_.nominated.Counts(pod_, nominated)) return;
    const NodeRow row = world_.snapshot.FindNode(node_name);
    if (row != kNoRow) nominated_[row].push_back(&nominated);
  });
  FindFixedFilters();
}

void PreemptionDryRun::FindFixedFilters() {
  for (const framework::FilterEntry& entry : profile_.plugins().filter) {
    if (cycle_.skip_filter.test(entry.index)) continue;
    filters_.push_back(&entry);
    // A filter that fails is asked again for each node, and answers for itself there.
    const bool fixed =
        entry.column != nullptr && ReadsOnlyTheNode(entry) &&
        framework::RunFilterNodes(entry, cycle_.state, pod_, world_.snapshot, passed_fixed_).ok();
    if (!fixed) changing_filters_.push_back(&entry);
  }
}

void PreemptionDryRun::Begin(NodeRow row) {
  row_ = row;
  overlay_.Clear();
  imagined_.reset();
  if (extensions_) imagined_ = cycle_.state.Clone();
}

Status PreemptionDryRun::RemovePod(const PodInfo& pod) {
  overlay_.RemovePod(pod);
  if (!extensions_) return Status::Success();
  return Keep(framework::RunRemovePod(profile_, cycle_, *imagined_, pod_, pod,
                                      NodeView(world_.snapshot, row_, &overlay_)));
}

Status PreemptionDryRun::AddPod(const PodInfo& pod) {
  overlay_.AddPod(pod);
  if (!extensions_) return Status::Success();
  return Keep(framework::RunAddPod(profile_, cycle_, *imagined_, pod_, pod,
                                   NodeView(world_.snapshot, row_, &overlay_)));
}

Status PreemptionDryRun::Filter() {
  if (!nominated_.empty()) {
    if (const auto it = nominated_.find(row_); it != nominated_.end()) {
      const Status status = FilterWithNominatedPods(it->second);
      if (!status.ok()) return status;
    }
  }
  const Status status = RunFilters(state(), NodeView(world_.snapshot, row_, &overlay_));
  return imagined_ ? Keep(status) : status;
}

Status PreemptionDryRun::FilterWithNominatedPods(const std::vector<const PodInfo*>& nominated) {
  CycleState with = state().Clone();
  Overlay overlay = overlay_;
  const NodeView node(world_.snapshot, row_, &overlay);
  for (const PodInfo* pod : nominated) {
    overlay.AddPod(*pod);
    const Status status = framework::RunAddPod(profile_, cycle_, with, pod_, *pod, node);
    if (!status.ok()) return Keep(status);
  }
  return Keep(RunFilters(with, node));
}

Status PreemptionDryRun::RunFilters(const CycleState& state, const NodeView& node) const {
  const auto& filters = passed_fixed_.Test(row_) ? changing_filters_ : filters_;
  for (const framework::FilterEntry* entry : filters) {
    Status status = framework::RunFilterPlugin(*entry, state, pod_, node);
    if (!status.ok()) return status;
  }
  return Status::Success();
}

Status PreemptionDryRun::Keep(const Status& status) const {
  if (status.ok()) return status;
  return Status(status.code(), cycle_.state.reasons().Intern(status.reasons()));
}

}  // namespace berth::engine
