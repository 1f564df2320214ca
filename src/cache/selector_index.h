// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "berth/api/meta.h"
#include "berth/label_selector.h"
#include "src/base/string_map.h"

namespace berth::cache {

// The pods that something means: those of some namespaces whose labels a selector matches.
struct PodScope {
  std::span<const std::string> namespaces;  // unique
  bool all_namespaces = false;              // whatever `namespaces` says
  const LabelSelectorMatcher& selector;
};

// Finds the scopes that a pod may be in, among many, without a look at each: a scope stands under
// its namespaces, and there under one label, or label pair, that its selector demands. Of several
// it is the pair shared with fewest others. A scope is added and removed in constant time, however
// many stand where it does.
//
// Thread safety: one owner.
class SelectorIndex {
 public:
  // `id` must not be in the index; ids should be small.
  void Add(uint32_t id, const PodScope& scope);
  // Takes back an Add() of the same id and scope.
  void Remove(uint32_t id, const PodScope& scope);
  // About how many others a pod of the scope would find besides it; to choose between scopes.
  size_t Crowd(const PodScope& scope) const;

  // Calls visit(id) once for every scope that a pod with this namespace and these labels may be
  // in. `visit` must not change the index.
  template <typename Visit>
  void ForEachCandidate(std::string_view namespace_, const api::StringMap& labels,
                        Visit visit) const {
    if (size_ == 0) return;
    Candidates(everywhere_, labels, visit);
    if (const auto it = by_namespace_.find(namespace_); it != by_namespace_.end()) {
      Candidates(it->second, labels, visit);
    }
  }

  size_t size() const { return size_; }

 private:
  // A place of a scope. It has one in each list that it stands in, numbered in the order in which
  // Add() and Remove() meet them.
  struct Place {
    uint32_t id = 0;
    uint32_t nth = 0;
  };
  using Ids = std::vector<Place>;
  struct Label {
    base::StringMap<Ids> by_value;  // none of them empty
    Ids any_value;
  };
  struct Space {
    base::StringMap<Label> by_key;  // none of them empty
    Ids rest;                       // selectors that demand no label

    bool empty() const { return by_key.empty() && rest.empty(); }
  };
  // The requirement of a selector under which it stands.
  using Anchor = uint32_t;
  static constexpr Anchor kNoAnchor = UINT32_MAX;

  template <typename Visit>
  static void Candidates(const Space& space, const api::StringMap& labels, Visit& visit) {
    for (const Place& place : space.rest) visit(place.id);
    if (space.by_key.empty()) return;
    for (const auto& [key, value] : labels) {
      const auto label = space.by_key.find(key);
      if (label == space.by_key.end()) continue;
      for (const Place& place : label->second.any_value) visit(place.id);
      const auto ids = label->second.by_value.find(value);
      if (ids == label->second.by_value.end()) continue;
      for (const Place& place : ids->second) visit(place.id);
    }
  }

  struct Choice {
    Anchor anchor = kNoAnchor;
    size_t crowd = SIZE_MAX;
  };
  Choice Choose(const PodScope& scope) const;
  size_t Crowd(const PodScope& scope, const LabelSelectorMatcher::Requirement& requirement) const;
  void AddTo(Space& space, uint32_t id, const LabelSelectorMatcher::Requirement* anchor);
  // `nth`: of the first list in the space; becomes that of the next space's first.
  void RemoveFrom(Space& space, uint32_t id, const LabelSelectorMatcher::Requirement* anchor,
                  uint32_t& nth);
  void Append(Ids& ids, uint32_t id);
  void Erase(Ids& ids, uint32_t id, uint32_t nth);

  struct Scope {
    Anchor anchor = kNoAnchor;
    absl::InlinedVector<uint32_t, 2> positions;  // in its lists
  };

  Space everywhere_;
  base::StringMap<Space> by_namespace_;  // none of them empty
  std::vector<Scope> scopes_;            // by id
  size_t size_ = 0;
};

}  // namespace berth::cache
