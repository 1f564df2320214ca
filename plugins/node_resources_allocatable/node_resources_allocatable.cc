// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources_allocatable/node_resources_allocatable.h"

#include <algorithm>

#include "berth/resources.h"
#include "berth/saturating.h"

namespace berth::plugins {

NodeResourcesAllocatable::NodeResourcesAllocatable(const NodeResourcesAllocatableArgs& args,
                                                   Handle& handle)
    : sign_(args.mode == AllocatableMode::kLeast ? -1 : 1) {
  for (const ResourceSpec& spec : args.resources) {
    // Of a name that is no scheduling resource a node has nothing: its column is empty.
    resources_.push_back({handle.resource_names().Intern(spec.name), spec.weight});
    sum_of_weights_ += spec.weight;
  }
}

Inputs NodeResourcesAllocatable::DeclaredInputs() const { return Inputs::Of(0, {{Reach::kNode}}); }

// `allocatable(i)` is what the node has of resources_[i].
template <typename Allocatable>
int64_t NodeResourcesAllocatable::MeanOf(const Allocatable& allocatable) const {
  WideAmount sum = 0;
  for (size_t i = 0; i < resources_.size(); ++i) {
    sum += WideAmount{allocatable(i)} * resources_[i].weight;
  }
  return Saturated(sign_ * (sum / sum_of_weights_));
}

ScoreResult NodeResourcesAllocatable::Score(const CycleState&, const PodInfo&,
                                            const NodeView& node) const {
  return {MeanOf([&](size_t i) { return node.allocatable(resources_[i].id); })};
}

void NodeResourcesAllocatable::ScoreNodes(const CycleState&, const PodInfo&,
                                          const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                          std::span<int64_t> scores) const {
  std::vector<Column> columns;
  columns.reserve(resources_.size());
  for (const Weighted& resource : resources_) columns.push_back(snapshot.allocatable(resource.id));
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = MeanOf([&](size_t resource) { return columns[resource][nodes[i]]; });
  }
}

Status NodeResourcesAllocatable::NormalizeScore(const CycleState&, const PodInfo&,
                                                std::span<const NodeRow>,
                                                std::span<int64_t> scores) const {
  if (scores.empty()) return Status::Success();
  const auto [worst, best] = std::ranges::minmax(scores);
  const WideAmount range = WideAmount{best} - worst;
  for (int64_t& score : scores) {
    score = range == 0 ? kMinNodeScore
                       : static_cast<int64_t>((WideAmount{score} - worst) * kMaxNodeScore / range);
  }
  return Status::Success();
}

}  // namespace berth::plugins
