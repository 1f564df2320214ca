// SPDX-License-Identifier: Apache-2.0
#include "src/packing/survey.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "absl/hash/hash.h"
#include "berth/in_tree/eviction.h"

namespace berth::packing {
namespace {

__extension__ typedef __int128 Wide;

constexpr uint32_t kNoPool = UINT32_MAX;
// What has the most pods; see ShapeTable::MostFrequent().
constexpr size_t kMostTypicalShapes = 32;
constexpr size_t kMostPendingShapes = 64;

// Whether the node takes pods at all: it is not cordoned, and neither Kubernetes nor a pod that
// cannot be read keeps them away. A taint of its owner's is for pods that tolerate it.
bool IsOpen(const cache::Cache& cache, NodeRow row) {
  if (cache.unschedulable_nodes().Test(row) || cache.closed_nodes().Test(row)) return false;
  return std::ranges::none_of(cache.taints(cache.taint_sets()[row]), [](const api::Taint& taint) {
    return taint.effect != "PreferNoSchedule" && taint.key.starts_with("node.kubernetes.io/");
  });
}

void AddTo(Resources& sum, const Resources& amounts) {
  sum.milli_cpu = SumSaturated(sum.milli_cpu, amounts.milli_cpu);
  sum.memory = SumSaturated(sum.memory, amounts.memory);
  sum.ephemeral_storage = SumSaturated(sum.ephemeral_storage, amounts.ephemeral_storage);
  for (const auto& [id, amount] : amounts.scalars) sum.Add(id, amount);
}

int64_t DivideUp(int64_t amount, int64_t by) { return amount / by + (amount % by != 0 ? 1 : 0); }

// `amount` * `numerator` / `denominator`, rounded down; all positive.
int64_t Scale(int64_t amount, int64_t numerator, int64_t denominator) {
  const Wide scaled = Wide{amount} * numerator / denominator;
  return static_cast<int64_t>(std::min<Wide>(scaled, std::numeric_limits<int64_t>::max()));
}

constexpr std::string_view kFixedNames[kFirstScalar] = {"cpu", "memory", "ephemeral-storage"};

bool AsksForNothing(const Resources& requests) {
  return requests.milli_cpu <= 0 && requests.memory <= 0 && requests.ephemeral_storage <= 0 &&
         requests.scalars.empty();
}

auto FixedAmounts(const Resources& requests) {
  return std::tie(requests.milli_cpu, requests.memory, requests.ephemeral_storage);
}

}  // namespace

std::string_view NodePoolOf(const api::Node& node) {
  for (const std::string_view label : kNodePoolLabels) {
    if (const std::string* pool = api::Find(node.metadata.labels, label)) return *pool;
  }
  return "";
}

bool Survey::Step(const cache::Cache& cache, const scheduler::PodStore& pending) {
  switch (phase_) {
    case Phase::kPods:
      if (next_ < cache.num_rows()) {
        CountPods(cache, static_cast<NodeRow>(next_++));
        return true;
      }
      break;
    case Phase::kPendingPods:
      if (next_ < pending.num_slots()) {
        if (const PodInfo* pod = pending.at_slot(next_++)) CountPending(cache, *pod);
        return true;
      }
      break;
    case Phase::kPools:
      MergePools();
      ChooseResources();
      pending_ = AmountsOf(shapes_.MostFrequent(pending_shapes_, kMostPendingShapes));
      break;
    case Phase::kShapes:
      if (next_ < pools_.size()) {
        ChooseShapes(pools_[next_++]);
        return true;
      }
      break;
    case Phase::kNodes:
      if (next_ < std::min<size_t>(rows_.size(), cache.num_rows())) {
        MeasureNode(cache, static_cast<NodeRow>(next_++));
        return true;
      }
      Finish();
      break;
    case Phase::kDone:
      return false;
  }
  phase_ = static_cast<Phase>(static_cast<int>(phase_) + 1);
  next_ = 0;
  return phase_ != Phase::kDone;
}

bool Survey::IsThere(const PodInfo& pod) const {
  return figures_.of_namespace && figures_.of_namespace->namespace_ == pod.pod->metadata.namespace_;
}

void Survey::CountPods(const cache::Cache& cache, NodeRow row) {
  Row& counted = rows_.emplace_back();
  if (!cache.nodes().Test(row)) return;
  const std::string_view name = NodePoolOf(cache.node(row));
  auto pool_at = pool_by_name_.find(name);
  if (pool_at == pool_by_name_.end()) {
    pool_at = pool_by_name_.try_emplace(name, static_cast<uint32_t>(pools_.size())).first;
    pools_.emplace_back().name = name;
  }
  counted.pool = pool_at->second;
  Pool& pool = pools_[counted.pool];
  ++pool.nodes;
  for (const ResourceId id : cache.ResourcesOn(row)) {
    if (id < kFirstScalar || cache.allocatable(id)[row] <= 0) continue;
    Offered& offered = offered_[id];
    if (offered.nodes++ == 0) offered.name = cache.resource_names().Name(id);
  }
  bool used = false;
  for (const PodInfo* pod : cache.pods(row)) {
    ++figures_.pods;
    if (IsThere(*pod)) {
      ++figures_.of_namespace->placed;
      AddTo(pool.requested_there, pod->placed);
    }
    if (IsTied(*pod->pod)) {
      AddTo(counted.tied, pod->placed);
      ++counted.tied_pods;
    } else {
      used = true;
      CountPod(cache, *pod, pool);
    }
  }
  if (used) ++pool.used_nodes;
}

void Survey::CountPod(const cache::Cache& cache, const PodInfo& pod, Pool& pool) {
  ++pool.pods;
  AddTo(pool.requested, pod.placed);
  if (const auto shape = shapes_.Intern(pod.requests, cache.resource_names())) {
    ++pool.shapes[*shape];
    ++cluster_shapes_[*shape];
  }
}

void Survey::CountPending(const cache::Cache& cache, const PodInfo& pod) {
  // One that is on its way to a node has been counted there, and so has one that is to be resized.
  if (pod.resize_deferred || cache.IsAssumed(pod.pod->metadata.uid)) return;
  ++figures_.pending;
  if (IsThere(pod)) ++figures_.of_namespace->pending;
  if (const auto shape = shapes_.Intern(pod.requests, cache.resource_names())) {
    ++pending_shapes_[*shape];
  }
}

void Survey::MergePools() {
  if (pools_.size() <= kMostPools) return;
  std::vector<uint32_t> order(pools_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  // One of that name counts with the rest.
  const auto rank = [this](uint32_t i) {
    const Pool& pool = pools_[i];
    return std::tuple(pool.name == kOther, std::numeric_limits<size_t>::max() - pool.nodes,
                      std::string_view(pool.name));
  };
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
  std::vector<Pool> merged;
  std::vector<uint32_t> moved_to(pools_.size());
  for (const uint32_t from : order) {
    Pool& pool = pools_[from];
    moved_to[from] = static_cast<uint32_t>(std::min(merged.size(), kMostPools - 1));
    if (merged.size() < kMostPools) {
      merged.push_back(std::move(pool));
      continue;
    }
    Pool& rest = merged.back();
    rest.nodes += pool.nodes;
    rest.used_nodes += pool.used_nodes;
    rest.pods += pool.pods;
    AddTo(rest.requested, pool.requested);
    AddTo(rest.requested_there, pool.requested_there);
    for (const auto& [shape, pods] : pool.shapes) rest.shapes[shape] += pods;
  }
  merged.back().name = kOther;
  pools_ = std::move(merged);
  for (Row& row : rows_) {
    if (row.pool != kNoPool) row.pool = moved_to[row.pool];
  }
}

void Survey::ChooseResources() {
  std::vector<std::pair<ResourceId, const Offered*>> extended;
  for (const auto& [id, offered] : offered_) extended.emplace_back(id, &offered);
  const auto kept = extended.begin() +
                    static_cast<std::ptrdiff_t>(std::min(extended.size(), kMostExtendedResources));
  std::partial_sort(extended.begin(), kept, extended.end(), [](const auto& a, const auto& b) {
    return a.second->nodes != b.second->nodes ? a.second->nodes > b.second->nodes
                                              : a.second->name < b.second->name;
  });
  extended.erase(kept, extended.end());
  std::ranges::sort(extended, {}, [](const auto& entry) { return entry.second->name; });
  for (const ResourceId id : {kCpu, kMemory, kEphemeralStorage}) {
    IndexOf(id);
    figures_.overcommitted.emplace_back(shapes_.NameOf(id), 0);
  }
  for (const auto& [id, offered] : extended) {
    IndexOf(id);
    figures_.overcommitted.emplace_back(offered->name, 0);
  }
  shown_ = resources_.size();
  for (uint32_t i = 0; i < shown_; ++i) {
    if (figures_.overcommitted[i].first == watched_) watched_index_ = i;
  }
  for (const std::string_view rest : {kOther, kPodSlots})
    figures_.overcommitted.emplace_back(rest, 0);
}

void Survey::ChooseShapes(Pool& pool) {
  const ShapeCounts& counts = pool.shapes.empty() ? cluster_shapes_ : pool.shapes;
  const std::vector<ShapeId> typical = shapes_.MostFrequent(counts, kMostTypicalShapes);
  pool.typical = AmountsOf(typical);
  if (!typical.empty()) pool.figures.typical_pod = NamedAmountsOf(typical.front());
  pool.largest_capacity.assign(shown_ + 1, 0);
  pool.figures.name = pool.name;
  pool.figures.used_nodes = pool.used_nodes;
  for (size_t i = 0; i < shown_; ++i) {
    pool.figures.resources.emplace_back().resource = figures_.overcommitted[i].first;
  }
}

uint32_t Survey::IndexOf(ResourceId id) {
  const auto [known, added] = index_.try_emplace(id, static_cast<uint32_t>(resources_.size()));
  if (added) resources_.push_back(id);
  return known->second;
}

std::vector<Survey::Amounts> Survey::AmountsOf(const std::vector<ShapeId>& shapes) {
  std::vector<Amounts> all;
  for (const ShapeId id : shapes) {
    const Resources& shape = shapes_.shape(id);
    Amounts& amounts = all.emplace_back();
    for (const ResourceId fixed : {kCpu, kMemory, kEphemeralStorage}) {
      if (shape.Get(fixed) > 0) amounts.emplace_back(IndexOf(fixed), shape.Get(fixed));
    }
    for (const auto& [scalar, amount] : shape.scalars) {
      amounts.emplace_back(IndexOf(scalar), amount);
    }
  }
  return all;
}

NamedAmounts Survey::NamedAmountsOf(ShapeId id) const {
  const Resources& shape = shapes_.shape(id);
  NamedAmounts named;
  for (const ResourceId fixed : {kCpu, kMemory, kEphemeralStorage}) {
    if (shape.Get(fixed) > 0) named.emplace_back(shapes_.NameOf(fixed), shape.Get(fixed));
  }
  const auto scalars = static_cast<std::ptrdiff_t>(named.size());
  for (const auto& [scalar, amount] : shape.scalars) {
    named.emplace_back(shapes_.NameOf(scalar), amount);
  }
  std::sort(named.begin() + scalars, named.end());
  return named;
}

void Survey::MeasureNode(const cache::Cache& cache, NodeRow row) {
  const Row& counted = rows_[row];
  // One that came since is part of the next survey.
  if (counted.pool == kNoPool || !cache.nodes().Test(row)) return;
  CountOvercommitted(cache, row);
  Pool& pool = pools_[counted.pool];
  free_.resize(resources_.size());
  for (size_t i = 0; i < resources_.size(); ++i) {
    const int64_t allocatable = cache.allocatable(resources_[i])[row];
    const int64_t requested = cache.requested(resources_[i])[row];
    free_[i] = DifferenceSaturated(allocatable, requested);
    if (i >= shown_) continue;
    ResourceFigures& figures = pool.figures.resources[i];
    figures.allocatable = SumSaturated(figures.allocatable, allocatable);
    figures.requested = SumSaturated(figures.requested, requested);
    pool.largest_capacity[i] =
        std::max(pool.largest_capacity[i],
                 DifferenceSaturated(allocatable, counted.tied.Get(resources_[i])));
  }
  pool.largest_capacity[shown_] =
      std::max(pool.largest_capacity[shown_], cache.allowed_pods()[row] - counted.tied_pods);
  if (IsOpen(cache, row)) {
    ++pool.figures.open_nodes;
    MeasureOpenNode(row, DifferenceSaturated(cache.allowed_pods()[row], cache.pod_count()[row]),
                    pool);
  } else {
    ++pool.figures.closed_nodes;
  }
}

void Survey::CountOvercommitted(const cache::Cache& cache, NodeRow row) {
  bool other = false;
  bool any = false;
  for (const ResourceId id : cache.ResourcesOn(row)) {
    if (cache.requested(id)[row] <= cache.allocatable(id)[row]) continue;
    any = true;
    const auto index = index_.find(id);
    if (index != index_.end() && index->second < shown_) {
      ++figures_.overcommitted[index->second].second;
    } else {
      other = true;
    }
  }
  if (other) ++figures_.overcommitted[shown_].second;
  if (cache.pod_count()[row] > cache.allowed_pods()[row]) {
    any = true;
    ++figures_.overcommitted[shown_ + 1].second;
  }
  if (any) ++figures_.overcommitted_nodes;
}

void Survey::MeasureOpenNode(NodeRow row, int64_t slots, Pool& pool) {
  AddStranded(row, slots > 0, pool);
  if (slots <= 0) return;
  for (size_t i = 0; i < shown_; ++i) {
    int64_t& largest = pool.figures.resources[i].largest_free;
    largest = std::max(largest, free_[i]);
  }
  if (!pool.typical.empty()) {
    int64_t copies = slots;
    for (const auto& [index, amount] : pool.typical.front()) {
      copies = std::min(copies, std::max<int64_t>(free_[index], 0) / amount);
    }
    pool.figures.largest_gang += static_cast<uint64_t>(copies);
  }
  const int64_t cpu = pool.requested.milli_cpu;
  const int64_t memory = pool.requested.memory;
  if (cpu <= 0 || memory <= 0 || free_[kCpu] <= 0 || free_[kMemory] <= 0) return;
  const int64_t fits = std::min(free_[kCpu], Scale(free_[kMemory], cpu, memory));
  if (fits > 0 && (!pool.figures.largest_pod || fits > pool.figures.largest_pod->milli_cpu)) {
    pool.figures.largest_pod = {fits, Scale(fits, memory, cpu)};
  }
}

bool Survey::Fits(const Amounts& shape) const {
  return std::ranges::all_of(
      shape, [this](const auto& asked) { return asked.second <= free_[asked.first]; });
}

void Survey::AddStranded(NodeRow row, bool has_slot, Pool& pool) {
  usable_.assign(shown_, 0);
  hindered_.assign(shown_, 0);
  for (const std::vector<Amounts>* shapes : {&pool.typical, &pending_}) {
    for (const Amounts& shape : *shapes) {
      const bool fits = has_slot && Fits(shape);
      for (const auto& [index, amount] : shape) {
        if (index >= shown_ || amount > free_[index]) continue;
        (fits ? usable_ : hindered_)[index] = 1;
      }
    }
  }
  for (size_t i = 0; i < shown_; ++i) {
    if (hindered_[i] == 0 || usable_[i] != 0) continue;
    int64_t& stranded = pool.figures.resources[i].stranded;
    stranded = SumSaturated(stranded, free_[i]);
    if (watched_index_ == i) AddWatched(row, pool);
  }
}

void Survey::AddWatched(NodeRow row, const Pool& pool) {
  const uint32_t watched = *watched_index_;
  StrandedNode& node = stranding_.nodes.emplace_back();
  node.row = row;
  node.amount = free_[watched];
  stranding_.amount = SumSaturated(stranding_.amount, node.amount);
  for (const std::vector<Amounts>* shapes : {&pool.typical, &std::as_const(pending_)}) {
    for (const Amounts& shape : *shapes) {
      const bool asks = std::ranges::any_of(shape, [&](const auto& asked) {
        return asked.first == watched && asked.second <= free_[watched];
      });
      if (!asks) continue;
      Resources& amounts = node.shapes.emplace_back();
      for (const auto& [index, amount] : shape) amounts.Add(resources_[index], amount);
    }
  }
}

std::optional<Stranding> Survey::TakeStranding() {
  if (!watched_index_) return std::nullopt;
  stranding_.pools = pools_.size();
  return std::move(stranding_);
}

void Survey::Finish() {
  for (Pool& pool : pools_) {
    int64_t needed = 0;
    for (size_t i = 0; i < shown_; ++i) {
      pool.figures.resources[i].requested_there = pool.requested_there.Get(resources_[i]);
    }
    for (size_t i = 0; i <= shown_; ++i) {
      const int64_t requested = i < shown_ ? pool.requested.Get(resources_[i]) : pool.pods;
      const int64_t capacity = pool.largest_capacity[i];
      if (requested > 0 && capacity > 0) needed = std::max(needed, DivideUp(requested, capacity));
    }
    pool.figures.lower_bound = static_cast<size_t>(needed);
    figures_.pools.push_back(std::move(pool.figures));
  }
  std::ranges::sort(figures_.pools, {}, &PoolFigures::name);
}

Figures Measure(const cache::Cache& cache, const scheduler::PodStore& pending,
                std::string_view pod_namespace) {
  Survey survey = pod_namespace.empty() ? Survey() : Survey(pod_namespace);
  while (survey.Step(cache, pending)) {
  }
  return survey.Take();
}

std::optional<Stranding> MeasureStranding(const cache::Cache& cache,
                                          const scheduler::PodStore& pending,
                                          std::string_view resource) {
  Survey survey;
  survey.Watch(resource);
  while (survey.Step(cache, pending)) {
  }
  return survey.TakeStranding();
}

size_t ShapeTable::Hash::operator()(const Resources& requests) const {
  return absl::HashOf(requests.milli_cpu, requests.memory, requests.ephemeral_storage,
                      requests.scalars);
}

std::optional<ShapeId> ShapeTable::Intern(const Resources& requests, const ResourceNames& names) {
  const auto is_zero = [](const auto& scalar) { return scalar.second <= 0; };
  const Resources* shape = &requests;
  Resources without_zeros;
  if (std::ranges::any_of(requests.scalars, is_zero)) {
    without_zeros = requests;
    std::erase_if(without_zeros.scalars, is_zero);
    shape = &without_zeros;
  }
  if (AsksForNothing(*shape)) return std::nullopt;
  const auto [known, added] = ids_.try_emplace(*shape, static_cast<ShapeId>(shapes_.size()));
  if (added) {
    shapes_.push_back(*shape);
    for (const auto& [id, amount] : shape->scalars) names_.try_emplace(id, names.Name(id));
  }
  return known->second;
}

std::string_view ShapeTable::NameOf(ResourceId id) const {
  return id < kFirstScalar ? kFixedNames[id] : names_.at(id);
}

std::vector<ShapeId> ShapeTable::MostFrequent(const ShapeCounts& counts, size_t most) const {
  std::vector<std::pair<ShapeId, uint64_t>> by_count(counts.begin(), counts.end());
  uint64_t pods = 0;
  for (const auto& [shape, count] : by_count) pods += count;
  const size_t kept = std::min(most, by_count.size());
  const auto end = by_count.begin() + static_cast<std::ptrdiff_t>(kept);
  std::partial_sort(by_count.begin(), end, by_count.end(), [this](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : IsLarger(a.first, b.first);
  });
  std::vector<ShapeId> chosen;
  uint64_t covered = 0;
  for (auto it = by_count.begin(); it != end && covered * 10 < pods * 9; ++it) {
    chosen.push_back(it->first);
    covered += it->second;
  }
  return chosen;
}

bool ShapeTable::IsLarger(ShapeId a, ShapeId b) const {
  const Resources& first = shapes_[a];
  const Resources& second = shapes_[b];
  if (FixedAmounts(first) != FixedAmounts(second)) {
    return FixedAmounts(first) > FixedAmounts(second);
  }
  return NamedScalars(first) > NamedScalars(second);
}

ShapeTable::Named ShapeTable::NamedScalars(const Resources& requests) const {
  Named named;
  for (const auto& [id, amount] : requests.scalars) named.emplace_back(NameOf(id), amount);
  std::ranges::sort(named);
  return named;
}

}  // namespace berth::packing
