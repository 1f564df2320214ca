// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/api/pod.h"
#include "berth/counts.h"
#include "berth/label_selector.h"
#include "berth/node_set.h"
#include "src/base/string_map.h"
#include "src/cache/selector_index.h"

namespace berth::cache {

// Placed pods that no PodQuery can tell apart: of one namespace, with the same labels, all or none
// of them being deleted.
struct LabelledPods {
  std::string identity;
  std::shared_ptr<const api::Pod> sample;
  Counts by_row;
  // Slots of the live queries that these pods match, and when the owner last listed them; both are
  // the owner's to keep.
  std::vector<uint32_t> queries;
  uint64_t listed = 0;
};

// All placed pods, by group. A group that its last pod has left stays until there are more such
// groups than others: the next pod of a workload often has the labels of the last. Groups are found
// by namespace and by label, so that who looks for some does not look at all.
//
// Thread safety: one owner.
class LabelledPodsTable {
 public:
  struct Found {
    LabelledPods& group;
    bool added;
  };
  // The group of `pod`, with its counts changed by `delta` on `row`; good until the next Count().
  Found Count(NodeRow row, const std::shared_ptr<const api::Pod>& pod, int32_t delta);

  // Calls visit(LabelledPods&) for every group, in an order that means nothing.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (auto& [identity, group] : groups_) visit(*group);
  }
  // Calls visit(LabelledPods&) once for every group that may be in the scope.
  template <typename Visit>
  void ForEachCandidate(const PodScope& scope, Visit visit) {
    const Choice choice = Choose(scope);
    if (choice.by_namespace) {
      for (const std::string& name : scope.namespaces) VisitAll(by_namespace_, name, visit);
    } else if (choice.requirement == nullptr) {
      if (!scope.selector.nothing()) ForEach(visit);
    } else {
      const auto label = by_label_.find(choice.requirement->key);
      if (label == by_label_.end()) return;
      if (choice.requirement->op == LabelSelectorMatcher::Operator::kExists) {
        for (auto& [value, groups] : label->second.by_value)
          for (LabelledPods* group : groups) visit(*group);
        return;
      }
      for (const std::string& value : choice.requirement->values)
        VisitAll(label->second.by_value, value, visit);
    }
  }
  // How many groups that are.
  size_t Crowd(const PodScope& scope) const { return Choose(scope).crowd; }
  size_t size() const { return groups_.size(); }

 private:
  using Groups = std::vector<LabelledPods*>;
  struct Label {
    base::StringMap<Groups> by_value;
    size_t size = 0;  // groups
  };
  // Where to look for the groups of a scope: in its namespaces, at the groups with a label that
  // its selector demands, or at all.
  struct Choice {
    size_t crowd = 0;
    bool by_namespace = false;
    const LabelSelectorMatcher::Requirement* requirement = nullptr;
  };

  template <typename Visit>
  static void VisitAll(base::StringMap<Groups>& map, const std::string& key, Visit& visit) {
    const auto at = map.find(key);
    if (at == map.end()) return;
    for (LabelledPods* group : at->second) visit(*group);
  }
  Choice Choose(const PodScope& scope) const;
  size_t Crowd(const LabelSelectorMatcher::Requirement& requirement, size_t limit) const;
  void Index(LabelledPods& group);
  void Sweep();

  absl::flat_hash_map<std::string_view, std::unique_ptr<LabelledPods>> groups_;  // by identity
  base::StringMap<Groups> by_namespace_;
  base::StringMap<Label> by_label_;
  size_t num_empty_ = 0;
  std::string scratch_;
};

}  // namespace berth::cache
