// SPDX-License-Identifier: Apache-2.0
#include "src/ui/cluster_map.h"

#include "src/packing/survey.h"
#include "src/questions/pending_pods.h"
#include "src/ui/object_facts.h"

namespace berth::ui {
namespace {

using base::AppendJson;
using base::JsonList;
using base::JsonObject;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr uint32_t kForEver = std::numeric_limits<uint32_t>::max();

// The last step of rows that hold on is null.
void AppendUntil(const std::vector<uint32_t>& until, std::string& out) {
  JsonList list(out);
  for (const uint32_t step : until) {
    if (step == kForEver) {
      list.Next() += "null";
    } else {
      AppendJson(step, list.Next());
    }
  }
}

}  // namespace

uint32_t NameTable::Intern(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<uint32_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

ClusterMap::ClusterMap() {
  for (const char* name : {"cpu", "memory", "ephemeral-storage"}) resources_.Intern(name);
}

void ClusterMap::Add(const Resources& resources, Row row, std::vector<Amounts>& out) {
  const auto add = [&](ResourceId id, int64_t amount) {
    if (amount == 0) return;
    if (out.size() <= id) out.resize(id + 1);
    out[id].rows.push_back(row);
    out[id].values.push_back(amount);
  };
  add(kCpu, resources.milli_cpu);
  add(kMemory, resources.memory);
  add(kEphemeralStorage, resources.ephemeral_storage);
  for (const auto& [id, amount] : resources.scalars) add(id, amount);
}

ClusterMap::Row ClusterMap::AddNode(const api::Node& node, uint32_t from) {
  const auto row = static_cast<Row>(num_nodes());
  const std::string* zone = api::Find(node.metadata.labels, kZone);
  const api::Quantity* pods = api::Find(node.status.allocatable, "pods");
  node_name_.push_back(node.metadata.name);
  node_zone_.push_back(zones_.Intern(zone == nullptr ? "" : *zone));
  node_pool_.push_back(pools_.Intern(packing::NodePoolOf(node)));
  if (node.spec.unschedulable) cordoned_.push_back(row);
  node_from_.push_back(from);
  node_until_.push_back(kForEver);
  allowed_pods_.push_back(pods == nullptr ? 0 : pods->Value());
  Add(ToResources(node.status.allocatable, resources_), row, allocatable_);
  return row;
}

ClusterMap::Row ClusterMap::AddPod(const api::Pod& pod, Row node, uint32_t from) {
  const auto row = static_cast<Row>(num_pods());
  pod_name_.push_back(pod.metadata.name);
  pod_namespace_.push_back(namespaces_.Intern(pod.metadata.namespace_));
  pod_node_.push_back(node == kNone ? -1 : int64_t{node});
  pod_owner_.push_back(owners_.Intern(questions::OwnerOf(pod)));
  pod_priority_.push_back(pod.priority());
  pod_created_.push_back(CreatedAt(pod.metadata.creation_timestamp));
  pod_from_.push_back(from);
  pod_until_.push_back(kForEver);
  Add(ToResources(PodRequests(pod, {.use_status = node != kNone, .claim_status = true}),
                  resources_),
      row, requests_);
  return row;
}

void ClusterMap::AppendMembers(JsonObject& document) const {
  base::AppendJsonList(namespaces_.names(), document.Key("namespaces"));
  AppendNodes(document.Key("nodes"));
  base::AppendJsonList(owners_.names(), document.Key("owners"));
  AppendPods(document.Key("pods"));
  base::AppendJsonList(pools_.names(), document.Key("pools"));
  base::AppendJsonList(zones_.names(), document.Key("zones"));
}

void ClusterMap::AppendAmounts(const std::vector<Amounts>& amounts, size_t num_rows,
                               std::string& out) const {
  JsonObject object(out);
  for (size_t id = 0; id < amounts.size(); ++id) {
    const Amounts& some = amounts[id];
    if (some.rows.empty()) continue;
    std::string& member = object.Key(resources_.Name(static_cast<ResourceId>(id)));
    if (some.rows.size() == num_rows) {
      AppendJsonNumbers(some.values, member);
      continue;
    }
    JsonObject few(member);
    AppendJsonNumbers(some.rows, few.Key("rows"));
    AppendJsonNumbers(some.values, few.Key("values"));
  }
}

void ClusterMap::AppendNodes(std::string& out) const {
  JsonObject nodes(out);
  AppendAmounts(allocatable_, num_nodes(), nodes.Key("allocatable"));
  AppendJsonNumbers(allowed_pods_, nodes.Key("allowedPods"));
  AppendJsonNumbers(cordoned_, nodes.Key("cordoned"));
  AppendJsonNumbers(node_from_, nodes.Key("from"));
  base::AppendJsonList(node_name_, nodes.Key("name"));
  AppendJsonNumbers(node_pool_, nodes.Key("pool"));
  AppendUntil(node_until_, nodes.Key("until"));
  AppendJsonNumbers(node_zone_, nodes.Key("zone"));
}

void ClusterMap::AppendPods(std::string& out) const {
  JsonObject pods(out);
  AppendJsonNumbers(pod_created_, pods.Key("created"));
  AppendJsonNumbers(pod_from_, pods.Key("from"));
  base::AppendJsonList(pod_name_, pods.Key("name"));
  AppendJsonNumbers(pod_namespace_, pods.Key("namespace"));
  AppendJsonNumbers(pod_node_, pods.Key("node"));
  AppendJsonNumbers(pod_owner_, pods.Key("owner"));
  AppendJsonNumbers(pod_priority_, pods.Key("priority"));
  AppendAmounts(requests_, num_pods(), pods.Key("requests"));
  AppendUntil(pod_until_, pods.Key("until"));
}

}  // namespace berth::ui
