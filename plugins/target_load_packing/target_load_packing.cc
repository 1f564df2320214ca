// SPDX-License-Identifier: Apache-2.0
#include "plugins/target_load_packing/target_load_packing.h"

#include <cmath>

#include "berth/saturating.h"
#include "plugins/shared/measured_load.h"

namespace berth::plugins {
namespace {

// Halves away from zero.
int64_t RoundedUse(double milli_cpu) {
  constexpr double kBeyond = 0x1.0p63;
  return milli_cpu >= kBeyond ? kMostAmount : static_cast<int64_t>(std::round(milli_cpu));
}

// Rises from the target at no use to 100 at the target, where it falls to the target, and from
// there to 0 at full use.
double PackingScore(double use, double target) {
  if (use > 100) return 0;
  if (use > target) return target * (100 - use) / (100 - target);
  return (100 - target) * use / target + target;
}

}  // namespace

TargetLoadPacking::TargetLoadPacking(const TargetLoadPackingArgs& args, Handle& handle)
    : args_(args), measured_(handle.WatchNodeMetrics(args.source)) {}

Inputs TargetLoadPacking::DeclaredInputs() const {
  return Inputs::Of(pod_part::kRequests | pod_part::kLimits,
                    {{Reach::kNode}, {Reach::kUsage}, {Reach::kMeasured}});
}

int64_t TargetLoadPacking::ExpectedUse(const api::Pod& pod) const {
  int64_t sum = 0;
  for (const api::Container& container : pod.spec.containers) {
    int64_t use = args_.default_milli_cpu;
    if (const api::Quantity* limit = api::Find(container.resources.limits, "cpu")) {
      use = limit->MilliValue();
    } else if (const api::Quantity* request = api::Find(container.resources.requests, "cpu")) {
      use = RoundedUse(static_cast<double>(request->MilliValue()) * args_.requests_multiplier);
    }
    sum = SumSaturated(sum, use);
  }
  if (const api::Quantity* overhead = api::Find(pod.spec.overhead, "cpu")) {
    sum = SumSaturated(sum, overhead->MilliValue());
  }
  return sum;
}

int64_t TargetLoadPacking::ScoreOf(int64_t expected_use, const Snapshot& snapshot,
                                   NodeRow row) const {
  const api::Node& node = snapshot.node(row);
  const NodeMetrics* measured = measured_.FindOnRow(row, node.metadata.name);
  if (measured == nullptr || !measured->cpu.last) return kMinNodeScore;
  const api::Quantity* cpu = api::Find(node.status.capacity, "cpu");
  const double capacity = cpu == nullptr ? 0 : static_cast<double>(cpu->MilliValue());
  int64_t unmeasured = 0;
  for (const auto& placed : measured_.UnmeasuredPods(node.metadata.name)) {
    unmeasured = SumSaturated(unmeasured, ExpectedUse(*placed));
  }
  double use = 0;
  if (capacity != 0) {
    use = 100 *
          (*measured->cpu.last / 100 * capacity + static_cast<double>(expected_use) +
           static_cast<double>(unmeasured)) /
          capacity;
  }
  return RoundedScore(PackingScore(use, static_cast<double>(args_.target_utilization)));
}

ScoreResult TargetLoadPacking::Score(const CycleState&, const PodInfo& pod,
                                     const NodeView& node) const {
  return {ScoreOf(ExpectedUse(*pod.pod), node.snapshot(), node.row())};
}

void TargetLoadPacking::ScoreNodes(const CycleState&, const PodInfo& pod, const Snapshot& snapshot,
                                   std::span<const NodeRow> nodes,
                                   std::span<int64_t> scores) const {
  const int64_t expected_use = ExpectedUse(*pod.pod);
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = ScoreOf(expected_use, snapshot, nodes[i]);
  }
}

}  // namespace berth::plugins
