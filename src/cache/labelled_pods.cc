// SPDX-License-Identifier: Apache-2.0
#include "src/cache/labelled_pods.h"

#include <utility>

namespace berth::cache {
namespace {

constexpr size_t kMaxEmpty = 32;

void AppendText(const std::string& part, std::string& text) {
  const auto size = static_cast<uint32_t>(part.size());
  text.append(reinterpret_cast<const char*>(&size), sizeof(size));
  text += part;
}

void AppendIdentity(const api::ObjectMeta& metadata, std::string& text) {
  text += metadata.deletion_timestamp ? '\1' : '\0';
  AppendText(metadata.namespace_, text);
  for (const auto& [key, value] : metadata.labels) {
    AppendText(key, text);
    AppendText(value, text);
  }
}

}  // namespace

LabelledPodsTable::Found LabelledPodsTable::Count(NodeRow row,
                                                  const std::shared_ptr<const api::Pod>& pod,
                                                  int32_t delta) {
  if (num_empty_ > kMaxEmpty && num_empty_ > groups_.size() / 2) Sweep();
  scratch_.clear();
  AppendIdentity(pod->metadata, scratch_);
  auto at = groups_.find(scratch_);
  const bool added = at == groups_.end();
  if (added) {
    auto group = std::make_unique<LabelledPods>(LabelledPods{scratch_, pod, Counts(), {}, 0});
    const std::string_view identity = group->identity;
    at = groups_.emplace(identity, std::move(group)).first;
    Index(*at->second);
    ++num_empty_;
  }
  LabelledPods& group = *at->second;
  if (group.by_row.empty()) --num_empty_;
  group.by_row.Add(row, delta);
  if (group.by_row.empty()) ++num_empty_;
  return {group, added};
}

void LabelledPodsTable::Index(LabelledPods& group) {
  by_namespace_[group.sample->metadata.namespace_].push_back(&group);
  for (const auto& [key, value] : group.sample->metadata.labels) {
    Label& label = by_label_[key];
    label.by_value[value].push_back(&group);
    ++label.size;
  }
}

LabelledPodsTable::Choice LabelledPodsTable::Choose(const PodScope& scope) const {
  if (scope.selector.nothing()) return {};
  Choice best{.crowd = groups_.size()};
  if (!scope.all_namespaces && scope.namespaces.size() < best.crowd) {
    size_t crowd = 0;
    for (const std::string& name : scope.namespaces) {
      const auto at = by_namespace_.find(name);
      if (at != by_namespace_.end()) crowd += at->second.size();
    }
    if (crowd <= best.crowd) best = {.crowd = crowd, .by_namespace = true};
  }
  for (const LabelSelectorMatcher::Requirement& requirement : scope.selector.requirements()) {
    if (best.crowd == 0) break;
    const size_t crowd = Crowd(requirement, best.crowd);
    if (crowd < best.crowd) best = {.crowd = crowd, .requirement = &requirement};
  }
  return best;
}

// How many groups may satisfy the requirement; where it tells nothing, or more than `limit`, that.
size_t LabelledPodsTable::Crowd(const LabelSelectorMatcher::Requirement& requirement,
                                size_t limit) const {
  using Operator = LabelSelectorMatcher::Operator;
  if (requirement.op != Operator::kIn && requirement.op != Operator::kExists) return limit;
  const auto label = by_label_.find(requirement.key);
  if (label == by_label_.end()) return 0;
  if (requirement.op == Operator::kExists) return label->second.size;
  size_t crowd = 0;
  for (const std::string& value : requirement.values) {
    const auto at = label->second.by_value.find(value);
    if (at != label->second.by_value.end()) crowd += at->second.size();
    if (crowd >= limit) return limit;
  }
  return crowd;
}

void LabelledPodsTable::Sweep() {
  absl::erase_if(groups_, [](const auto& entry) { return entry.second->by_row.empty(); });
  num_empty_ = 0;
  by_namespace_.clear();
  by_label_.clear();
  for (auto& [identity, group] : groups_) Index(*group);
}

}  // namespace berth::cache
