// SPDX-License-Identifier: Apache-2.0

#include "berth/label_selector.h"
#include "src/framework/loadable/host_table.h"
#include "src/framework/loadable/views.h"

namespace berth::framework::loadable {
namespace {

berth_string NodeText(const berth_node* node, int32_t name) {
  switch (name) {
    case BERTH_NODE_NAME:
      return View(NodeOf(node).metadata.name);
    case BERTH_NODE_UID:
      return View(NodeOf(node).metadata.uid);
    default:
      return {};
  }
}

int64_t NodeNumber(const berth_node* node, int32_t name) {
  const auto row = RowOf(node);
  switch (name) {
    case BERTH_NODE_UNSCHEDULABLE:
      return NodeOf(node).spec.unschedulable ? 1 : 0;
    case BERTH_NODE_ALLOWED_PODS:
      return row ? row->allowed_pods() : 0;
    case BERTH_NODE_POD_COUNT:
      return row ? row->pod_count() : 0;
    default:
      return 0;
  }
}

bool NodeTaint(const berth_node* node, size_t index, berth_taint* taint) {
  const auto& taints = NodeOf(node).spec.taints;
  if (index >= taints.size()) return false;
  *taint = {View(taints[index].key), View(taints[index].value), View(taints[index].effect)};
  return true;
}

bool NodeFindAllocatable(const berth_node* node, berth_string resource, int64_t* amount) {
  const api::Quantity* found = api::Find(NodeOf(node).status.allocatable, Text(resource));
  if (found == nullptr) return false;
  *amount = found->Value();
  return true;
}

void NodeEachPod(const berth_node* node, bool (*visit)(void*, const berth_pod*), void* context) {
  const auto row = RowOf(node);
  if (!row) return;
  bool more = true;
  row->ForEachPod([&](const PodInfo& pod) {
    if (!more) return;
    const berth_pod view = View(pod);
    more = visit(context, &view);
  });
}

bool NodesAt(const berth_nodes* nodes, uint32_t row, berth_node* node) {
  const Snapshot& snapshot = SnapshotOf(nodes);
  if (!snapshot.nodes().Test(row)) return false;
  *node = View(NodeView(snapshot, row));
  return true;
}

const int64_t* NodesColumn(const berth_nodes* nodes, int32_t column, uint32_t resource) {
  const Snapshot& snapshot = SnapshotOf(nodes);
  Column found;
  switch (column) {
    case BERTH_COLUMN_ALLOCATABLE:
      found = snapshot.allocatable(resource);
      break;
    case BERTH_COLUMN_REQUESTED:
      found = snapshot.requested(resource);
      break;
    case BERTH_COLUMN_ALLOWED_PODS:
      found = snapshot.allowed_pods();
      break;
    case BERTH_COLUMN_POD_COUNT:
      found = snapshot.pod_count();
      break;
    case BERTH_COLUMN_NON_ZERO_REQUESTED:
      if (resource <= kMemory) found = snapshot.non_zero_requested(resource);
      break;
    default:
      break;
  }
  return found.values.empty() ? nullptr : found.values.data();
}

void NodesWithLabel(const berth_nodes* nodes, berth_string key, berth_string value,
                    uint64_t* words) {
  const Snapshot& snapshot = SnapshotOf(nodes);
  NodeSet found(snapshot.num_rows());
  snapshot.NodesWithLabel(Text(key), Text(value), found);
  for (const uint64_t word : found.words()) *words++ |= word;
}

int64_t NodesCountPods(const berth_nodes* nodes, berth_string namespace_, berth_string key,
                       berth_string value) {
  PodTerm term;
  term.namespaces.emplace_back(Text(namespace_));
  term.selector = LabelSelectorMatcher::Everything();
  term.selector.Require(Text(key), Text(value));
  PodQuery query;
  query.all_of.push_back(std::move(term));
  query.skip_terminating = true;
  return SnapshotOf(nodes).CountPods(query)->by_row().total();
}

}  // namespace

void FillNodes(berth_host& host) {
  host.node_text = NodeText;
  host.node_number = NodeNumber;
  host.node_labels = [](const berth_node* node) { return View(NodeOf(node).metadata.labels); };
  host.node_annotations = [](const berth_node* node) {
    return View(NodeOf(node).metadata.annotations);
  };
  host.node_num_taints = [](const berth_node* node) { return NodeOf(node).spec.taints.size(); };
  host.node_taint = NodeTaint;
  host.node_allocatable = [](const berth_node* node, uint32_t resource) -> int64_t {
    const auto row = RowOf(node);
    return row ? row->allocatable(resource) : 0;
  };
  host.node_requested = [](const berth_node* node, uint32_t resource) -> int64_t {
    const auto row = RowOf(node);
    return row ? row->requested(resource) : 0;
  };
  host.node_each_pod = NodeEachPod;
  host.node_non_zero_requested = [](const berth_node* node, uint32_t resource) -> int64_t {
    const auto row = RowOf(node);
    return row && resource <= kMemory ? row->non_zero_requested(resource) : 0;
  };
  host.node_find_allocatable = NodeFindAllocatable;
  host.node_nodes = [](const berth_node* node) -> const berth_nodes* {
    return node->nodes == nullptr ? nullptr : View(*static_cast<const Snapshot*>(node->nodes));
  };

  host.nodes_num_rows = [](const berth_nodes* nodes) { return SnapshotOf(nodes).num_rows(); };
  host.nodes_count = [](const berth_nodes* nodes) { return SnapshotOf(nodes).num_nodes(); };
  host.nodes_words = [](const berth_nodes* nodes) {
    return SnapshotOf(nodes).nodes().words().data();
  };
  host.nodes_at = NodesAt;
  host.nodes_find = [](const berth_nodes* nodes, berth_string name, berth_node* node) {
    const NodeRow row = SnapshotOf(nodes).FindNode(Text(name));
    return row != kNoRow && NodesAt(nodes, row, node);
  };
  host.nodes_column = NodesColumn;
  host.nodes_with_label = NodesWithLabel;
  host.nodes_count_pods = NodesCountPods;
  host.statuses_code = [](const berth_statuses* statuses, uint32_t row) -> berth_code {
    return static_cast<berth_code>(
        reinterpret_cast<const NodeToStatus*>(statuses)->Get(row).code());
  };
}

}  // namespace berth::framework::loadable
