// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/shortage.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "berth/field_errors.h"
#include "plugins/dynamic_resources/allocator/capacity.h"
#include "plugins/dynamic_resources/allocator/constraint_state.h"

namespace berth::plugins::dra {
namespace {

bool Tolerates(const api::DeviceToleration& toleration, const api::DeviceTaint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.operator_.empty() || toleration.operator_ == api::kTolerationEqual)
    return toleration.value == taint.value;
  return toleration.operator_ == api::kTolerationExists;
}

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool HasWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsWordCharacter(text[at - 1])) &&
        (end == text.size() || !IsWordCharacter(text[end]))) {
      return true;
    }
  }
  return false;
}

// "" for lists.
std::string ValueText(const api::DeviceAttribute& attribute) {
  if (attribute.string) return Quoted(*attribute.string);
  if (attribute.version) return attribute.version->c_str();
  if (attribute.int_) return std::to_string(*attribute.int_);
  if (attribute.bool_) return *attribute.bool_ ? "true" : "false";
  return "";
}

std::string_view WithoutDomain(std::string_view name) { return name.substr(name.rfind('/') + 1); }

// "gpu-0 has model "a", memory 4Gi": what the expression may have read of the device.
std::string WhatIsRead(std::string_view expression, std::string_view driver,
                       const api::Device& device) {
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (value.empty() || !HasWord(expression, name)) return;
    text.append(text.empty() ? " has " : ", ").append(name).append(" ").append(value);
  };
  add("driver", std::string(driver));
  for (const auto& [name, attribute] : device.attributes) {
    add(WithoutDomain(name), ValueText(attribute));
  }
  for (const auto& [name, capacity] : device.capacity) {
    add(WithoutDomain(name), capacity.value.ToCanonicalString());
  }
  return device.name + (text.empty() ? " has nothing that it names" : text);
}

enum class Obstacle : uint8_t { kNone, kUnmatched, kInUse, kTaints, kCapacity };

struct Finding {
  Obstacle obstacle = Obstacle::kNone;
  size_t selector = 0;    // kUnmatched: the first that does not match
  std::string read = {};  // kCapacity: what is too little
};

// "gpu-0 has memory 4Gi, 1Gi of it left, 2Gi are asked for"; "": there is enough.
std::string DescribeCapacity(const RequestToAllocate& request, const ViewedDevice& viewed,
                             const DeviceInventory& inventory) {
  const api::Device& device = viewed.device();
  if (!inventory.features().consumable_capacity ||
      (device.capacity.empty() && request.capacity == nullptr)) {
    return "";
  }
  CapacityDemand demand;
  ResolveDemand(request.capacity, device, inventory.features().fractional_capacity_range, demand);
  if (demand.kind != CapacityDemand::Kind::kFits) {
    return device.name + " does not give such an amount";
  }
  for (size_t i = 0; i < demand.amounts.size(); ++i) {
    const auto& [name, capacity] = device.capacity[i];
    const api::Quantity::Nanos all = capacity.value.nanos();
    const api::Quantity::Nanos taken =
        inventory.is_shared(viewed.row) ? inventory.consumed(viewed.row, name) : 0;
    if (demand.amounts[i].nanos() + taken <= all) continue;
    std::string text = device.name + " has " + name + " " + capacity.value.ToCanonicalString();
    if (taken != 0) {
      text += ", " +
              api::Quantity::FromNanos(all - taken, capacity.value.format()).ToCanonicalString() +
              " of it left";
    }
    return text + ", " + demand.amounts[i].ToCanonicalString() + " are asked for";
  }
  return "";
}

// What keeps the device from the request by itself.
Finding Find(const RequestToAllocate& request, const ViewedDevice& viewed,
             const DeviceInventory& inventory, DeviceExpressions& expressions) {
  const DeviceOfDriver device{viewed.slice->spec().driver, viewed.device(),
                              !inventory.features().UsesStable()};
  for (size_t i = 0; i < request.selectors.size(); ++i) {
    const std::string& text = request.selectors[i].expression->text;
    if (expressions.Matches(text, device).kind != SelectorAnswer::Kind::kYes) {
      return {Obstacle::kUnmatched, i};
    }
  }
  if (!request.admin_access && inventory.is_held_whole(viewed.row)) return {Obstacle::kInUse};
  if (inventory.features().device_taints && !ToleratesTaints(request, viewed.device())) {
    return {Obstacle::kTaints};
  }
  if (std::string read = DescribeCapacity(request, viewed, inventory); !read.empty()) {
    return {.obstacle = Obstacle::kCapacity, .read = std::move(read)};
  }
  return {};
}

struct Counts {
  int64_t devices = 0;
  int64_t usable = 0;
  int64_t tainted = 0;
  int64_t in_use = 0;
  // By selector: those that match all before it, but not it; and what it read of the first.
  std::vector<std::pair<int64_t, std::string>> unmatched = {};
  std::pair<int64_t, std::string> without_capacity = {};
};

void Count(const RequestToAllocate& request, const ViewedDevice& viewed, const Finding& finding,
           Counts& counts) {
  ++counts.devices;
  switch (finding.obstacle) {
    case Obstacle::kNone:
      ++counts.usable;
      return;
    case Obstacle::kUnmatched: {
      auto& [count, read] = counts.unmatched[finding.selector];
      if (count++ == 0) {
        read = WhatIsRead(request.selectors[finding.selector].expression->text,
                          viewed.slice->spec().driver, viewed.device());
      }
      return;
    }
    case Obstacle::kInUse:
      ++counts.in_use;
      return;
    case Obstacle::kTaints:
      ++counts.tainted;
      return;
    case Obstacle::kCapacity:
      if (counts.without_capacity.first++ == 0) {
        counts.without_capacity.second = finding.read;
      }
      return;
  }
}

}  // namespace

std::string Are(int64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count).append(" ").append(count == 1 ? one : many);
}

bool ToleratesTaints(const RequestToAllocate& request, const api::Device& device) {
  return std::all_of(
      device.taints.begin(), device.taints.end(), [&request](const api::DeviceTaint& taint) {
        if (taint.effect != api::kDeviceTaintNoSchedule &&
            taint.effect != api::kDeviceTaintNoExecute)
          return true;
        return std::any_of(
            request.tolerations.begin(), request.tolerations.end(),
            [&taint](const auto& toleration) { return Tolerates(toleration, taint); });
      });
}

bool WouldDo(const RequestToAllocate& request, const ViewedDevice& viewed,
             const DeviceInventory& inventory, DeviceExpressions& expressions) {
  return Find(request, viewed, inventory, expressions).obstacle == Obstacle::kNone;
}

std::string DescribeAttribute(const ViewedDevice& viewed, std::string_view attribute) {
  const api::DeviceAttribute* found =
      FindAttribute(viewed.device(), viewed.slice->spec().driver, attribute);
  const std::string value = found == nullptr ? "" : ValueText(*found);
  return viewed.device().name + " has " + (value.empty() ? "none" : value);
}

std::string DescribeShortage(const RequestToAllocate& request, const PoolsOfNode& pools,
                             const DeviceInventory& inventory, DeviceExpressions& expressions) {
  const std::string where = "request " + request.FullName() + ": ";
  Counts counts;
  counts.unmatched.resize(request.selectors.size());
  std::string incomplete;
  for (const auto& view : pools.pools) {
    if (view->state() == PoolView::State::kIncomplete) {
      incomplete = "; pool " + view->pool().Id() + " is not published whole";
    }
    for (const ViewedDevice& viewed : view->devices()) {
      Count(request, viewed, Find(request, viewed, inventory, expressions), counts);
    }
  }
  if (counts.devices == 0) return where + "the node has no devices" + incomplete;
  const bool enough =
      request.all ? counts.usable > 0 && counts.in_use == 0 : counts.usable >= request.count;
  if (enough) return "";
  std::string text = where + std::to_string(counts.usable) + " of " +
                     Are(counts.devices, "device", "devices") + " would do, " +
                     (request.all ? "all are" : Are(request.count, "is", "are")) + " asked for";
  std::string_view before = ": ";
  const auto add = [&](const std::string& what) {
    text.append(before).append(what);
    before = ", ";
  };
  for (size_t i = 0; i < counts.unmatched.size(); ++i) {
    const auto& [count, read] = counts.unmatched[i];
    if (count == 0) continue;
    add(Are(count, "does", "do") + " not match " + request.selectors[i].expression->text + " (" +
        read + ")");
  }
  if (counts.without_capacity.first > 0) {
    add(Are(counts.without_capacity.first, "has", "have") + " too little capacity (" +
        counts.without_capacity.second + ")");
  }
  if (counts.tainted > 0)
    add(Are(counts.tainted, "has", "have") + " taints that it does not tolerate");
  if (counts.in_use > 0) add(Are(counts.in_use, "is", "are") + " in use");
  return text + incomplete;
}

std::string DescribeConstraint(const ClaimsToAllocate& claims, size_t constraint,
                               const PoolsOfNode& pools, const DeviceInventory& inventory,
                               DeviceExpressions& expressions) {
  const ConstraintToMeet& meet = claims.constraints[constraint];
  int64_t wanted = 0;
  // By value: how many devices have it, and the first of them.
  std::map<std::string, std::pair<int64_t, std::string>> by_value;
  std::set<DeviceRow> seen;
  for (const RequestToAllocate& request : claims.requests) {
    const auto applies = std::ranges::find(request.constraints, constraint,
                                           &RequestToAllocate::Constraint::constraint);
    if (applies == request.constraints.end()) continue;
    // How many devices these take, or what they have of the attribute, is not said beforehand.
    if (request.all || !request.parent.empty() || applies->derived != nullptr) return "";
    wanted += request.count;
    for (const auto& view : pools.pools) {
      for (const ViewedDevice& viewed : view->devices()) {
        if (seen.contains(viewed.row) ||
            Find(request, viewed, inventory, expressions).obstacle != Obstacle::kNone) {
          continue;
        }
        seen.insert(viewed.row);
        const api::DeviceAttribute* attribute =
            FindAttribute(viewed.device(), viewed.slice->spec().driver, meet.attribute);
        if (attribute == nullptr) continue;
        std::string value = ValueText(*attribute);
        if (value.empty()) return "";
        auto& [count, device] = by_value[std::move(value)];
        // Several claims, and several requests, may have shares of one device.
        count += viewed.device().allow_multiple_allocations.value_or(false) ? wanted : 1;
        if (device.empty()) device = viewed.device().name;
      }
    }
  }
  int64_t most = 0;
  std::string examples;
  for (const auto& [value, found] : by_value) {
    most = std::max(most, found.first);
    examples += (examples.empty() ? "" : ", ") + found.second + " has " + value;
  }
  const int64_t possible = meet.distinct ? static_cast<int64_t>(by_value.size()) : most;
  if (possible >= wanted) return "";
  return std::string(meet.distinct ? "distinctAttribute " : "matchAttribute ") + meet.attribute +
         ": " + Are(wanted, "device", "devices") + " with " +
         (meet.distinct ? "different values are" : "one value are") + " asked for, there are " +
         std::to_string(possible) + (examples.empty() ? "" : " (" + examples + ")");
}

}  // namespace berth::plugins::dra
