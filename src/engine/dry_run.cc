// SPDX-License-Identifier: Apache-2.0
#include "src/engine/dry_run.h"

#include <algorithm>

namespace berth::engine {
namespace {

// Whether pods on nodes are nothing to the filter.
bool ReadsOnlyTheNode(const framework::FilterEntry& entry) {
  const Inputs& inputs = entry.instance->inputs;
  return inputs.declared &&
         std::all_of(inputs.inputs.begin(), inputs.inputs.end(), [](const Input& input) {
           return input.reach == Reach::kNode || input.reach == Reach::kMeasured;
         });
}

}  // namespace

PreemptionDryRun::PreemptionDryRun(const framework::Profile& profile, const framework::Cycle& cycle,
                                   const PodInfo& pod, ClusterState cluster)
    : profile_(profile),
      cycle_(cycle),
      pod_(pod),
      cluster_(cluster),
      extensions_(framework::HasPreFilterExtensions(profile, cycle)) {
  for (const framework::FilterEntry& entry : profile_.plugins().filter) {
    if (!cycle_.skip_filter.test(entry.index)) filters_.push_back(&entry);
  }
}

void PreemptionDryRun::FindFixedFilters() {
  passed_fixed_ = cluster_.snapshot.nodes();
  for (const framework::FilterEntry* entry : filters_) {
    // A filter that fails is asked again for each node, and answers for itself there.
    const bool fixed =
        entry->column != nullptr && ReadsOnlyTheNode(*entry) &&
        framework::RunFilterNodes(*entry, cycle_.state, pod_, cluster_.snapshot, passed_fixed_)
            .ok();
    if (!fixed) changing_filters_.push_back(entry);
  }
}

void PreemptionDryRun::Begin(NodeRow row) {
  if (num_begun_++ == framework::kFewNodes) FindFixedFilters();
  row_ = row;
  nominated_ = NominatedPodsOn(row, pod_, cluster_);
  overlay_.Clear();
  imagined_.reset();
  if (extensions_) imagined_ = cycle_.state.Clone();
}

Status PreemptionDryRun::RemovePod(const PodInfo& pod, NodeRow row) {
  if (row == row_) overlay_.RemovePod(pod);
  if (!extensions_) return Status::Success();
  return Keep(framework::RunRemovePod(profile_, cycle_, *imagined_, pod_, pod, View(row)));
}

Status PreemptionDryRun::AddPod(const PodInfo& pod, NodeRow row) {
  if (row == row_) overlay_.AddPod(pod);
  if (!extensions_) return Status::Success();
  return Keep(framework::RunAddPod(profile_, cycle_, *imagined_, pod_, pod, View(row)));
}

Status PreemptionDryRun::Filter() {
  if (!nominated_.empty()) {
    const Status status = FilterWithNominatedPods(nominated_);
    if (!status.ok()) return status;
  }
  const Status status = RunFilters(state(), NodeView(cluster_.snapshot, row_, &overlay_));
  return imagined_ ? Keep(status) : status;
}

Status PreemptionDryRun::FilterWithNominatedPods(const std::vector<const PodInfo*>& nominated) {
  Overlay overlay = overlay_;
  std::optional<CycleState> with;
  if (extensions_) with = state().Clone();
  if (const Status status = ImagineNominated(profile_, cycle_, pod_, cluster_.snapshot, row_,
                                             nominated, with ? &*with : nullptr, overlay);
      !status.ok()) {
    return Keep(status);
  }
  const NodeView node(cluster_.snapshot, row_, &overlay);
  const Status status = RunFilters(with ? *with : state(), node);
  return with ? Keep(status) : status;
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
