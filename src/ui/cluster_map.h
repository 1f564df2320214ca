// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/node.h"
#include "berth/resources.h"
#include "src/base/json.h"
#include "src/base/string_map.h"

namespace berth::ui {

// Numbers names in the order in which they come.
class NameTable final : public ResourceNames {
 public:
  uint32_t Intern(std::string_view name) override;
  std::string_view Name(uint32_t id) const override { return names_[id]; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  base::StringMap<uint32_t> ids_;
};

// What the page draws: nodes with their zone, pool and what they offer, pods with what they ask
// for, in columns, so that 5,000 nodes and 50,000 pods are one document of a few megabytes.
//
// A row holds over a span of steps, so that the map of a recording can be drawn after any of its
// decisions; a picture has but one step, 0, and all its rows hold there.
//
// Thread safety: one owner.
class ClusterMap {
 public:
  using Row = uint32_t;
  static constexpr Row kNone = std::numeric_limits<Row>::max();

  // The resources that every cluster has come first, in the order of their ids.
  ClusterMap();

  Row AddNode(const api::Node& node, uint32_t from = 0);
  // `node`: the row, or kNone for a pending pod, or one whose node is not there.
  Row AddPod(const api::Pod& pod, Row node, uint32_t from = 0);
  // They hold no longer from this step on.
  void EndNode(Row node, uint32_t step) { node_until_[node] = step; }
  void EndPod(Row pod, uint32_t step) { pod_until_[pod] = step; }

  size_t num_nodes() const { return node_name_.size(); }
  size_t num_pods() const { return pod_name_.size(); }

  // Appends the document's members; docs/ui.md tells what they are.
  void AppendMembers(base::JsonObject& document) const;

 private:
  // What rows have of one resource: those that have any.
  struct Amounts {
    std::vector<Row> rows;
    std::vector<int64_t> values;
  };

  static void Add(const Resources& resources, Row row, std::vector<Amounts>& out);
  void AppendAmounts(const std::vector<Amounts>& amounts, size_t num_rows, std::string& out) const;
  void AppendNodes(std::string& out) const;
  void AppendPods(std::string& out) const;

  NameTable resources_;
  NameTable zones_;
  NameTable pools_;
  NameTable namespaces_;
  NameTable owners_;

  std::vector<std::string> node_name_;
  std::vector<uint32_t> node_zone_;
  std::vector<uint32_t> node_pool_;
  std::vector<Row> cordoned_;
  std::vector<uint32_t> node_from_;
  std::vector<uint32_t> node_until_;
  std::vector<int64_t> allowed_pods_;
  std::vector<Amounts> allocatable_;

  std::vector<std::string> pod_name_;
  std::vector<uint32_t> pod_namespace_;
  std::vector<int64_t> pod_node_;
  std::vector<uint32_t> pod_owner_;
  std::vector<int32_t> pod_priority_;
  std::vector<int64_t> pod_created_;
  std::vector<uint32_t> pod_from_;
  std::vector<uint32_t> pod_until_;
  std::vector<Amounts> requests_;
};

}  // namespace berth::ui
