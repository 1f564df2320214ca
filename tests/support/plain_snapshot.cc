// SPDX-License-Identifier: Apache-2.0
#include "tests/support/plain_snapshot.h"

#include <algorithm>

#include "berth/check.h"

namespace berth::test {
namespace {

struct PlainTopology : Topology {
  std::vector<DomainId> rows;
};

class PlainPodCounts final : public PodCounts {
 public:
  PlainPodCounts(const Snapshot& snapshot, const PodQuery& query) {
    for (NodeRow row = 0; row < snapshot.num_rows(); ++row) {
      for (const PodInfo* pod : snapshot.pods(row)) {
        if (query.Matches(*pod->pod)) by_row_.Add(row, 1);
      }
    }
  }

  const Counts& by_row() const override { return by_row_; }
  const Counts& by_domain(const Topology& topology) const override {
    const auto [at, added] = by_domain_.try_emplace(topology.key);
    if (!added) return at->second;
    by_row_.ForEach([&](NodeRow row, int32_t count) {
      const DomainId domain = topology.domain_of[row];
      if (domain != kNoDomain) at->second.Add(domain, count);
    });
    return at->second;
  }

 private:
  Counts by_row_;
  mutable std::map<std::string, Counts> by_domain_;  // by topology key
};

}  // namespace

PlainSnapshot::PlainSnapshot(PlainResourceNames& names, const std::vector<api::Node>& nodes,
                             const std::vector<api::Pod>& pods)
    : names_(&names),
      all_(nodes.size(), true),
      pods_(nodes.size()),
      allowed_pods_(nodes.size()),
      pod_count_(nodes.size()),
      unschedulable_(nodes.size()),
      taint_set_of_(nodes.size()),
      with_host_ports_(nodes.size()),
      host_ports_(nodes.size()),
      closed_(nodes.size()) {
  for (const api::Node& node : nodes) nodes_.push_back(std::make_shared<const api::Node>(node));
  for (NodeRow row = 0; row < nodes_.size(); ++row) AddNode(row, *nodes_[row]);
  for (const api::Pod& pod : pods) {
    const NodeRow row = FindNode(pod.spec.node_name);
    if (row != kNoRow) AddPod(row, pod);
  }
}

void PlainSnapshot::AddNode(NodeRow row, const api::Node& node) {
  const Resources amounts = ToResources(node.status.allocatable, *names_);
  AddAmounts(allocatable_, row, amounts);
  if (const api::Quantity* allowed = api::Find(node.status.allocatable, "pods")) {
    allowed_pods_[row] = allowed->Value();
  }
  unschedulable_.Put(row, node.spec.unschedulable);
  const auto same = std::find(taint_sets_.begin(), taint_sets_.end(), node.spec.taints);
  taint_set_of_[row] = static_cast<TaintSetId>(same - taint_sets_.begin());
  if (same == taint_sets_.end()) taint_sets_.push_back(node.spec.taints);
  for (const api::ContainerImage& image : node.status.images) {
    for (const std::string& name : image.names) {
      const auto [at, added] = images_.try_emplace(name);
      if (added) at->second.size_bytes = image.size_bytes;
      std::vector<NodeRow>& rows = at->second.rows;
      if (rows.empty() || rows.back() != row) rows.push_back(row);
    }
  }
}

void PlainSnapshot::AddPod(NodeRow row, const api::Pod& pod) {
  PodInfoPtr info = PodInfo::Make(std::make_shared<const api::Pod>(pod), *names_);
  pods_[row].push_back(info.get());
  ++pod_count_[row];
  AddAmounts(requested_, row, info->placed);
  At(non_zero_requested_, kCpu)[row] += info->non_zero_milli_cpu;
  At(non_zero_requested_, kMemory)[row] += info->non_zero_memory;
  for (const HostPort& port : info->host_ports) {
    host_ports_[row].push_back(port);
    with_host_ports_.Set(row);
  }
  if (info->affinity != nullptr) {
    info->affinity->ForEach([&](const AffinityTerm& term) { CountTerm(row, term); });
  }
  pod_infos_.push_back(std::move(info));
}

void PlainSnapshot::CountTerm(NodeRow row, const AffinityTerm& term) {
  const std::shared_ptr<const Topology> topology = GetTopology(term.topology_key);
  const DomainId domain = topology->domain_of[row];
  if (domain == kNoDomain) return;
  auto same = std::find_if(terms_.begin(), terms_.end(),
                           [&](const CountedTerm& counted) { return counted.term == term; });
  if (same == terms_.end()) same = terms_.insert(same, {term, topology, {}});
  same->by_domain.Add(domain, 1);
}

void PlainSnapshot::AddAmounts(Columns& columns, NodeRow row, const Resources& amounts) {
  At(columns, kCpu)[row] += amounts.milli_cpu;
  At(columns, kMemory)[row] += amounts.memory;
  At(columns, kEphemeralStorage)[row] += amounts.ephemeral_storage;
  for (const auto& [id, amount] : amounts.scalars) At(columns, id)[row] += amount;
}

std::vector<int64_t>& PlainSnapshot::At(Columns& columns, ResourceId id) {
  std::vector<int64_t>& column = columns[id];
  column.resize(nodes_.size());
  return column;
}

Column PlainSnapshot::Of(const Columns& columns, ResourceId id) const {
  const auto found = columns.find(id);
  if (found == columns.end()) return Column();
  if (!list_few_ || id < kFirstScalar) return Column{found->second};
  std::vector<RowAmount>& few = few_.emplace_back();
  for (NodeRow row = 0; row < found->second.size(); ++row) {
    if (found->second[row] != 0) few.push_back({row, found->second[row]});
  }
  return Column{{}, few};
}

const PodInfo& PlainSnapshot::pod(std::string_view name) const {
  for (const PodInfoPtr& info : pod_infos_) {
    if (info->pod->metadata.name == name) return *info;
  }
  BERTH_CHECK(false, "no such pod in the snapshot");
  return *pod_infos_.front();
}

NodeView PlainSnapshot::view(std::string_view name, const Overlay* overlay) const {
  const NodeRow row = FindNode(name);
  BERTH_CHECK(row != kNoRow, "no such node in the snapshot");
  return NodeView(*this, row, overlay);
}

NodeRow PlainSnapshot::FindNode(std::string_view name) const {
  for (NodeRow row = 0; row < nodes_.size(); ++row) {
    if (nodes_[row]->metadata.name == name) return row;
  }
  return kNoRow;
}

void PlainSnapshot::NodesWithLabel(std::string_view key, std::string_view value,
                                   NodeSet& out) const {
  for (NodeRow row = 0; row < nodes_.size(); ++row) {
    const std::string* label = api::Find(nodes_[row]->metadata.labels, key);
    if (label != nullptr && *label == value) out.Set(row);
  }
}

void PlainSnapshot::NodesWithLabelKey(std::string_view key, NodeSet& out) const {
  for (NodeRow row = 0; row < nodes_.size(); ++row) {
    if (api::Find(nodes_[row]->metadata.labels, key) != nullptr) out.Set(row);
  }
}

std::shared_ptr<const Topology> PlainSnapshot::GetTopology(std::string_view key) const {
  if (const auto known = topologies_.find(key); known != topologies_.end()) return known->second;
  auto topology = std::make_shared<PlainTopology>();
  topology->key = key;
  topology->rows.assign(nodes_.size(), kNoDomain);
  topology->domain_of = topology->rows;
  topology->nodes = NodeSet(nodes_.size());
  std::map<std::string, std::vector<NodeRow>> rows_by_value;
  for (NodeRow row = 0; row < nodes_.size(); ++row) {
    const std::string* value = api::Find(nodes_[row]->metadata.labels, key);
    if (value != nullptr) rows_by_value[*value].push_back(row);
  }
  for (const auto& [value, rows] : rows_by_value) {
    const auto domain = static_cast<DomainId>(topology->values.size());
    topology->values.push_back(value);
    topology->num_nodes.push_back(static_cast<uint32_t>(rows.size()));
    topology->by_value.push_back(domain);
    for (const NodeRow row : rows) {
      topology->rows[row] = domain;
      topology->nodes.Set(row);
    }
  }
  topology->num_domains = topology->values.size();
  topologies_.emplace(key, topology);
  return topology;
}

std::shared_ptr<const PodCounts> PlainSnapshot::CountPods(const PodQuery& query) const {
  return std::make_shared<PlainPodCounts>(*this, query);
}

void PlainSnapshot::MatchingAffinityTerms(const api::Pod& pod,
                                          const api::StringMap& namespace_labels,
                                          AffinityTermKinds kinds,
                                          std::vector<AffinityTermCounts>& out) const {
  for (const CountedTerm& counted : terms_) {
    if ((kinds & Only(counted.term.kind)) == 0) continue;
    if (!counted.term.Matches(pod, namespace_labels)) continue;
    out.push_back({0, &counted.term, counted.topology.get(), &counted.by_domain});
  }
}

uint64_t PlainSnapshot::NextGeneration() {
  static uint64_t generation = 0;
  return ++generation;
}

bool PlainSnapshot::IsClaimUsed(std::string_view namespace_, std::string_view claim) const {
  const auto names = [&](const api::Volume& volume) {
    return volume.persistent_volume_claim && volume.persistent_volume_claim->claim_name == claim;
  };
  return std::ranges::any_of(pods_, [&](const auto& on_node) {
    return std::ranges::any_of(on_node, [&](const PodInfo* pod) {
      return pod->pod->metadata.namespace_ == namespace_ &&
             std::ranges::any_of(pod->pod->spec.volumes, names);
    });
  });
}

std::optional<ImageState> PlainSnapshot::FindImage(std::string_view name) const {
  const auto found = images_.find(name);
  if (found == images_.end()) return std::nullopt;
  return ImageState{found->second.size_bytes, found->second.rows};
}

}  // namespace berth::test
