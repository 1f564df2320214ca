// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/node_pools.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace berth::plugins::dra {
namespace {

bool SearchedBefore(const std::shared_ptr<PoolView>& a, const std::shared_ptr<PoolView>& b) {
  return std::tuple(a->has_binding_conditions(), std::string_view(a->pool().driver),
                    std::string_view(a->pool().name)) <
         std::tuple(b->has_binding_conditions(), std::string_view(b->pool().driver),
                    std::string_view(b->pool().name));
}

}  // namespace

const PoolsOfNode& NodePools::Find(NodeRow row, const api::Node& node) {
  if (rows_.size() <= row) rows_.resize(row + 1);
  Kept& kept = rows_[row];
  if (!Holds(kept, node)) Gather(kept, row, node);
  return kept.found;
}

bool NodePools::Holds(Kept& kept, const api::Node& node) const {
  if (!kept.is_filled || kept.node_name != node.metadata.name) return false;
  if (inventory_.reads_labels() && kept.labels != node.metadata.labels) return false;
  if (kept.slices_version == inventory_.slices_version()) return true;
  // Where gathering failed, not all pools were looked at.
  if (kept.shared_version != inventory_.shared_version() || !kept.found.error.empty()) return false;
  const auto is_outdated = [](const auto& view) { return view->outdated(); };
  if (std::any_of(kept.views.begin(), kept.views.end(), is_outdated)) return false;
  kept.slices_version = inventory_.slices_version();
  return true;
}

void NodePools::Gather(Kept& kept, NodeRow row, const api::Node& node) {
  kept.found = {};
  kept.views.clear();
  kept.is_filled = true;
  kept.slices_version = inventory_.slices_version();
  kept.shared_version = inventory_.shared_version();
  kept.node_name = node.metadata.name;
  kept.labels = inventory_.reads_labels() ? node.metadata.labels : api::StringMap();

  const auto of_node = inventory_.slices_of_node(node.metadata.name);
  candidates_.clear();
  for (const auto slices : {of_node, inventory_.shared_slices()})
    for (const PublishedSlice* slice : slices) candidates_.push_back(slice->pool);
  std::sort(candidates_.begin(), candidates_.end(), [](const Pool* a, const Pool* b) {
    return std::tie(a->driver, a->name) < std::tie(b->driver, b->name);
  });
  candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());

  PoolsOfNode& found = kept.found;
  for (Pool* pool : candidates_) {
    auto view = PoolView::Find(*pool, node, of_node, inventory_.features());
    if (!view) {
      found.error = "gather pool information: " + view.error().message;
      break;
    }
    const PoolView::State state = (*view)->state();
    found.has_invalid |= state == PoolView::State::kInvalid;
    if (state != PoolView::State::kNothing) {
      pool->seen_from.insert(row);
      found.pools.push_back(*view);
    }
    // Where none of the pool's shared slices reaches the node, only those could change that.
    const bool has_own = std::any_of(of_node.begin(), of_node.end(),
                                     [pool](const auto* slice) { return slice->pool == pool; });
    if (has_own || (*view)->reaches_node()) kept.views.push_back(std::move(*view));
  }
  std::sort(found.pools.begin(), found.pools.end(), SearchedBefore);
  found.first_device.push_back(0);
  for (const auto& view : found.pools) {
    found.first_device.push_back(found.first_device.back() +
                                 static_cast<uint32_t>(view->devices().size()));
  }
}

}  // namespace berth::plugins::dra
