// SPDX-License-Identifier: Apache-2.0
#include "src/what_if/fill.h"

#include <algorithm>
#include <vector>

#include "src/what_if/replicas.h"

namespace berth::what_if {
namespace {

using informers::Kind;

// Copies that are created together; the last of these batches has those that do not fit.
constexpr size_t kBatch = 256;

std::string NewName(const api::Pod& pod, size_t& next, const simulator::Simulation& simulation) {
  while (true) {
    std::string name = pod.metadata.name + "-fill-" + std::to_string(++next);
    if (simulation.FindPod(api::NamespacedKey(pod.metadata.namespace_, name)) == nullptr)
      return name;
  }
}

// Without what preemption says, which has nothing to say about a pod that may not preempt.
std::string WhyNot(const PodPtr& pod, simulator::Simulation& simulation) {
  const auto judgement = simulation.scheduler().Judge(pod);
  judgement->Explain();
  return judgement->message().empty() ? WhyPending(*pod) : judgement->message();
}

void SetMissingRequests(std::vector<api::Container>& containers) {
  for (api::Container& container : containers) {
    api::ResourceList& requests = container.resources.requests;
    for (const auto& limit : container.resources.limits) {
      if (api::Find(requests, limit.first) == nullptr) requests.push_back(limit);
    }
    std::ranges::sort(requests, {}, &api::ResourceList::value_type::first);
  }
}

}  // namespace

PodPtr WithDefaults(const api::Pod& pod) {
  auto defaulted = std::make_shared<api::Pod>(pod);
  SetMissingRequests(defaulted->spec.containers);
  SetMissingRequests(defaulted->spec.init_containers);
  return defaulted;
}

Filled Fill(const PodPtr& pod, simulator::Simulation& simulation, size_t most) {
  Filled filled;
  api::Pod meek = *pod;
  meek.spec.preemption_policy = "Never";
  size_t next = 0;
  for (size_t batch = 1; filled.pods < most; batch = std::min(batch * 2, kBatch)) {
    std::vector<std::string> keys;
    for (size_t i = std::min(batch, most - filled.pods); i > 0; --i) {
      PodPtr copy = PendingCopy(meek, NewName(meek, next, simulation));
      keys.push_back(copy->metadata.Key());
      simulation.Apply(std::move(copy));
    }
    Settle(simulation);
    bool all = true;
    for (const std::string& key : keys) {
      const auto copy = simulation.FindPod(key);
      if (copy != nullptr && !copy->spec.node_name.empty()) {
        ++filled.pods;
        ++filled.by_node[copy->spec.node_name];
        filled.keys.insert(key);
        continue;
      }
      if (all && copy != nullptr) filled.stopped_by = WhyNot(copy, simulation);
      all = false;
      simulation.Delete(Kind::kPod, key);
    }
    simulation.RunDue();
    if (!all) break;
  }
  return filled;
}

}  // namespace berth::what_if
