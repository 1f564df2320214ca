// SPDX-License-Identifier: Apache-2.0
#include "src/what_if/node_changes.h"

#include <algorithm>
#include <utility>

#include "berth/label_selector.h"
#include "src/fixes/apply.h"

namespace berth::what_if {
namespace {

using informers::Kind;
using simulator::Simulation;

Error NoNode(std::string_view name) { return {"the cluster has no node " + std::string(name)}; }

bool IsReady(const api::Pod& pod) {
  return std::ranges::any_of(pod.status.conditions, [](const api::PodCondition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
}

bool HasEmptyDir(const api::Pod& pod) {
  return std::ranges::any_of(
      pod.spec.volumes, [](const api::Volume& volume) { return volume.empty_dir.has_value(); });
}

// What the API server says to an eviction.
enum class Leave {
  kRefused,
  kCounted,  // the budget allows one less
  kFree,     // it disrupts nothing that a budget protects
};

// How many evictions each budget allows, as its status says at first.
class Budgets {
 public:
  explicit Budgets(const Simulation& simulation) {
    simulation.api().ForEach(Kind::kPodDisruptionBudget, [this](const api::ObjectPtr& object) {
      const auto& budget = *api::As<api::PodDisruptionBudget>(object);
      const auto selector = LabelSelectorMatcher::Make(budget.spec.selector);
      if (!selector) return;
      budgets_.push_back(
          {.namespace_ = budget.metadata.namespace_,
           .key = budget.metadata.Key(),
           .selector = *selector,
           .always_unhealthy = budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow",
           .allowed = budget.status.disruptions_allowed,
           .healthy = budget.status.current_healthy,
           .desired = budget.status.desired_healthy});
    });
  }

  // Those that select the pod.
  std::vector<std::string> Of(const api::Pod& pod) const {
    std::vector<std::string> names;
    for (const Budget& budget : budgets_) {
      if (Selects(budget, pod)) names.push_back(budget.key);
    }
    return names;
  }
  Leave Ask(const api::Pod& pod) const {
    if (pod.status.phase == "Pending" || pod.metadata.deletion_timestamp) return Leave::kFree;
    const Budget* only = nullptr;
    for (const Budget& budget : budgets_) {
      if (!Selects(budget, pod)) continue;
      if (only != nullptr) return Leave::kRefused;
      only = &budget;
    }
    if (only == nullptr) return Leave::kFree;
    const bool healthy = only->desired > 0 && only->healthy >= only->desired;
    if (!IsReady(pod) && (only->always_unhealthy || healthy)) return Leave::kFree;
    return only->allowed > 0 ? Leave::kCounted : Leave::kRefused;
  }
  // `by`: -1 where a pod goes, 1 where its successor runs.
  void Count(const api::Pod& pod, int by) {
    for (Budget& budget : budgets_) {
      if (!Selects(budget, pod)) continue;
      budget.allowed += by;
      if (IsReady(pod)) budget.healthy += by;
    }
  }

 private:
  struct Budget {
    std::string namespace_;
    std::string key;
    LabelSelectorMatcher selector;
    bool always_unhealthy = false;  // those that are not ready may always go
    int64_t allowed = 0;
    int64_t healthy = 0;
    int64_t desired = 0;
  };
  static bool Selects(const Budget& budget, const api::Pod& pod) {
    return budget.namespace_ == pod.metadata.namespace_ &&
           budget.selector.Matches(pod.metadata.labels);
  }

  std::vector<Budget> budgets_;
};

// The pod goes and, where a controller has it, comes back; whether it has a node then.
bool Evict(const api::Pod& pod, Simulation& simulation) {
  simulation.Delete(Kind::kPod, pod.metadata.Key());
  if (ComesBack(pod)) simulation.Apply(PendingCopy(pod, pod.metadata.name));
  Settle(simulation);
  const auto successor = simulation.FindPod(pod.metadata.Key());
  return successor != nullptr && !successor->spec.node_name.empty();
}

void Cordon(const api::Node& node, Simulation& simulation) {
  auto cordoned = std::make_shared<api::Node>(node);
  cordoned->spec.unschedulable = true;
  simulation.Apply(std::shared_ptr<const api::Node>(std::move(cordoned)));
  simulation.RunDue();
}

}  // namespace

Result<void> AddNodes(size_t count, std::string_view like, Simulation& simulation) {
  for (size_t i = 0; i < count && !simulation.interrupted(); ++i) {
    auto delta = fixes::NodeLike(like, simulation.api());
    if (!delta) return Fail(NoNode(like));
    for (api::ObjectPtr& object : delta->put) simulation.Apply(std::move(object));
  }
  Settle(simulation);
  return {};
}

Result<void> RemoveNode(std::string_view name, Simulation& simulation) {
  const std::vector<PodPtr> pods = PodsOn(simulation, name);
  if (!simulation.Delete(Kind::kNode, name)) return Fail(NoNode(name));
  for (const PodPtr& pod : pods) simulation.Delete(Kind::kPod, pod->metadata.Key());
  for (const PodPtr& pod : pods) {
    if (ComesBack(*pod)) simulation.Apply(PendingCopy(*pod, pod->metadata.name));
  }
  Settle(simulation);
  return {};
}

Result<Drained> Drain(std::string_view name, Simulation& simulation) {
  const auto node = simulator::FindIn<api::Node>(simulation.api(), Kind::kNode, name);
  if (node == nullptr) return Fail(NoNode(name));
  Cordon(*node, simulation);
  Drained drained;
  drained.node = name;
  Budgets budgets(simulation);
  std::vector<PodPtr> left = PodsOn(simulation, name);
  std::erase_if(left, [](const PodPtr& pod) { return IsDaemon(*pod) || IsMirror(*pod); });
  for (size_t before = left.size() + 1; left.size() < before;) {
    before = left.size();
    std::erase_if(left, [&](const PodPtr& pod) {
      const Leave leave = budgets.Ask(*pod);
      if (leave == Leave::kRefused) return false;
      if (leave == Leave::kCounted) budgets.Count(*pod, -1);
      const bool placed = Evict(*pod, simulation);
      if (leave == Leave::kCounted && placed) budgets.Count(*pod, 1);
      if (HasEmptyDir(*pod)) drained.with_empty_dir.push_back(pod->metadata.Key());
      (!ComesBack(*pod) ? drained.unmanaged
       : placed         ? drained.moved
                        : drained.homeless)
          .push_back(pod->metadata.Key());
      return true;
    });
  }
  for (const PodPtr& pod : left) {
    drained.stopped.push_back({pod->metadata.Key(), budgets.Of(*pod)});
  }
  return drained;
}

}  // namespace berth::what_if
