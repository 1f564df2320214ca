// SPDX-License-Identifier: Apache-2.0
#include "src/cache/selector_index.h"

#include "berth/check.h"

namespace berth::cache {
namespace {

using Operator = LabelSelectorMatcher::Operator;
using Requirement = LabelSelectorMatcher::Requirement;

// A scope with more namespaces, or values of a label, stands under all of them: to look at it once
// in vain costs less than to write it down so often.
constexpr size_t kMaxNamespaces = 16;
constexpr size_t kMaxValues = 16;
// A label key is shared with more than its pairs show, and with less than everything.
constexpr size_t kKeyCrowd = size_t{1} << 32;

bool Everywhere(const PodScope& scope) {
  return scope.all_namespaces || scope.namespaces.size() > kMaxNamespaces;
}

bool DemandsLabel(const Requirement& requirement) {
  return requirement.op == Operator::kIn || requirement.op == Operator::kExists;
}

bool ByValue(const Requirement& requirement) {
  return requirement.op == Operator::kIn && requirement.values.size() <= kMaxValues;
}

}  // namespace

void SelectorIndex::Add(uint32_t id, const PodScope& scope) {
  if (id >= scopes_.size()) scopes_.resize(id + 1);
  scopes_[id] = {Choose(scope).anchor, {}};
  ++size_;
  if (scope.selector.nothing()) return;
  const Anchor chosen = scopes_[id].anchor;
  const auto* anchor = chosen == kNoAnchor ? nullptr : &scope.selector.requirements()[chosen];
  if (Everywhere(scope)) return AddTo(everywhere_, id, anchor);
  for (const std::string& name : scope.namespaces) AddTo(by_namespace_[name], id, anchor);
}

void SelectorIndex::Remove(uint32_t id, const PodScope& scope) {
  --size_;
  if (scope.selector.nothing()) return;
  const Anchor chosen = scopes_[id].anchor;
  const auto* anchor = chosen == kNoAnchor ? nullptr : &scope.selector.requirements()[chosen];
  uint32_t nth = 0;
  if (Everywhere(scope)) return RemoveFrom(everywhere_, id, anchor, nth);
  for (const std::string& name : scope.namespaces) {
    const auto space = by_namespace_.find(name);
    RemoveFrom(space->second, id, anchor, nth);
    if (space->second.empty()) by_namespace_.erase(space);
  }
}

void SelectorIndex::Append(Ids& ids, uint32_t id) {
  auto& positions = scopes_[id].positions;
  positions.push_back(static_cast<uint32_t>(ids.size()));
  ids.push_back({id, static_cast<uint32_t>(positions.size() - 1)});
}

void SelectorIndex::Erase(Ids& ids, uint32_t id, uint32_t nth) {
  const uint32_t position = scopes_[id].positions[nth];
  BERTH_CHECK(position < ids.size() && ids[position].id == id, "scope is not in the index");
  const Place last = ids.back();
  ids[position] = last;
  scopes_[last.id].positions[last.nth] = position;
  ids.pop_back();
}

size_t SelectorIndex::Crowd(const PodScope& scope) const {
  return scope.selector.nothing() ? 0 : Choose(scope).crowd;
}

SelectorIndex::Choice SelectorIndex::Choose(const PodScope& scope) const {
  Choice best;
  const auto requirements = scope.selector.requirements();
  for (Anchor i = 0; i < requirements.size(); ++i) {
    if (!DemandsLabel(requirements[i])) continue;
    const size_t crowd = Crowd(scope, requirements[i]);
    if (crowd < best.crowd) best = {i, crowd};
  }
  return best;
}

size_t SelectorIndex::Crowd(const PodScope& scope, const Requirement& requirement) const {
  if (!ByValue(requirement)) return kKeyCrowd;
  size_t crowd = 0;
  const auto count = [&](const Space& space) {
    const auto label = space.by_key.find(requirement.key);
    if (label == space.by_key.end()) return;
    for (const std::string& value : requirement.values) {
      const auto ids = label->second.by_value.find(value);
      if (ids != label->second.by_value.end()) crowd += ids->second.size();
    }
  };
  if (Everywhere(scope)) {
    count(everywhere_);
    return crowd;
  }
  for (const std::string& name : scope.namespaces) {
    if (const auto it = by_namespace_.find(name); it != by_namespace_.end()) count(it->second);
  }
  return crowd;
}

void SelectorIndex::AddTo(Space& space, uint32_t id, const Requirement* anchor) {
  if (anchor == nullptr) return Append(space.rest, id);
  Label& label = space.by_key[anchor->key];
  if (!ByValue(*anchor)) return Append(label.any_value, id);
  for (const std::string& value : anchor->values) Append(label.by_value[value], id);
}

void SelectorIndex::RemoveFrom(Space& space, uint32_t id, const Requirement* anchor,
                               uint32_t& nth) {
  if (anchor == nullptr) return Erase(space.rest, id, nth++);
  const auto at = space.by_key.find(anchor->key);
  Label& label = at->second;
  if (ByValue(*anchor)) {
    for (const std::string& value : anchor->values) {
      const auto ids = label.by_value.find(value);
      Erase(ids->second, id, nth++);
      if (ids->second.empty()) label.by_value.erase(ids);
    }
  } else {
    Erase(label.any_value, id, nth++);
  }
  if (label.by_value.empty() && label.any_value.empty()) space.by_key.erase(at);
}

}  // namespace berth::cache
