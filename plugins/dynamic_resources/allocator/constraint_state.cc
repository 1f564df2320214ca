// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocator/constraint_state.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace berth::plugins::dra {
namespace {

using api::DeviceAttribute;

// How `a` compares with `b`, by the first type of value that `a` has.
enum class Likeness { kSame, kDifferent, kUnknownType };

Likeness Compare(const DeviceAttribute& a, const DeviceAttribute& b) {
  const auto compare = [](const auto& x, const auto& y) {
    return y.has_value() && *x == *y ? Likeness::kSame : Likeness::kDifferent;
  };
  if (a.string.has_value()) return compare(a.string, b.string);
  if (a.int_.has_value()) return compare(a.int_, b.int_);
  if (a.bool_.has_value()) return compare(a.bool_, b.bool_);
  // Versions are equal where their texts are: semver has one way to write each.
  if (a.version.has_value()) return compare(a.version, b.version);
  return Likeness::kUnknownType;
}

const DeviceAttribute* FindByKey(const api::Device& device, std::string_view key) {
  const auto& attributes = device.attributes;
  const auto found = std::lower_bound(
      attributes.begin(), attributes.end(), key,
      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  return found != attributes.end() && found->first == key ? &found->second : nullptr;
}

std::string Text(int64_t value) { return std::to_string(value); }
std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(const std::string& value) { return value; }

}  // namespace

const DeviceAttribute* FindAttribute(const api::Device& device, std::string_view driver,
                                     std::string_view name) {
  if (const DeviceAttribute* found = FindByKey(device, name)) return found;
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.substr(0, slash) != driver) return nullptr;
  return FindByKey(device, name.substr(slash + 1));
}

void ConstraintState::Reset(bool distinct, bool lists) {
  distinct_ = distinct;
  lists_ = lists;
  chosen_.clear();
  values_.clear();
}

bool ConstraintState::Add(const DeviceAttribute* attribute) {
  if (attribute == nullptr) return false;
  if (lists_) return AddValues(*attribute);
  if (distinct_) {
    for (const DeviceAttribute* other : chosen_)
      if (Compare(*attribute, *other) != Likeness::kDifferent) return false;
  } else if (!chosen_.empty() && Compare(*attribute, *chosen_.front()) != Likeness::kSame) {
    return false;
  }
  chosen_.push_back(attribute);
  return true;
}

void ConstraintState::Remove() {
  if (lists_) {
    values_.pop_back();
  } else {
    chosen_.pop_back();
  }
}

bool ConstraintState::AddValues(const DeviceAttribute& attribute) {
  Values values = ValuesOf(attribute);
  if (values.type == 0) return false;
  if (distinct_) {
    for (const Values& other : values_)
      if (!Shared(values, other).values.empty()) return false;
  } else if (!values_.empty()) {
    values = Shared(values_.back(), values);
    if (values.values.empty()) return false;
  }
  values_.push_back(std::move(values));
  return true;
}

ConstraintState::Values ConstraintState::ValuesOf(const DeviceAttribute& attribute) {
  Values result;
  const auto add_list = [&result](char type, const auto& list) {
    if (result.type != 0 || list.empty()) return;
    result.type = type;
    for (const auto& value : list) result.values.push_back(Text(value));
  };
  const auto add_one = [&result](char type, const auto& value) {
    if (result.type != 0 || !value.has_value()) return;
    result.type = type;
    result.values.push_back(Text(*value));
  };
  add_list('i', attribute.ints);
  add_list('b', attribute.bools);
  add_list('s', attribute.strings);
  add_list('v', attribute.versions);
  add_one('i', attribute.int_);
  add_one('b', attribute.bool_);
  add_one('s', attribute.string);
  add_one('v', attribute.version);
  std::sort(result.values.begin(), result.values.end());
  result.values.erase(std::unique(result.values.begin(), result.values.end()), result.values.end());
  return result;
}

ConstraintState::Values ConstraintState::Shared(const Values& a, const Values& b) {
  Values shared;
  if (a.type != b.type) return shared;
  shared.type = a.type;
  std::set_intersection(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                        std::back_inserter(shared.values));
  return shared;
}

}  // namespace berth::plugins::dra
