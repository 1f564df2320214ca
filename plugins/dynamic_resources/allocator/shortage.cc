// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/shortage.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/field_errors.h"

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

std::string Are(int64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count).append(" ").append(count == 1 ? one : many);
}

struct Counts {
  int64_t devices = 0;
  int64_t usable = 0;
  int64_t tainted = 0;
  int64_t in_use = 0;
  // By selector: those that match all before it, but not it; and what it read of the first.
  std::vector<std::pair<int64_t, std::string>> unmatched = {};
};

// False: some selector does not match.
bool CountSelectors(const RequestToAllocate& request, const DeviceOfDriver& device,
                    DeviceExpressions& expressions, Counts& counts) {
  for (size_t i = 0; i < request.selectors.size(); ++i) {
    const std::string& text = request.selectors[i].expression->text;
    if (expressions.Matches(text, device).kind == SelectorAnswer::Kind::kYes) continue;
    if (counts.unmatched[i].first++ == 0) {
      counts.unmatched[i].second = WhatIsRead(text, device.driver, device.device);
    }
    return false;
  }
  return true;
}

}  // namespace

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
      ++counts.devices;
      const DeviceOfDriver device{viewed.slice->spec().driver, viewed.device()};
      if (!CountSelectors(request, device, expressions, counts)) continue;
      if (!request.admin_access && inventory.is_held_whole(viewed.row)) {
        ++counts.in_use;
      } else if (inventory.features().device_taints && !ToleratesTaints(request, viewed.device())) {
        ++counts.tainted;
      } else {
        ++counts.usable;
      }
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
  if (counts.tainted > 0)
    add(Are(counts.tainted, "has", "have") + " taints that it does not tolerate");
  if (counts.in_use > 0) add(Are(counts.in_use, "is", "are") + " in use");
  return text + incomplete;
}

}  // namespace berth::plugins::dra
