// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/device_counts.h"

#include <algorithm>
#include <utility>

#include "plugins/dynamic_resources/device_selector.h"

namespace berth::plugins {
namespace {

enum class Answer : uint8_t { kNo, kYes, kFails };

std::string DeviceId(std::string_view driver, std::string_view pool, std::string_view device) {
  std::string id;
  id.reserve(driver.size() + pool.size() + device.size() + 2);
  return id.append(driver).append("/").append(pool).append("/").append(device);
}

Answer Ask(const std::vector<std::string>& selectors, std::string_view driver,
           const api::Device& device, dra::DeviceExpressions& expressions) {
  for (const std::string& selector : selectors) {
    const dra::SelectorAnswer answer = expressions.Matches(selector, {driver, device});
    if (answer.kind == dra::SelectorAnswer::Kind::kNo) return Answer::kNo;
    if (answer.kind != dra::SelectorAnswer::Kind::kYes) return Answer::kFails;
  }
  return Answer::kYes;
}

}  // namespace

// The devices of one class, in parts that reach the same nodes: slices, or devices that choose
// their nodes by themselves.
class DeviceCounts::OfClass final : public DeviceAmounts {
 public:
  // Takes in which slices there are, and the class.
  void Update(const Listers& listers, const api::DeviceClass& device_class,
              const absl::flat_hash_map<std::string, size_t>& held,
              dra::DeviceExpressions& expressions);
  // The device is held now (1), or no more (-1).
  void Move(const std::string& device, int change) {
    const auto parts = parts_of_.find(device);
    if (parts == parts_of_.end()) return;
    for (const size_t part : parts->second) parts_[part].amounts.allocated += change;
  }
  NodeAllocation On(const api::Node& node) const override;
  size_t bytes() const { return bytes_; }

 private:
  struct Part {
    dra::NodeChoice nodes;
    bool everywhere = false;
    bool fails = false;   // an expression does
    bool broken = false;  // which nodes it reaches cannot be said
    NodeAllocation amounts = {};
  };
  struct Known {
    SlicePtr slice;
    std::vector<Answer> answers;  // by device
    bool seen = false;
  };

  const Known& AnswersOf(const SlicePtr& slice, dra::DeviceExpressions& expressions);
  void AddSlice(const Known& known, const absl::flat_hash_map<std::string, size_t>& held);
  void CountBytes();
  size_t AddPart(dra::NodeChoice nodes, bool everywhere);

  std::optional<uint64_t> generation_;
  std::vector<std::string> selectors_;
  std::map<std::string, Known, std::less<>> slices_;
  std::vector<Part> parts_;
  absl::flat_hash_map<std::string, std::vector<size_t>> of_node_;
  std::vector<size_t> shared_;  // those that name no node
  // Once for each time that a part has the device.
  absl::flat_hash_map<std::string, std::vector<size_t>> parts_of_;
  size_t bytes_ = 0;
};

void DeviceCounts::OfClass::Update(const Listers& listers, const api::DeviceClass& device_class,
                                   const absl::flat_hash_map<std::string, size_t>& held,
                                   dra::DeviceExpressions& expressions) {
  if (generation_ == listers.devices_generation()) return;
  generation_ = listers.devices_generation();
  std::vector<std::string> selectors;
  for (const api::DeviceSelector& selector : device_class.spec.selectors) {
    if (selector.cel) selectors.push_back(selector.cel->expression);
  }
  if (selectors != selectors_) slices_.clear();
  selectors_ = std::move(selectors);
  parts_.clear();
  of_node_.clear();
  shared_.clear();
  parts_of_.clear();
  for (auto& [name, known] : slices_) known.seen = false;
  listers.ForEach<api::ResourceSlice>(
      [&](const SlicePtr& slice) { AddSlice(AnswersOf(slice, expressions), held); });
  std::erase_if(slices_, [](const auto& known) { return !known.second.seen; });
  CountBytes();
}

void DeviceCounts::OfClass::CountBytes() {
  bytes_ = sizeof(*this) + parts_.capacity() * sizeof(Part) + shared_.capacity() * sizeof(size_t);
  for (const auto* by_name : {&of_node_, &parts_of_}) {
    bytes_ += by_name->capacity() * sizeof(std::pair<std::string, std::vector<size_t>>);
    for (const auto& [name, parts] : *by_name) {
      bytes_ += name.size() + parts.capacity() * sizeof(size_t);
    }
  }
  for (const auto& [name, known] : slices_) {
    bytes_ += sizeof(std::pair<std::string, Known>) + name.size() + known.answers.capacity();
  }
}

const DeviceCounts::OfClass::Known& DeviceCounts::OfClass::AnswersOf(
    const SlicePtr& slice, dra::DeviceExpressions& expressions) {
  Known& known = slices_[slice->metadata.name];
  known.seen = true;
  if (known.slice == slice) return known;
  known.slice = slice;
  known.answers.clear();
  for (const api::Device& device : slice->spec.devices) {
    if (!device.allow_multiple_allocations) {
      known.answers.push_back(Ask(selectors_, slice->spec.driver, device, expressions));
      continue;
    }
    api::Device asked = device;
    asked.allow_multiple_allocations.reset();
    known.answers.push_back(Ask(selectors_, slice->spec.driver, asked, expressions));
  }
  return known;
}

size_t DeviceCounts::OfClass::AddPart(dra::NodeChoice nodes, bool everywhere) {
  const size_t part = parts_.size();
  if (nodes.node_name().empty()) {
    shared_.push_back(part);
  } else {
    of_node_[std::string(nodes.node_name())].push_back(part);
  }
  const bool broken = !nodes.Problem().empty();
  parts_.push_back({.nodes = std::move(nodes), .everywhere = everywhere, .broken = broken});
  return part;
}

void DeviceCounts::OfClass::AddSlice(const Known& known,
                                     const absl::flat_hash_map<std::string, size_t>& held) {
  const api::ResourceSliceSpec& spec = known.slice->spec;
  const bool each_chooses = spec.per_device_node_selection.value_or(false);
  size_t part = 0;
  if (!each_chooses) {
    dra::NodeChoice nodes(spec.node_name, spec.all_nodes, spec.node_selector);
    const bool everywhere = nodes.empty();
    part = AddPart(std::move(nodes), everywhere);
  }
  for (size_t i = 0; i < spec.devices.size(); ++i) {
    const api::Device& device = spec.devices[i];
    if (each_chooses) {
      dra::NodeChoice nodes(device.node_name, device.all_nodes, device.node_selector);
      if (nodes.empty()) continue;
      part = AddPart(std::move(nodes), false);
    }
    if (known.answers[i] == Answer::kFails) parts_[part].fails = true;
    if (known.answers[i] != Answer::kYes) continue;
    std::string id = DeviceId(spec.driver, spec.pool.name, device.name);
    ++parts_[part].amounts.allocatable;
    if (held.contains(id)) ++parts_[part].amounts.allocated;
    parts_of_[std::move(id)].push_back(part);
  }
}

NodeAllocation DeviceCounts::OfClass::On(const api::Node& node) const {
  NodeAllocation sum;
  bool fails = false;
  const auto add = [&](const Part& part) {
    fails = fails || part.fails;
    sum.allocatable += part.amounts.allocatable;
    sum.allocated += part.amounts.allocated;
  };
  if (const auto own = of_node_.find(node.metadata.name); own != of_node_.end()) {
    for (const size_t part : own->second) add(parts_[part]);
  }
  for (const size_t i : shared_) {
    const Part& part = parts_[i];
    fails = fails || part.broken;
    if (part.everywhere || part.nodes.Matches(node)) add(part);
  }
  return fails ? NodeAllocation() : sum;
}

DeviceCounts::DeviceCounts(Handle& handle)
    : handle_(handle),
      expressions_(std::make_unique<dra::DeviceSelectors>()),
      classes_(handle.listers()),
      holders_([this](const api::ResourceClaim& claim, bool holds) { Count(claim, holds); }) {}

DeviceCounts::~DeviceCounts() = default;

const DeviceAmounts* DeviceCounts::Find(std::string_view resource) {
  if (!IsDeviceResourceName(resource)) return nullptr;
  const api::DeviceClass* device_class = classes_.Find(resource);
  if (device_class == nullptr) return nullptr;
  holders_.Update(handle_.claims());
  if (devices_generation_ != handle_.listers().devices_generation()) {
    devices_generation_ = handle_.listers().devices_generation();
    std::erase_if(by_class_, [this](const auto& known) {
      return handle_.listers().Find<api::DeviceClass>(known.first) == nullptr;
    });
  }
  std::unique_ptr<OfClass>& known = by_class_[device_class->metadata.name];
  if (known == nullptr) known = std::make_unique<OfClass>();
  known->Update(handle_.listers(), *device_class, held_, *expressions_);
  return known.get();
}

size_t DeviceCounts::kept_bytes() const {
  // The name of a device, by its driver, pool and own name.
  constexpr size_t kId = 48;
  size_t bytes = held_.capacity() * sizeof(std::pair<std::string, size_t>) + held_.size() * kId;
  for (const auto& [name, of_class] : by_class_) bytes += of_class->bytes();
  return bytes;
}

void DeviceCounts::Count(const api::ResourceClaim& claim, bool holds) {
  for (const auto& result : claim.status.allocation->devices.results) {
    if (result.admin_access.value_or(false)) continue;
    std::string id = DeviceId(result.driver, result.pool, result.device);
    size_t& held = held_[id];
    const bool was = held != 0;
    held = holds ? held + 1 : held - 1;
    const bool is = held != 0;
    if (!is) held_.erase(id);
    if (was == is) continue;
    for (auto& [name, of_class] : by_class_) of_class->Move(id, holds ? 1 : -1);
  }
}

}  // namespace berth::plugins
