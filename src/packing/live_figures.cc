// SPDX-License-Identifier: Apache-2.0
#include "src/packing/live_figures.h"

#include <utility>
#include <vector>

#include "src/metrics/local_metrics.h"

namespace berth::packing {
namespace {

using metrics::Metric;
using Samples = std::vector<metrics::Registry::Sample>;

// Metrics are in base units: cores, not thousandths of them.
double InBaseUnits(std::string_view resource, int64_t amount) {
  return static_cast<double>(amount) / (resource == "cpu" ? 1000 : 1);
}

void ShowNodes(const Figures& figures, metrics::Registry& registry) {
  Samples nodes;
  Samples lower_bounds;
  Samples gangs;
  for (const PoolFigures& pool : figures.pools) {
    nodes.push_back({{pool.name, "open"}, static_cast<double>(pool.open_nodes)});
    nodes.push_back({{pool.name, "closed"}, static_cast<double>(pool.closed_nodes)});
    nodes.push_back({{pool.name, "used"}, static_cast<double>(pool.used_nodes)});
    lower_bounds.push_back({{pool.name}, static_cast<double>(pool.lower_bound)});
    if (!pool.typical_pod.empty()) {
      gangs.push_back({{pool.name}, static_cast<double>(pool.largest_gang)});
    }
  }
  registry.Replace(Metric::kPackingNodes, std::move(nodes));
  registry.Replace(Metric::kPackingNodesLowerBound, std::move(lower_bounds));
  registry.Replace(Metric::kPackingLargestGang, std::move(gangs));
}

void ShowResources(const Figures& figures, metrics::Registry& registry) {
  constexpr std::pair<Metric, int64_t ResourceFigures::*> kGauges[] = {
      {Metric::kPackingAllocatable, &ResourceFigures::allocatable},
      {Metric::kPackingRequested, &ResourceFigures::requested},
      {Metric::kPackingStranded, &ResourceFigures::stranded},
      {Metric::kPackingLargestFree, &ResourceFigures::largest_free},
  };
  for (const auto& [metric, member] : kGauges) {
    Samples samples;
    for (const PoolFigures& pool : figures.pools) {
      for (const ResourceFigures& of : pool.resources) {
        samples.push_back({{pool.name, of.resource}, InBaseUnits(of.resource, of.*member)});
      }
    }
    registry.Replace(metric, std::move(samples));
  }
  Samples largest;
  for (const PoolFigures& pool : figures.pools) {
    if (!pool.largest_pod) continue;
    largest.push_back({{pool.name, "cpu"}, InBaseUnits("cpu", pool.largest_pod->milli_cpu)});
    largest.push_back({{pool.name, "memory"}, static_cast<double>(pool.largest_pod->memory)});
  }
  registry.Replace(Metric::kPackingLargestPod, std::move(largest));
}

}  // namespace

void Show(const Figures& figures, metrics::Registry& registry) {
  ShowNodes(figures, registry);
  ShowResources(figures, registry);
  Samples overcommitted;
  for (const auto& [resource, nodes] : figures.overcommitted) {
    overcommitted.push_back({{resource}, static_cast<double>(nodes)});
  }
  registry.Replace(Metric::kOvercommittedNodes, std::move(overcommitted));
}

LiveFigures::LiveFigures(const Clock& clock, metrics::Registry& registry)
    : clock_(clock),
      metrics_(registry),
      surveys_(registry.Intern(Metric::kPackingSurveys)),
      slice_duration_(registry.Intern(Metric::kPackingSliceDuration)) {}

Time LiveFigures::Work(const cache::Cache& cache, const scheduler::PodStore& pending, Time now) {
  const Time began = clock_.Now();
  const bool done = GoOn(cache, pending, began);
  metrics_.Observe(slice_duration_, metrics::Seconds(clock_.Now() - began));
  if (!done) return now;
  metrics_.Add(surveys_);
  return began_ + kInterval;
}

bool LiveFigures::GoOn(const cache::Cache& cache, const scheduler::PodStore& pending, Time began) {
  if (figures_) {
    Show(*figures_, metrics_);
    figures_.reset();
    return true;
  }
  if (!survey_) {
    survey_.emplace();
    began_ = began;
  }
  do {
    if (!survey_->Step(cache, pending)) {
      figures_ = survey_->Take();
      survey_.reset();
      break;
    }
  } while (clock_.Now() - began < kSlice);
  return false;
}

}  // namespace berth::packing
