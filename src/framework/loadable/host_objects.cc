// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "src/framework/loadable/host_table.h"
#include "src/framework/loadable/views.h"

namespace berth::framework::loadable {
namespace {

int64_t Nanos(const std::optional<Time>& time) {
  return time ? time->time_since_epoch().count() : 0;
}

const api::OwnerReference& ControllerOf(const api::ObjectMeta& meta) {
  static const api::OwnerReference kNone;
  const auto& owners = meta.owner_references;
  const auto it = std::find_if(owners.begin(), owners.end(),
                               [](const api::OwnerReference& owner) { return owner.controller; });
  return it == owners.end() ? kNone : *it;
}

berth_string PodText(const berth_pod* view, int32_t name) {
  const api::Pod& pod = PodOf(view);
  switch (name) {
    case BERTH_POD_NAME:
      return View(pod.metadata.name);
    case BERTH_POD_NAMESPACE:
      return View(pod.metadata.namespace_);
    case BERTH_POD_UID:
      return View(pod.metadata.uid);
    case BERTH_POD_SCHEDULER_NAME:
      return View(pod.spec.scheduler_name);
    case BERTH_POD_NODE_NAME:
      return View(pod.spec.node_name);
    case BERTH_POD_NOMINATED_NODE_NAME:
      return View(pod.status.nominated_node_name);
    case BERTH_POD_PREEMPTION_POLICY:
      return pod.spec.preemption_policy ? View(*pod.spec.preemption_policy) : berth_string{};
    case BERTH_POD_PHASE:
      return View(pod.status.phase);
    case BERTH_POD_OWNER_KIND:
      return View(ControllerOf(pod.metadata).kind);
    case BERTH_POD_OWNER_NAME:
      return View(ControllerOf(pod.metadata).name);
    case BERTH_POD_OWNER_UID:
      return View(ControllerOf(pod.metadata).uid);
    default:
      return {};
  }
}

int64_t PodNumber(const berth_pod* view, int32_t name) {
  const api::Pod& pod = PodOf(view);
  switch (name) {
    case BERTH_POD_PRIORITY:
      return pod.priority();
    case BERTH_POD_CREATION_TIME:
      return Nanos(pod.metadata.creation_timestamp);
    case BERTH_POD_DELETION_TIME:
      return Nanos(pod.metadata.deletion_timestamp);
    case BERTH_POD_START_TIME:
      return Nanos(pod.status.start_time);
    case BERTH_POD_HOST_NETWORK:
      return pod.spec.host_network ? 1 : 0;
    case BERTH_POD_NUM_TOPOLOGY_SPREAD_CONSTRAINTS:
      return std::ssize(pod.spec.topology_spread_constraints);
    default:
      return 0;
  }
}

// cpu in milli-cores, all else in whole units.
int64_t AmountOf(std::string_view resource, const api::Quantity& quantity) {
  return resource == "cpu" ? quantity.MilliValue() : quantity.Value();
}

void PodScoredRequests(const berth_pod* pod, const berth_string* resources, int64_t* amounts,
                       size_t n) {
  const api::ResourceList requests = PodRequests(
      PodOf(pod),
      {.use_status = false, .pod_level = false, .pod_level_status = false, .non_missing = true});
  for (size_t i = 0; i < n; ++i) {
    const api::Quantity* amount = api::Find(requests, Text(resources[i]));
    amounts[i] = amount == nullptr ? 0 : AmountOf(Text(resources[i]), *amount);
  }
}

bool PodToleration(const berth_pod* pod, size_t index, berth_toleration* toleration) {
  const auto& tolerations = PodOf(pod).spec.tolerations;
  if (index >= tolerations.size()) return false;
  const api::Toleration& from = tolerations[index];
  *toleration = {View(from.key), View(from.operator_), View(from.value), View(from.effect)};
  return true;
}

const api::ObjectMeta& MetaOf(const berth_object* object) {
  static const api::ObjectMeta kNone;
  const api::ObjectMeta* meta = api::MetaOf(*ObjectOf(object).object);
  return meta == nullptr ? kNone : *meta;
}

berth_string ObjectText(const berth_object* object, int32_t name) {
  const api::ObjectMeta& meta = MetaOf(object);
  switch (name) {
    case BERTH_OBJECT_NAME:
      return View(meta.name);
    case BERTH_OBJECT_NAMESPACE:
      return View(meta.namespace_);
    case BERTH_OBJECT_UID:
      return View(meta.uid);
    case BERTH_OBJECT_OWNER_UID:
      return View(ControllerOf(meta).uid);
    default:
      return View(VolumeText(*ObjectOf(object).object, name));
  }
}

}  // namespace

void FillObjects(berth_host& host) {
  host.pod_text = PodText;
  host.pod_number = PodNumber;
  host.pod_labels = [](const berth_pod* pod) { return View(PodOf(pod).metadata.labels); };
  host.pod_annotations = [](const berth_pod* pod) { return View(PodOf(pod).metadata.annotations); };
  host.pod_node_selector = [](const berth_pod* pod) { return View(PodOf(pod).spec.node_selector); };
  host.pod_request = [](const berth_pod* pod, uint32_t resource) {
    return InfoOf(pod).requests.Get(resource);
  };
  host.pod_num_tolerations = [](const berth_pod* pod) {
    return PodOf(pod).spec.tolerations.size();
  };
  host.pod_toleration = PodToleration;
  host.pod_scored_requests = PodScoredRequests;
  host.is_scalar_resource = [](berth_string name) { return IsScalarResourceName(Text(name)); };

  host.object_pod = [](const berth_object* object, berth_pod* pod) {
    const EventObject& from = ObjectOf(object);
    if (from.info == nullptr) return false;
    *pod = View(*from.info);
    return true;
  };
  host.object_node = [](const berth_object* object, berth_node* node) {
    const api::Node* from = api::As<api::Node>(*ObjectOf(object).object);
    if (from == nullptr) return false;
    *node = {from, nullptr, nullptr, kNoRow, 0};
    return true;
  };
  host.object_text = ObjectText;
  host.object_json = [](const berth_object* object) -> berth_string {
    const auto* own = api::As<api::PluginObject>(*ObjectOf(object).object);
    return own == nullptr ? berth_string{} : View(*own->json);
  };
  host.object_labels = [](const berth_object* object) { return View(MetaOf(object).labels); };
  host.object_annotations = [](const berth_object* object) {
    return View(MetaOf(object).annotations);
  };
}

}  // namespace berth::framework::loadable
