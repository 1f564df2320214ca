// SPDX-License-Identifier: Apache-2.0
#include "src/questions/replicas.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "src/base/text.h"
#include "src/simulator/report.h"

namespace berth::questions {

using informers::Kind;

void Reschedule(simulator::Simulation& simulation) {
  std::vector<PodPtr> pods;
  simulation.api().ForEach(Kind::kPod, [&](const api::ObjectPtr& object) {
    const auto& pod = std::get<PodPtr>(object);
    if (!pod->spec.node_name.empty() && ComesBack(*pod)) pods.push_back(pod);
  });
  std::ranges::stable_sort(pods, {}, [](const PodPtr& pod) {
    return pod->metadata.creation_timestamp.value_or(Time());
  });
  for (const PodPtr& pod : pods) simulation.Delete(Kind::kPod, pod->metadata.Key());
  for (const PodPtr& pod : pods) simulation.Apply(PendingCopy(*pod, pod->metadata.name));
  Settle(simulation);
}

void Settle(simulator::Simulation& simulation) {
  // Longer than anything may wait in a binding cycle.
  constexpr Duration kLimit = std::chrono::minutes(30);
  simulation.RunUntilQuiet(kLimit);
}

namespace {

using informers::Kind;
using simulator::Simulation;

// The number at the end of a StatefulSet's pod, or -1.
int64_t OrdinalOf(const api::Pod& pod) {
  const std::string& name = pod.metadata.name;
  const size_t dash = name.rfind('-');
  if (dash == std::string::npos) return -1;
  int64_t ordinal = -1;
  std::from_chars(name.data() + dash + 1, name.data() + name.size(), ordinal);
  return ordinal;
}

// What the ReplicaSet controller knows of a pod when it has too many.
struct PodRank {
  PodPtr pod;
  bool has_node = false;
  int phase = 0;
  bool ready = false;
  std::optional<Time> ready_since;
  int64_t deletion_cost = 0;
  int64_t beside = 0;  // how many of its like are on its node
};

int PhaseRank(const std::string& phase) {
  if (phase == "Running") return 2;
  return phase == "Unknown" ? 1 : 0;
}

PodRank RankOf(const PodPtr& pod, const std::map<std::string, int64_t>& by_node) {
  PodRank rank;
  rank.pod = pod;
  rank.has_node = !pod->spec.node_name.empty();
  rank.phase = PhaseRank(pod->status.phase);
  rank.deletion_cost = simulator::DeletionCostOf(*pod);
  if (rank.has_node) rank.beside = by_node.at(pod->spec.node_name);
  for (const api::PodCondition& condition : pod->status.conditions) {
    if (condition.type != "Ready" || condition.status != "True") continue;
    rank.ready = true;
    rank.ready_since = condition.last_transition_time;
  }
  return rank;
}

// The power of two of how many nanoseconds have passed; -1: none.
int AgeRank(Time since, Time now) {
  if (since >= now) return -1;
  return static_cast<int>(std::bit_width(static_cast<uint64_t>((now - since).count()))) - 1;
}

// Of two times that differ: whether the pod of the first goes before that of the second. What is
// not known counts as just now; within a power of two of their ages uids decide, as by chance.
bool IsYounger(const std::optional<Time>& a, const std::optional<Time>& b, const PodRank& of_a,
               const PodRank& of_b, Time now) {
  if (!a || !b) return !a;
  const int rank_a = AgeRank(*a, now);
  const int rank_b = AgeRank(*b, now);
  if (rank_a != rank_b) return rank_a < rank_b;
  return of_a.pod->metadata.uid < of_b.pod->metadata.uid;
}

// Whether the ReplicaSet controller takes the first before the second.
bool GoesBefore(const PodRank& a, const PodRank& b, Time now) {
  if (a.has_node != b.has_node) return !a.has_node;
  if (a.phase != b.phase) return a.phase < b.phase;
  if (a.ready != b.ready) return !a.ready;
  if (a.deletion_cost != b.deletion_cost) return a.deletion_cost < b.deletion_cost;
  if (a.beside != b.beside) return a.beside > b.beside;
  if (a.ready && a.ready_since != b.ready_since)
    return IsYounger(a.ready_since, b.ready_since, a, b, now);
  const auto& made_a = a.pod->metadata.creation_timestamp;
  const auto& made_b = b.pod->metadata.creation_timestamp;
  return made_a != made_b && IsYounger(made_a, made_b, a, b, now);
}

// In the order in which they stay.
std::vector<PodPtr> PodsOf(const Scale& scale, const Simulation& simulation) {
  std::vector<PodPtr> pods = simulator::PodsMadeBy(scale, simulation);
  std::map<std::string, int64_t> by_node;
  for (const PodPtr& pod : pods) ++by_node[pod->spec.node_name];
  if (scale.kind == "StatefulSet") {
    std::ranges::stable_sort(pods, {}, [](const PodPtr& pod) { return OrdinalOf(*pod); });
  } else {
    std::vector<PodRank> ranks;
    for (const PodPtr& pod : pods) ranks.push_back(RankOf(pod, by_node));
    const Time now = simulation.now();
    std::ranges::stable_sort(
        ranks, [now](const PodRank& a, const PodRank& b) { return GoesBefore(b, a, now); });
    std::ranges::transform(ranks, pods.begin(), &PodRank::pod);
  }
  return pods;
}

// `next`: the first number that may be free.
std::string NewName(const Scale& scale, size_t& next, const Simulation& simulation) {
  while (true) {
    std::string name =
        scale.name + (scale.kind == "StatefulSet" ? "-" : "-new-") + std::to_string(next++);
    if (simulation.FindPod(api::NamespacedKey(scale.namespace_, name)) == nullptr) return name;
  }
}

// The claim as it was made: without its volume, and what its binding left on it.
api::PersistentVolumeClaim UnboundCopy(const api::PersistentVolumeClaim& claim,
                                       const std::string& name) {
  constexpr std::string_view kOfBinding[] = {"pv.kubernetes.io/bind-completed",
                                             "pv.kubernetes.io/bound-by-controller",
                                             "volume.beta.kubernetes.io/storage-provisioner",
                                             "volume.kubernetes.io/selected-node",
                                             "volume.kubernetes.io/storage-provisioner",
                                             "volume.kubernetes.io/storage-resizer"};
  api::PersistentVolumeClaim copy;
  copy.metadata.name = name;
  copy.metadata.namespace_ = claim.metadata.namespace_;
  copy.metadata.uid = "PersistentVolumeClaim/" + copy.metadata.Key();
  copy.metadata.labels = claim.metadata.labels;
  copy.metadata.annotations = claim.metadata.annotations;
  std::erase_if(copy.metadata.annotations, [&](const auto& annotation) {
    return std::ranges::find(kOfBinding, annotation.first) != std::end(kOfBinding);
  });
  copy.spec = claim.spec;
  copy.spec.volume_name.clear();
  copy.status.phase = api::kClaimPending;
  return copy;
}

// Applies a StatefulSet's pod of that name, with the claims of its templates: those that are there,
// as the controller leaves them when it scales down, or new ones.
void ApplyOrdinal(const api::Pod& like, const std::string& name, Simulation& simulation) {
  api::Pod pod = *PendingCopy(like, name);
  api::Put("apps.kubernetes.io/pod-index", name.substr(name.rfind('-') + 1), pod.metadata.labels);
  api::Put("statefulset.kubernetes.io/pod-name", name, pod.metadata.labels);
  const std::string& in = pod.metadata.namespace_;
  for (api::Volume& volume : pod.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    // A template's claim and volume have its name; others are the same of all pods.
    api::PersistentVolumeClaimVolumeSource source = *volume.persistent_volume_claim;
    if (source.claim_name != volume.name + "-" + like.metadata.name) continue;
    const auto claim = simulator::FindIn<api::PersistentVolumeClaim>(
        simulation.api(), Kind::kPersistentVolumeClaim, api::NamespacedKey(in, source.claim_name));
    source.claim_name = volume.name + "-" + name;
    const std::string key = api::NamespacedKey(in, source.claim_name);
    if (claim != nullptr && simulation.api().Find(Kind::kPersistentVolumeClaim, key).index() == 0) {
      simulation.Apply(std::make_shared<const api::PersistentVolumeClaim>(
          UnboundCopy(*claim, source.claim_name)));
    }
    volume.persistent_volume_claim = std::move(source);
  }
  simulation.Apply(std::make_shared<const api::Pod>(std::move(pod)));
}

}  // namespace

Result<Scale> Scale::Parse(std::string_view text) {
  const Error form{"must be [NAMESPACE/]KIND/NAME=N"};
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return Fail(form);
  auto workload = Workload::Parse(text.substr(0, equals));
  if (!workload) return Fail(form);
  Scale scale{*std::move(workload)};
  const std::string_view number = text.substr(equals + 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), scale.replicas);
  if (error != std::errc() || end != number.data() + number.size() || number.empty()) {
    return Fail(form);
  }
  if (scale.replicas > kMostReplicas) return Fail("at most 100000 replicas");
  return scale;
}

bool HasPods(const Scale& scale, const Simulation& simulation) {
  return !PodsOf(scale, simulation).empty();
}

Result<void> Carry(const Scale& scale, Simulation& simulation) {
  const std::vector<PodPtr> pods = PodsOf(scale, simulation);
  if (pods.empty()) {
    return Fail(base::Concat("no pod of ", scale.kind, " ",
                             api::NamespacedKey(scale.namespace_, scale.name),
                             " is there to be copied", MeantInsteadOf(scale, simulation)));
  }
  for (size_t i = pods.size(); i > scale.replicas; --i) {
    simulation.Delete(Kind::kPod, pods[i - 1]->metadata.Key());
  }
  size_t next = 0;
  for (size_t i = pods.size(); i < scale.replicas; ++i) {
    const std::string name = NewName(scale, next, simulation);
    if (scale.kind == "StatefulSet") {
      ApplyOrdinal(*pods.front(), name, simulation);
    } else {
      simulation.Apply(PendingCopy(*pods.front(), name));
    }
  }
  Settle(simulation);
  return {};
}

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
  return judgement->message().empty() ? simulator::WhyWaiting(pod, simulation)
                                      : judgement->message();
}

}  // namespace

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

Result<PodPtr> Admission::Admit(const PodPtr& pod) {
  if (!seen_ && admission_.NeedsPods(*pod)) {
    seen_ = true;
    simulation_.api().ForEach(informers::Kind::kPod, [this](const api::ObjectPtr& object) {
      admission_.See(*api::As<api::Pod>(object));
    });
  }
  std::vector<simulator::Admission::Refusal> refusals;
  PodPtr admitted = admission_.Admit(*pod, refusals);
  if (!refusals.empty()) return Fail(std::move(refusals.front().why));
  return admitted;
}

}  // namespace berth::questions
