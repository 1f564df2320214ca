// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/device_inventory.h"

#include <algorithm>
#include <iterator>

#include "berth/check.h"
#include "plugins/dynamic_resources/allocator/pool_view.h"

namespace berth::plugins::dra {
namespace {

bool ByName(const PublishedSlice* a, const PublishedSlice* b) { return a->name() < b->name(); }

void InsertByName(std::vector<PublishedSlice*>& slices, PublishedSlice* slice) {
  slices.insert(std::upper_bound(slices.begin(), slices.end(), slice, ByName), slice);
}

bool HasGroups(const api::Device& device) {
  return std::any_of(device.consumes_counters.begin(), device.consumes_counters.end(),
                     [](const auto& consumed) { return !consumed.compatibility_groups.empty(); });
}

bool HasNodeAllocatable(const api::ResourceSliceSpec& spec) {
  return std::any_of(spec.devices.begin(), spec.devices.end(), [](const api::Device& device) {
    return !device.node_allocatable_resources.empty();
  });
}

bool Reaches(const NodeChoice& nodes, const api::Node* node) {
  return node == nullptr || (nodes.Problem().empty() && nodes.Matches(*node));
}

bool ReadsLabels(const PublishedSlice& slice) {
  return slice.nodes.has_selector() ||
         std::any_of(slice.devices.begin(), slice.devices.end(),
                     [](const PublishedDevice& device) { return device.nodes.has_selector(); });
}

// The logs of what changed are cut at this length.
constexpr size_t kMostLogged = 8192;
// A pool that more nodes see is not listed node by node.
constexpr size_t kManyNodes = 64;

// Makes room in a log of which all changes after `floor` are there.
template <typename Change>
void CutLog(std::vector<Change>& log, uint64_t& floor) {
  if (log.size() < kMostLogged) return;
  const auto half = log.begin() + static_cast<std::ptrdiff_t>(kMostLogged / 2);
  floor = std::prev(half)->version;
  log.erase(log.begin(), half);
}

// Nodes cannot go on with what they saw of the pool.
void ForgetViews(Pool& pool) {
  for (auto& [slices, view] : pool.views) view->SetOutdated();
  pool.views.clear();
  pool.generations.clear();
}

}  // namespace

DeviceInventory::DeviceInventory(const AllocatorFeatures& features) : features_(features) {}
DeviceInventory::~DeviceInventory() = default;

void DeviceInventory::SetSlice(std::shared_ptr<const api::ResourceSlice> slice) {
  auto& kept = slices_[slice->metadata.name];
  // The new one first: rows and pools that both have stay as they are.
  auto published = std::make_unique<PublishedSlice>(std::move(slice));
  Link(*published);
  if (kept != nullptr) Unlink(*kept);
  kept = std::move(published);
}

void DeviceInventory::RemoveSlice(std::string_view name) {
  const auto found = slices_.find(std::string(name));
  if (found == slices_.end()) return;
  Unlink(*found->second);
  slices_.erase(found);
}

void DeviceInventory::Link(PublishedSlice& slice) {
  ++slices_version_;
  const api::ResourceSliceSpec& spec = slice.spec();
  Pool& pool = PoolOf(spec.driver, spec.pool.name);
  slice.pool = &pool;
  slice.nodes = NodeChoice(spec.node_name, spec.all_nodes, spec.node_selector);
  slice.devices.reserve(spec.devices.size());
  for (const api::Device& device : spec.devices) {
    const DeviceRow row = RowOf(pool, device.name);
    ++held_[row].published;
    slice.has_groups |= HasGroups(device);
    PublishedDevice& published = slice.devices.emplace_back(&device, row);
    if (slice.each_device_chooses())
      published.nodes = NodeChoice(device.node_name, device.all_nodes, device.node_selector);
  }
  ForgetViews(pool);
  num_node_allocatable_ += HasNodeAllocatable(spec) ? 1 : 0;
  InsertByName(pool.slices, &slice);
  if (!slice.nodes.node_name().empty()) {
    auto& of_node = of_node_[std::string(slice.nodes.node_name())];
    const bool has_pool = std::any_of(of_node.begin(), of_node.end(),
                                      [&pool](const auto* other) { return other->pool == &pool; });
    if (!has_pool) ++shared_version_;
    InsertByName(of_node, &slice);
    LogSlices(pool);
    return;
  }
  ++shared_version_;
  InsertByName(shared_, &slice);
  InsertByName(pool.shared, &slice);
  LogSlices(pool);
  num_label_readers_ += ReadsLabels(slice) ? 1 : 0;
}

void DeviceInventory::Unlink(PublishedSlice& slice) {
  ++slices_version_;
  Pool& pool = *slice.pool;
  LogSlices(pool);
  ForgetViews(pool);
  num_node_allocatable_ -= HasNodeAllocatable(slice.spec()) ? 1 : 0;
  std::erase(pool.slices, &slice);
  if (const std::string_view node = slice.nodes.node_name(); !node.empty()) {
    const auto of_node = of_node_.find(std::string(node));
    std::erase(of_node->second, &slice);
    if (of_node->second.empty()) of_node_.erase(of_node);
  } else {
    ++shared_version_;
    std::erase(shared_, &slice);
    std::erase(pool.shared, &slice);
    num_label_readers_ -= ReadsLabels(slice) ? 1 : 0;
  }
  for (const PublishedDevice& device : slice.devices) {
    --held_[device.row].published;
    ReleaseIfUnused(device.row);
  }
  DropIfUnused(pool);
}

Pool& DeviceInventory::PoolOf(std::string_view driver, std::string_view name) {
  auto& pool = pools_[std::pair(std::string(driver), std::string(name))];
  if (pool == nullptr) pool = std::make_unique<Pool>(std::string(driver), std::string(name));
  return *pool;
}

void DeviceInventory::DropIfUnused(Pool& pool) {
  if (pool.slices.empty() && pool.rows.empty()) pools_.erase(std::pair(pool.driver, pool.name));
}

DeviceRow DeviceInventory::RowOf(Pool& pool, std::string_view device) {
  const auto [found, is_new] = pool.rows.try_emplace(std::string(device), 0);
  if (!is_new) return found->second;
  if (free_rows_.empty()) {
    free_rows_.push_back(static_cast<DeviceRow>(held_.size()));
    held_.emplace_back();
  }
  const DeviceRow row = free_rows_.back();
  free_rows_.pop_back();
  held_[row].pool = &pool;
  held_[row].name = device;
  return found->second = row;
}

void DeviceInventory::ReleaseIfUnused(DeviceRow row) {
  Held& held = held_[row];
  if (held.published != 0 || held.whole != 0 || held.shares != 0) return;
  held.pool->rows.erase(held.name);
  held = Held{};
  free_rows_.push_back(row);
}

void DeviceInventory::AddAllocation(const api::AllocationResult& allocation) {
  for (const auto& result : allocation.devices.results) Hold(result, 1);
}

void DeviceInventory::RemoveAllocation(const api::AllocationResult& allocation) {
  for (const auto& result : allocation.devices.results) Hold(result, -1);
}

void DeviceInventory::Hold(const api::DeviceRequestAllocationResult& result, int sign) {
  if (result.admin_access.value_or(false)) return;
  ++held_version_;
  Pool& pool = PoolOf(result.driver, result.pool);
  ++pool.held_version;
  const DeviceRow row = RowOf(pool, result.device);
  Held& held = held_[row];
  const bool is_share = features_.consumable_capacity && result.share_id.has_value();
  uint32_t& count = is_share ? held.shares : held.whole;
  BERTH_CHECK(sign > 0 || count > 0, "a claim releases a device that it does not hold");
  count += static_cast<uint32_t>(sign);
  if (is_share) {
    for (const auto& [name, amount] : result.consumed_capacity) {
      const auto found = std::find_if(held.consumed.begin(), held.consumed.end(),
                                      [&name](const auto& entry) { return entry.first == name; });
      if (found == held.consumed.end()) {
        held.consumed.emplace_back(name, sign * amount.nanos());
      } else {
        found->second += sign * amount.nanos();
      }
    }
    if (held.shares == 0) held.consumed.clear();
  }
  LogHeld(pool);
  ReleaseIfUnused(row);
  DropIfUnused(pool);
}

void DeviceInventory::LogHeld(const Pool& pool) {
  CutLog(held_log_, held_log_floor_);
  if (pool.seen_from.size() > kManyNodes) {
    held_log_.push_back({held_version_, kNoRow});
    return;
  }
  for (const NodeRow row : pool.seen_from) held_log_.push_back({held_version_, row});
}

bool DeviceInventory::HeldChangedSince(uint64_t version, std::vector<NodeRow>& rows) const {
  if (version < held_log_floor_) return false;
  for (auto change = held_log_.rbegin(); change != held_log_.rend() && change->version > version;
       ++change) {
    if (change->row == kNoRow) return false;
    rows.push_back(change->row);
  }
  return true;
}

// Slices of one pool tell which generation of it is the newest, and whether that is whole.
void DeviceInventory::LogSlices(const Pool& pool) {
  CutLog(slice_log_, slice_log_floor_);
  if (!pool.shared.empty() || pool.slices.size() > kManyNodes) {
    slice_log_.push_back({slices_version_});
    return;
  }
  for (const PublishedSlice* slice : pool.slices)
    slice_log_.push_back({slices_version_, std::string(slice->nodes.node_name())});
}

bool DeviceInventory::SlicesChangedSince(
    uint64_t version, absl::FunctionRef<void(std::string_view node)> visit) const {
  if (version < slice_log_floor_) return false;
  for (auto change = slice_log_.rbegin(); change != slice_log_.rend() && change->version > version;
       ++change) {
    if (change->node.empty()) return false;
    visit(change->node);
  }
  return true;
}

bool DeviceInventory::IsAllocated(std::string_view driver, std::string_view pool,
                                  std::string_view device) const {
  const auto found = pools_.find(std::pair(std::string(driver), std::string(pool)));
  if (found == pools_.end()) return false;
  const auto row = found->second->rows.find(std::string(device));
  return row != found->second->rows.end() && is_held(row->second);
}

const api::Device* DeviceInventory::FindDevice(std::string_view driver, std::string_view pool,
                                               std::string_view device,
                                               const api::Node* node) const {
  const auto found = pools_.find(std::pair(std::string(driver), std::string(pool)));
  if (found == pools_.end()) return nullptr;
  const PublishedDevice* newest = nullptr;
  int64_t generation = 0;
  for (const PublishedSlice* slice : found->second->slices) {
    const int64_t its = slice->spec().pool.generation;
    if (newest != nullptr && its <= generation) continue;
    if (!slice->each_device_chooses() && !Reaches(slice->nodes, node)) continue;
    const auto published = std::ranges::find_if(
        slice->devices, [&](const auto& other) { return other.device->name == device; });
    if (published == slice->devices.end()) continue;
    if (slice->each_device_chooses() && !Reaches(published->nodes, node)) continue;
    newest = &*published;
    generation = its;
  }
  return newest == nullptr ? nullptr : newest->device;
}

api::Quantity::Nanos DeviceInventory::consumed(DeviceRow row, std::string_view capacity) const {
  for (const auto& [name, amount] : held_[row].consumed)
    if (name == capacity) return amount;
  return 0;
}

std::span<PublishedSlice* const> DeviceInventory::slices_of_node(std::string_view node) const {
  const auto found = of_node_.find(std::string(node));
  if (found == of_node_.end()) return {};
  return found->second;
}

void DeviceInventory::DropForgottenAnswers() {
  for (auto& [name, slice] : slices_)
    absl::erase_if(slice->answers, [](const auto& entry) { return entry.second->is_forgotten(); });
}

}  // namespace berth::plugins::dra
