// SPDX-License-Identifier: Apache-2.0
#include "plugins/fragmentation_aware/device_shares.h"

#include <algorithm>

#include "plugins/dynamic_resources/device_selector.h"

namespace berth::plugins {
namespace {

std::string IdOf(std::string_view driver, std::string_view pool, std::string_view device) {
  std::string id;
  id.reserve(driver.size() + pool.size() + device.size() + 2);
  return id.append(driver).append("/").append(pool).append("/").append(device);
}

const api::DeviceCapacity* FindCapacity(const api::Device& device, std::string_view name) {
  const auto found =
      std::ranges::find_if(device.capacity, [name](const auto& one) { return one.first == name; });
  return found == device.capacity.end() ? nullptr : &found->second;
}

bool IsShared(const api::Device& device) {
  return device.allow_multiple_allocations.value_or(false);
}

// Rounded up, so that what is left is never shown as more than it is.
int64_t PartOf(const api::Quantity& amount, const api::Quantity& whole) {
  if (whole.nanos() <= 0 || amount >= whole) return kWholeDevice;
  if (amount.nanos() <= 0) return 0;
  // Some digits of both go where their product would need more than 127 bits.
  api::Quantity::Nanos part = amount.nanos();
  api::Quantity::Nanos all = whole.nanos();
  while (part > (api::Quantity::Nanos{1} << 100)) {
    part = (part + 1023) / 1024;
    all /= 1024;
  }
  return static_cast<int64_t>((part * kWholeDevice + all - 1) / all);
}

}  // namespace

DeviceShares::DeviceShares(Handle& handle, std::vector<std::string> classes)
    : handle_(handle),
      classes_(std::move(classes)),
      expressions_(std::make_unique<dra::DeviceSelectors>()),
      selectors_(classes_.size()),
      known_(classes_.size()),
      shared_(classes_.size()),
      holders_([this](const api::ResourceClaim& claim, bool holds) { Count(claim, holds); }) {}

DeviceShares::~DeviceShares() = default;

void DeviceShares::Update() {
  if (classes_.empty()) return;
  holders_.Update(handle_.claims());
  if (devices_generation_ == handle_.listers().devices_generation()) return;
  devices_generation_ = handle_.listers().devices_generation();
  Rebuild();
}

void DeviceShares::Rebuild() {
  for (size_t i = 0; i < classes_.size(); ++i) {
    const api::DeviceClass* device_class = handle_.listers().Find<api::DeviceClass>(classes_[i]);
    std::vector<std::string> selectors;
    if (device_class != nullptr) {
      for (const api::DeviceSelector& selector : device_class->spec.selectors) {
        if (selector.cel) selectors.push_back(selector.cel->expression);
      }
    }
    const bool known = device_class != nullptr;
    if (known != known_[i] || selectors != selectors_[i]) slices_.clear();
    known_[i] = known;
    selectors_[i] = std::move(selectors);
  }
  by_node_.clear();
  places_.clear();
  std::ranges::fill(shared_, nullptr);
  for (auto& [name, answers] : slices_) answers.seen = false;
  handle_.listers().ForEach<api::ResourceSlice>([this](const SlicePtr& slice) {
    const api::ResourceSliceSpec& spec = slice->spec;
    const Answers& answers = AnswersOf(slice);
    for (size_t i = 0; i < spec.devices.size(); ++i) {
      const api::Device& device = spec.devices[i];
      const std::string node = spec.node_name.value_or(device.node_name.value_or(""));
      if (node.empty() || answers.classes[i] == 0) continue;
      std::vector<DeviceLeft>& devices = by_node_[node];
      std::string id = IdOf(spec.driver, spec.pool.name, device.name);
      const auto held = held_.find(id);
      devices.push_back({.classes = answers.classes[i],
                         .free = held == held_.end() ? kWholeDevice : Free(device, held->second)});
      for (size_t c = 0; c < classes_.size(); ++c) {
        const bool of_class = (answers.classes[i] >> c & 1) != 0;
        if (of_class && shared_[c] == nullptr && IsShared(device)) shared_[c] = &device;
      }
      places_.insert_or_assign(std::move(id), Place{node, devices.size() - 1, &device});
    }
  });
  std::erase_if(slices_, [](const auto& known) { return !known.second.seen; });
}

const DeviceShares::Answers& DeviceShares::AnswersOf(const SlicePtr& slice) {
  Answers& answers = slices_[slice->metadata.name];
  answers.seen = true;
  if (answers.slice == slice) return answers;
  answers.slice = slice;
  answers.classes.clear();
  for (const api::Device& device : slice->spec.devices) {
    uint32_t classes = 0;
    for (size_t i = 0; i < classes_.size(); ++i) {
      if (known_[i] && IsOf(selectors_[i], slice->spec.driver, device)) classes |= uint32_t{1} << i;
    }
    answers.classes.push_back(classes);
  }
  return answers;
}

bool DeviceShares::IsOf(const std::vector<std::string>& selectors, std::string_view driver,
                        const api::Device& device) {
  return std::ranges::all_of(selectors, [&](const std::string& selector) {
    return expressions_->Matches(selector, {driver, device}).kind ==
           dra::SelectorAnswer::Kind::kYes;
  });
}

void DeviceShares::Count(const api::ResourceClaim& claim, bool holds) {
  for (const auto& result : claim.status.allocation->devices.results) {
    if (result.admin_access.value_or(false)) continue;
    const std::string id = IdOf(result.driver, result.pool, result.device);
    Held& held = held_[id];
    const int64_t sign = holds ? 1 : -1;
    held.claims += sign;
    if (result.consumed_capacity.empty()) held.whole += sign;
    for (const auto& [name, amount] : result.consumed_capacity) {
      auto sum = std::ranges::find_if(held.consumed,
                                      [&](const auto& known) { return known.first == name; });
      if (sum == held.consumed.end()) {
        sum = held.consumed.emplace(sum, name, api::Quantity());
      }
      sum->second += api::Quantity::FromNanos(sign * amount.nanos());
    }
    const auto place = places_.find(id);
    if (place != places_.end()) {
      by_node_[place->second.node][place->second.index].free = Free(*place->second.device, held);
    }
    if (held.claims == 0) held_.erase(id);
  }
}

int64_t DeviceShares::Free(const api::Device& device, const Held& held) {
  if (held.claims == 0) return kWholeDevice;
  if (held.whole > 0 || !IsShared(device)) return 0;
  int64_t taken = 0;
  for (const auto& [name, amount] : held.consumed) {
    const api::DeviceCapacity* capacity = FindCapacity(device, name);
    if (capacity != nullptr) taken = std::max(taken, PartOf(amount, capacity->value));
  }
  return kWholeDevice - taken;
}

std::span<const DeviceLeft> DeviceShares::On(const std::string& node) const {
  const auto found = by_node_.find(node);
  return found == by_node_.end() ? std::span<const DeviceLeft>() : found->second;
}

int64_t DeviceShares::ShareOf(const api::Device& device, const api::ResourceList& amounts) {
  int64_t share = 0;
  for (const auto& [name, amount] : amounts) {
    const api::DeviceCapacity* capacity = FindCapacity(device, name);
    if (capacity == nullptr) return kWholeDevice;
    share = std::max(share, PartOf(amount, capacity->value));
  }
  return share == 0 ? kWholeDevice : share;
}

int64_t DeviceShares::ShareOf(size_t device_class, const api::ResourceList& amounts) const {
  const api::Device* device = shared_[device_class];
  return device == nullptr ? kWholeDevice : ShareOf(*device, amounts);
}

// A rough figure: what names, slices' answers and devices take.
size_t DeviceShares::kept_bytes() const {
  constexpr size_t kId = 48;
  size_t bytes = expressions_->kept_bytes() + places_.size() * (sizeof(Place) + 2 * kId) +
                 held_.size() * (sizeof(Held) + 2 * kId);
  for (const auto& [node, devices] : by_node_) {
    bytes += kId + sizeof(std::vector<DeviceLeft>) + devices.capacity() * sizeof(DeviceLeft);
  }
  for (const auto& [name, answers] : slices_) {
    bytes += kId + sizeof(answers) + answers.classes.capacity() * sizeof(uint32_t);
  }
  return bytes;
}

}  // namespace berth::plugins
