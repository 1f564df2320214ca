// SPDX-License-Identifier: Apache-2.0
#include "src/metrics/pod_resources.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "berth/resources.h"
#include "src/metrics/exposition.h"

namespace berth::metrics {
namespace {

std::string_view UnitOf(std::string_view resource) {
  if (resource == "cpu") return "cores";
  if (resource == "memory" || resource == "storage" || resource == "ephemeral-storage" ||
      resource.starts_with("hugepages-")) {
    return "bytes";
  }
  return resource.starts_with("attachable-volumes-") ? "integer" : "";
}

// As Go has it: a whole number of the largest of these units, times the unit.
double ToDouble(const api::Quantity& quantity) {
  struct Unit {
    int64_t nanos;
    double value;
  };
  constexpr Unit kUnits[] = {{1'000'000'000, 1}, {1'000'000, 1e-3}, {1'000, 1e-6}, {1, 1e-9}};
  const Unit& unit = *std::ranges::find_if(
      kUnits, [&](const Unit& one) { return quantity.nanos() % one.nanos == 0; });
  const auto units = quantity.nanos() / unit.nanos;
  return static_cast<double>(units) * unit.value;
}

bool HasEnded(const api::Pod& pod) {
  return !pod.spec.node_name.empty() &&
         (pod.status.phase == "Succeeded" || pod.status.phase == "Failed");
}

// Labels are sorted by their names, and so are the samples by the values.
void WritePod(PageWriter& page, const api::Pod& pod, const api::ResourceList& amounts) {
  const std::string priority = pod.spec.priority ? std::to_string(*pod.spec.priority) : "";
  for (const auto& [resource, amount] : amounts) {
    if (amount.IsZero()) continue;
    const std::array<Label, 7> labels = {{{"namespace", pod.metadata.namespace_},
                                          {"node", pod.spec.node_name},
                                          {"pod", pod.metadata.name},
                                          {"priority", priority},
                                          {"resource", resource},
                                          {"scheduler", pod.spec.scheduler_name},
                                          {"unit", UnitOf(resource)}}};
    page.WriteGauge(labels, ToDouble(amount));
  }
}

}  // namespace

std::string PodResourcesExposition(std::span<const std::shared_ptr<const api::Pod>> pods,
                                   const Registry& registry, Format format) {
  std::vector<const api::Pod*> sorted;
  for (const auto& pod : pods) {
    if (!HasEnded(*pod)) sorted.push_back(pod.get());
  }
  std::sort(sorted.begin(), sorted.end(), [](const api::Pod* a, const api::Pod* b) {
    return std::tie(a->metadata.namespace_, a->spec.node_name, a->metadata.name) <
           std::tie(b->metadata.namespace_, b->spec.node_name, b->metadata.name);
  });
  PageWriter page(format);
  // By name: limit before request.
  for (const Metric metric : {Metric::kPodResourceLimit, Metric::kPodResourceRequest}) {
    if (!registry.Shows(metric)) continue;
    const MetricSpec& spec = SpecOf(metric);
    page.Begin(spec.name, spec.type, AnnotatedHelp(spec));
    for (const api::Pod* pod : sorted) {
      WritePod(page, *pod,
               metric == Metric::kPodResourceLimit ? PodLimits(*pod) : PodRequests(*pod, {}));
    }
  }
  return page.Finish();
}

}  // namespace berth::metrics
