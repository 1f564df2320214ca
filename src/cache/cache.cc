// SPDX-License-Identifier: Apache-2.0
#include "src/cache/cache.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "berth/api/meta.h"
#include "berth/check.h"
#include "src/cache/same_objects.h"

namespace berth::cache {

void ClaimUses::Count(NodeRow row, const api::Pod& pod, int32_t delta) {
  for (const api::Volume& volume : pod.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    const std::string key =
        api::NamespacedKey(pod.metadata.namespace_, volume.persistent_volume_claim->claim_name);
    Counts& rows = rows_by_claim_[key];
    rows.Add(row, delta);
    if (rows.empty()) rows_by_claim_.erase(key);
  }
}

bool ClaimUses::AnyOn(const NodeSet& rows, std::string_view namespace_,
                      std::string_view claim) const {
  const auto known = rows_by_claim_.find(api::NamespacedKey(namespace_, claim));
  if (known == rows_by_claim_.end()) return false;
  bool any = false;
  known->second.ForEach([&](NodeRow row, int32_t) { any = any || rows.Test(row); });
  return any;
}

Cache::Cache(const Options& options)
    : pod_info_options_(options.pod_info),
      labels_(options.labels, label_keys_, [this](const auto& visit) { ForEachNodeLabels(visit); }),
      topologies_(options.max_topologies,
                  [this](std::string_view key, const auto& visit) {
                    if (label_keys_.Contains(key)) ForEachNodeLabels(visit);
                  }),
      pod_counts_(topologies_, options.max_pod_counts_bytes,
                  [this](const auto& visit) {
                    for (NodeRow row = 0; row < rows_.size(); ++row)
                      for (const PodInfo* pod : pods_.pods(row)) visit(row, *pod);
                  }),
      affinity_terms_(topologies_, options.max_unused_affinity_terms),
      changes_(options.change_log_capacity),
      start_changes_(options.start_log_capacity) {
  // A loaded plugin reads the columns of its resources as arrays.
  resources_.set_on_intern([this](ResourceId id) { columns_.StayDense(id); });
}

NodeRow Cache::SetNode(std::shared_ptr<const api::Node> node) {
  BERTH_ON_THREAD(owner_);
  BERTH_CHECK(trial_depth_ == 0, "node changed inside a trial");
  static const api::Node kNoNode;
  const NodeRow row = RowFor(node->metadata.name);
  const std::shared_ptr<const api::Node> before = std::exchange(rows_[row].node, node);
  const api::Node& old = before == nullptr ? kNoNode : *before;

  images_.Update(row, old.status.images, node->status.images);
  if (before != nullptr && SameObject(old, *node)) return row;

  // The new list is acquired first: an unchanged one keeps its id.
  const TaintSetId taints = taints_.Acquire(node->spec.taints);
  taints_.Release(std::exchange(taint_sets_[row], taints));
  const api::Quantity* pods = api::Find(node->status.allocatable, "pods");
  resources_.MaySweep();
  const Resources allocatable = ToResources(node->status.allocatable, resources_);
  rows_[row].resource_names = resources_.HoldScalars(allocatable);
  columns_.SetAllocatable(row, allocatable,
                          pods == nullptr ? 0 : std::max(pods->Value(), int64_t{0}));
  LabelsChanged(row, old.metadata.labels, node->metadata.labels);
  if (before == nullptr) {
    nodes_.Set(row);
    ++num_nodes_;
    node_order_.Add(row, *node);
  } else {
    node_order_.Update(row, old, *node);
  }
  unschedulable_.Put(row, node->spec.unschedulable);
  with_host_ports_.Put(row, !rows_[row].ports.empty());
  closed_.Put(row, closed_names_.contains(node->metadata.name));
  changes_.Append(row, before == nullptr ? ChangeKind::kNodeAdded : ChangeKind::kNodeUpdated);
  return row;
}

void Cache::RemoveNode(std::string_view name) {
  BERTH_ON_THREAD(owner_);
  BERTH_CHECK(trial_depth_ == 0, "node removed inside a trial");
  const NodeRow row = FindNode(name);
  if (row == kNoRow) return;
  const std::shared_ptr<const api::Node> node = std::exchange(rows_[row].node, nullptr);
  taints_.Release(std::exchange(taint_sets_[row], 0));
  columns_.SetAllocatable(row, {}, 0);
  rows_[row].resource_names = nullptr;
  LabelsChanged(row, node->metadata.labels, {});
  images_.Remove(row, node->status.images);
  for (NodeSet* set : {&nodes_, &unschedulable_, &with_host_ports_, &closed_}) set->Clear(row);
  --num_nodes_;
  node_order_.Remove(row, *node);
  changes_.Append(row, ChangeKind::kNodeRemoved);
  FreeIfUnused(row);
}

std::vector<ResourceId> Cache::ResourcesOn(NodeRow row) const {
  std::vector<ResourceId> ids = {kCpu, kMemory, kEphemeralStorage};
  const auto& offered = columns_.offered(row);
  ids.insert(ids.end(), offered.begin(), offered.end());
  for (const PodInfo* pod : pods_.pods(row))
    for (const auto& [id, amount] : pod->placed.scalars) ids.push_back(id);
  std::ranges::sort(ids);
  const auto rest = std::ranges::unique(ids);
  ids.erase(rest.begin(), rest.end());
  return ids;
}

Cache::Sizes Cache::sizes() const {
  return {.resource_names = resources_.size(),
          .scalar_columns = columns_.num_scalars(),
          .topologies = topologies_.size(),
          .topology_bytes = topologies_.bytes(),
          .fragment_bytes = classes_.fragment_bytes()};
}

NodeRow Cache::FindNode(std::string_view name) const {
  const auto it = row_by_name_.find(name);
  return it == row_by_name_.end() || rows_[it->second].node == nullptr ? kNoRow : it->second;
}

void Cache::NodesWithLabel(std::string_view key, std::string_view value, NodeSet& out) const {
  BERTH_ON_THREAD(owner_);
  labels_.AddRows(key, value, out);
}

void Cache::NodesWithLabelKey(std::string_view key, NodeSet& out) const {
  BERTH_ON_THREAD(owner_);
  labels_.AddRowsWithKey(key, out);
}

void Cache::CloseNode(std::string_view node_name, std::string_view pod_key) {
  BERTH_ON_THREAD(owner_);
  OpenNode(pod_key);
  closing_pods_.emplace(pod_key, node_name);
  ++closed_names_[node_name];
  UpdateClosed(node_name);
}

void Cache::OpenNode(std::string_view pod_key) {
  BERTH_ON_THREAD(owner_);
  BERTH_CHECK(trial_depth_ == 0, "node opened or closed inside a trial");
  const auto it = closing_pods_.find(pod_key);
  if (it == closing_pods_.end()) return;
  const std::string node_name = std::move(it->second);
  closing_pods_.erase(it);
  const auto count = closed_names_.find(node_name);
  if (--count->second == 0) closed_names_.erase(count);
  UpdateClosed(node_name);
}

void Cache::NoteMeasured(NodeRow row) {
  BERTH_ON_THREAD(owner_);
  BERTH_CHECK(trial_depth_ == 0, "row measured inside a trial");
  changes_.Append(row, ChangeKind::kMeasured);
}

void Cache::UpdateClosed(std::string_view node_name) {
  const NodeRow row = FindNode(node_name);
  if (row == kNoRow) return;
  const bool closed = closed_names_.contains(node_name);
  if (closed == closed_.Test(row)) return;
  closed_.Put(row, closed);
  changes_.Append(row, ChangeKind::kClosed);
}

NodeRow Cache::RowFor(std::string_view name) {
  if (const auto it = row_by_name_.find(name); it != row_by_name_.end()) return it->second;
  auto row = static_cast<NodeRow>(rows_.size());
  const auto free_words = std::as_const(free_rows_).words();
  for (size_t i = 0; i < free_words.size(); ++i) {
    if (free_words[i] == 0) continue;
    row = static_cast<NodeRow>(i * 64 + static_cast<size_t>(std::countr_zero(free_words[i])));
    break;
  }
  if (row == rows_.size()) AddRow();
  free_rows_.Clear(row);
  rows_[row].name = name;
  row_by_name_.emplace(name, row);
  return row;
}

void Cache::AddRow() {
  rows_.emplace_back();
  const size_t rows = rows_.size();
  columns_.Grow(rows);
  pods_.Grow(rows);
  topologies_.Grow(rows);
  for (NodeSet* set : {&nodes_, &free_rows_, &unschedulable_, &with_host_ports_, &closed_})
    set->Resize(rows);
  taint_sets_.resize(rows);
}

void Cache::FreeIfUnused(NodeRow row) {
  if (rows_[row].node != nullptr || !pods_.pods(row).empty() || free_rows_.Test(row)) return;
  row_by_name_.erase(rows_[row].name);
  rows_[row].name.clear();
  free_rows_.Set(row);
}

}  // namespace berth::cache
