// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/measured_load.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "berth/in_tree/points.h"
#include "berth/saturating.h"

namespace berth::plugins {
namespace {

constexpr double kMebi = 1.0 / 1024 / 1024;

constexpr std::string_view kCpuAmount = "cpu";
constexpr std::string_view kMemoryAmount = "memory";

// One look at each entry: it is asked about each pod of a node, for each new one.
PodAmounts AmountsOf(const api::ResourceList& list) {
  PodAmounts amounts;
  for (const auto& [name, quantity] : list) {
    if (name == kCpuAmount) {
      amounts.milli_cpu = quantity.MilliValue();
    } else if (name == kMemoryAmount) {
      amounts.memory = quantity.Value();
    }
  }
  return amounts;
}

template <typename List>
PodAmounts SumAmounts(const api::Pod& pod, const List& list_of) {
  PodAmounts sum;
  const auto add = [&sum](const PodAmounts& more) {
    sum.milli_cpu = SumSaturated(sum.milli_cpu, more.milli_cpu);
    sum.memory = SumSaturated(sum.memory, more.memory);
  };
  for (const api::Container& container : pod.spec.containers) {
    add(AmountsOf(list_of(container.resources)));
  }
  for (const api::Container& container : pod.spec.init_containers) {
    const PodAmounts amounts = AmountsOf(list_of(container.resources));
    sum.milli_cpu = std::max(sum.milli_cpu, amounts.milli_cpu);
    sum.memory = std::max(sum.memory, amounts.memory);
  }
  add(AmountsOf(pod.spec.overhead));
  return sum;
}

MeasuredLoad LoadOf(const MeasuredResource& measured, double capacity) {
  return {capacity, measured.average * capacity / 100, measured.deviation * capacity / 100};
}

double WithinOne(double share) { return std::max(std::min(share, 1.0), 0.0); }

}  // namespace

PodAmounts TrimaranRequests(const api::Pod& pod) {
  return SumAmounts(pod,
                    [](const api::ResourceRequirements& resources) -> const api::ResourceList& {
                      return resources.requests;
                    });
}

PodAmounts TrimaranLimits(const api::Pod& pod) {
  return SumAmounts(pod,
                    [](const api::ResourceRequirements& resources) -> const api::ResourceList& {
                      return resources.limits;
                    });
}

MeasuredLoad MeasuredCpu(const MeasuredResource& measured, int64_t allocatable) {
  return LoadOf(measured, static_cast<double>(allocatable));
}

MeasuredLoad MeasuredMemory(const MeasuredResource& measured, int64_t allocatable) {
  return LoadOf(measured, InMebibytes(allocatable));
}

LoadShare LoadShareOf(const MeasuredLoad& load, double more) {
  if (load.capacity <= 0) return {};
  return {WithinOne((load.average + more) / load.capacity),
          WithinOne(load.deviation / load.capacity)};
}

double InMebibytes(int64_t bytes) { return static_cast<double>(bytes) * kMebi; }

int64_t RoundedScore(double score) {
  if (!(score > static_cast<double>(kMinNodeScore))) return kMinNodeScore;
  if (score >= static_cast<double>(kMaxNodeScore)) return kMaxNodeScore;
  return static_cast<int64_t>(std::round(score));
}

}  // namespace berth::plugins
