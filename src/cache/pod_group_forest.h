// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "berth/in_tree/pod_groups.h"
#include "src/base/string_map.h"

namespace berth::cache {

// The pod groups that the API server shows, and what they are part of. A composite group that is
// only named by its children has a node, without an object.
//
// Thread safety: the scheduling thread.
class PodGroupForest final : public berth::PodGroupForest {
 public:
  // Feature gate CompositePodGroup; off, no group has a parent.
  explicit PodGroupForest(bool composite_pod_groups = false)
      : composite_pod_groups_(composite_pod_groups) {}
  PodGroupForest(const PodGroupForest&) = delete;
  PodGroupForest& operator=(const PodGroupForest&) = delete;

  const PodGroupNode* Find(std::string_view namespace_, std::string_view name) const override;
  const PodGroupNode* FindComposite(std::string_view namespace_,
                                    std::string_view name) const override;
  // The node of a group by its object's name.
  const PodGroupNode* Find(const AnyPodGroup& group) const;

  // A group, or its newest version, which may be part of another one.
  void Set(AnyPodGroup object);
  void Remove(const AnyPodGroup& object);

  // Those without an object included.
  size_t size() const { return pod_groups_.size() + composites_.size(); }

 private:
  using Nodes = base::StringMap<std::unique_ptr<PodGroupNode>>;  // by "namespace/name"

  const Nodes& NodesOf(bool composite) const { return composite ? composites_ : pod_groups_; }
  Nodes& NodesOf(bool composite) { return composite ? composites_ : pod_groups_; }
  PodGroupNode& Get(bool composite, std::string_view namespace_, std::string_view name);
  void Link(PodGroupNode& node);
  void Unlink(PodGroupNode& node);

  const bool composite_pod_groups_;
  Nodes pod_groups_;
  Nodes composites_;
};

}  // namespace berth::cache
