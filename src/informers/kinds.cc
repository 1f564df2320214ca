// SPDX-License-Identifier: Apache-2.0
#include "src/informers/kinds.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/check.h"
#include "berth/plugin_kinds.h"
#include "src/api/json_scan.h"
#include "src/api/plugin_object.h"
#include "src/api/stored_form.h"
#include "src/base/mutex.h"

namespace berth::informers {
namespace {

template <typename T>
bool KeepsText(const T&, const KeptText&) {
  return false;
}
bool KeepsText(const api::Node&, const KeptText& kept) { return kept.nodes; }
bool KeepsText(const api::Pod& pod, const KeptText& kept) {
  return pod.spec.node_name.empty() ? kept.pending_pods : kept.placed_pods;
}

// Of a claim that is not allocated yet: when it is, the scheduler writes it, and most are written
// only once. Not of JSON: there the API server has not left drivers' parameters as they are.
template <typename T>
void KeepStored(std::string_view, T&) {}
void KeepStored(std::string_view protobuf, api::ResourceClaim& claim) {
  if (!claim.status.allocation) {
    claim.stored = api::StoredFormOf(api::Encoding::kProtobuf, protobuf);
  }
}

template <typename T>
Result<api::ObjectPtr> DecodeAs(api::Encoding encoding, std::string_view bytes,
                                const KeptText& kept) {
  auto object = std::make_shared<T>();
  if (auto read = api::ReadObject(encoding, bytes, *object); !read) return Fail(read.error());
  if (encoding == api::Encoding::kProtobuf) {
    KeepStored(bytes, *object);
  } else if constexpr (requires { object->source; }) {
    if (KeepsText(*object, kept)) {
      object->source.json = std::make_shared<const std::string>(api::WithoutManagedFields(bytes));
    }
  }
  return api::ObjectPtr(std::shared_ptr<const T>(std::move(object)));
}

// The path of a field without what stands in brackets; up to the key, where it leads into a map.
std::string WithoutIndexes(std::string_view path) {
  std::string plain(path.substr(0, path.find("[\"")));
  for (size_t at = plain.find('['); at != std::string::npos; at = plain.find('[', at))
    plain.erase(at, plain.find(']', at) + 1 - at);
  return plain;
}

// Whether one field lies within the other, or is the same.
bool Overlap(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return a.empty() || (b.starts_with(a) && (b.size() == a.size() || b[a.size()] == '.'));
}

template <size_t n>
bool Touches(const std::vector<api::FieldDamage>& damage, const std::string_view (&fields)[n]) {
  return std::ranges::any_of(damage, [&](const api::FieldDamage& one) {
    const std::string path = WithoutIndexes(one.path);
    return std::ranges::any_of(fields,
                               [&](std::string_view field) { return Overlap(path, field); });
  });
}

// What tells which pod it is, and how much of its node another pod can still have.
constexpr std::string_view kRoomOfPod[] = {"metadata.name",
                                           "metadata.namespace",
                                           "metadata.uid",
                                           "spec.containers.ports",
                                           "spec.containers.resources",
                                           "spec.hostNetwork",
                                           "spec.initContainers.ports",
                                           "spec.initContainers.resources",
                                           "spec.initContainers.restartPolicy",
                                           "spec.nodeName",
                                           "spec.overhead",
                                           "spec.resourceClaims",
                                           "spec.resources",
                                           "spec.volumes",
                                           "status.allocatedResources",
                                           "status.containerStatuses",
                                           "status.initContainerStatuses",
                                           "status.nodeAllocatableResourceClaimStatuses",
                                           "status.phase",
                                           "status.resources"};
constexpr std::string_view kDevicesOfClaim[] = {"status.allocation"};

template <typename T>
api::ObjectPtr StandInFor(const std::shared_ptr<const T>&, const api::ObjectPtr&) {
  return {};
}

api::ObjectPtr StandInFor(const std::shared_ptr<const api::Pod>& pod, const api::ObjectPtr&) {
  if (pod->spec.node_name.empty() || Touches(*pod->metadata.damage, kRoomOfPod)) return {};
  return pod;
}

api::ObjectPtr StandInFor(const std::shared_ptr<const api::ResourceClaim>& claim,
                          const api::ObjectPtr& before) {
  const auto* known = api::As<api::ResourceClaim>(before);
  if (known == nullptr || known->metadata.uid != claim->metadata.uid || !known->status.allocation ||
      !Touches(*claim->metadata.damage, kDevicesOfClaim)) {
    return claim;
  }
  auto holds = std::make_shared<api::ResourceClaim>(*claim);
  holds->status.allocation = known->status.allocation;
  return std::shared_ptr<const api::ResourceClaim>(std::move(holds));
}

// Kinds that most pods do without, and that the rights of an older installation do not name.
constexpr bool kOptional = true;

bool Never(const Features&) { return false; }
bool WithTaintRules(const Features& features) {
  return features.dra_device_taints && features.dra_device_taint_rules;
}
bool WithPodGroups(const Features& features) { return features.generic_workload; }
bool WithCompositePodGroups(const Features& features) { return features.composite_pod_group; }

bool WithCoscheduling(const Features& features) { return features.coscheduling; }
bool WithNodeTopologies(const Features& features) { return features.node_resource_topologies; }

bool WithElasticQuotas(const Features& features) { return features.elastic_quotas; }

constexpr bool kCustom = true;

constexpr KindInfo kKinds[] = {
    // Finished pods take nothing from their node.
    {Kind::kPod, "pods", "/api/v1/pods", "status.phase!=Succeeded,status.phase!=Failed",
     DecodeAs<api::Pod>},
    {Kind::kNode, "nodes", "/api/v1/nodes", "", DecodeAs<api::Node>},
    {Kind::kNamespace, "namespaces", "/api/v1/namespaces", "", DecodeAs<api::Namespace>},
    {Kind::kService, "services", "/api/v1/services", "", DecodeAs<api::Service>},
    {Kind::kReplicationController, "replicationcontrollers", "/api/v1/replicationcontrollers", "",
     DecodeAs<api::ReplicationController>},
    {Kind::kReplicaSet, "replicasets", "/apis/apps/v1/replicasets", "", DecodeAs<api::ReplicaSet>},
    {Kind::kStatefulSet, "statefulsets", "/apis/apps/v1/statefulsets", "",
     DecodeAs<api::StatefulSet>},
    {Kind::kPodDisruptionBudget, "poddisruptionbudgets", "/apis/policy/v1/poddisruptionbudgets", "",
     DecodeAs<api::PodDisruptionBudget>},
    {Kind::kPersistentVolume, "persistentvolumes", "/api/v1/persistentvolumes", "",
     DecodeAs<api::PersistentVolume>, kOptional},
    {Kind::kPersistentVolumeClaim, "persistentvolumeclaims", "/api/v1/persistentvolumeclaims", "",
     DecodeAs<api::PersistentVolumeClaim>, kOptional},
    {Kind::kStorageClass, "storageclasses", "/apis/storage.k8s.io/v1/storageclasses", "",
     DecodeAs<api::StorageClass>, kOptional},
    {Kind::kCsiNode, "csinodes", "/apis/storage.k8s.io/v1/csinodes", "", DecodeAs<api::CSINode>,
     kOptional},
    {Kind::kCsiDriver, "csidrivers", "/apis/storage.k8s.io/v1/csidrivers", "",
     DecodeAs<api::CSIDriver>, kOptional},
    {Kind::kCsiStorageCapacity, "csistoragecapacities",
     "/apis/storage.k8s.io/v1/csistoragecapacities", "", DecodeAs<api::CSIStorageCapacity>,
     kOptional},
    {Kind::kVolumeAttachment, "volumeattachments", "/apis/storage.k8s.io/v1/volumeattachments", "",
     DecodeAs<api::VolumeAttachment>, kOptional},
    {Kind::kVolumeAttributesClass, "volumeattributesclasses",
     "/apis/storage.k8s.io/v1/volumeattributesclasses", "", DecodeAs<api::VolumeAttributesClass>,
     kOptional},
    {Kind::kResourceClaim, "resourceclaims", "/apis/resource.k8s.io/v1/resourceclaims", "",
     DecodeAs<api::ResourceClaim>, kOptional},
    // The controller that makes claims from them is not the scheduler.
    {Kind::kResourceClaimTemplate, "resourceclaimtemplates",
     "/apis/resource.k8s.io/v1/resourceclaimtemplates", "", DecodeAs<api::ResourceClaimTemplate>,
     kOptional, Never},
    {Kind::kDeviceClass, "deviceclasses", "/apis/resource.k8s.io/v1/deviceclasses", "",
     DecodeAs<api::DeviceClass>, kOptional},
    {Kind::kResourceSlice, "resourceslices", "/apis/resource.k8s.io/v1/resourceslices", "",
     DecodeAs<api::ResourceSlice>, kOptional},
    {Kind::kDeviceTaintRule, "devicetaintrules", "/apis/resource.k8s.io/v1/devicetaintrules", "",
     DecodeAs<api::DeviceTaintRule>, kOptional, WithTaintRules},
    {Kind::kPodGroup, "podgroups", "/apis/scheduling.k8s.io/v1beta1/podgroups", "",
     DecodeAs<api::PodGroup>, kOptional, WithPodGroups},
    {Kind::kCompositePodGroup, "compositepodgroups",
     "/apis/scheduling.k8s.io/v1alpha3/compositepodgroups", "", DecodeAs<api::CompositePodGroup>,
     kOptional, WithCompositePodGroups},
    // Pod groups are made from them, and say themselves what a scheduler must know.
    {Kind::kWorkload, "workloads", "/apis/scheduling.k8s.io/v1beta1/workloads", "",
     DecodeAs<api::Workload>, kOptional, Never},
    {Kind::kCoschedulingPodGroup, "podgroups.scheduling.x-k8s.io",
     "/apis/scheduling.x-k8s.io/v1alpha1/podgroups", "", DecodeAs<api::CoschedulingPodGroup>,
     kOptional, WithCoscheduling, kCustom},
    {Kind::kNodeResourceTopology, "noderesourcetopologies.topology.node.k8s.io",
     "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies", "",
     DecodeAs<api::NodeResourceTopology>, kOptional, WithNodeTopologies, kCustom},
    {Kind::kElasticQuota, "elasticquotas.scheduling.x-k8s.io",
     "/apis/scheduling.x-k8s.io/v1alpha1/elasticquotas", "", DecodeAs<api::ElasticQuota>, kOptional,
     WithElasticQuotas, kCustom},
};

static_assert(std::size(kKinds) == static_cast<size_t>(Kind::kFirstPluginKind));

// A plugin's kind: what kKinds has of others, and the texts that it points to.
struct PluginKindInfo {
  KindInfo info;
  std::string resource;
  std::string path;
};

template <size_t id>
Result<api::ObjectPtr> DecodePluginObject(api::Encoding encoding, std::string_view bytes,
                                          const KeptText&) {
  if (encoding != api::Encoding::kJson) return Fail("a custom resource that is no JSON");
  auto object = api::ReadPluginObject(static_cast<api::PluginKindId>(id), bytes);
  if (!object) return Fail(object.error());
  return api::ObjectPtr(std::make_shared<const api::PluginObject>(*std::move(object)));
}

using Decode = decltype(KindInfo::decode);
template <size_t... ids>
constexpr std::array<Decode, sizeof...(ids)> MakeDecoders(std::index_sequence<ids...>) {
  return {DecodePluginObject<ids>...};
}
constexpr auto kPluginDecoders = MakeDecoders(std::make_index_sequence<api::kMostPluginKinds>());

// Features::plugin_kinds says which of them are watched.
const KindInfo& InfoOfPluginKind(api::PluginKindId id) {
  struct Infos {
    base::Mutex mutex;
    std::map<api::PluginKindId, PluginKindInfo> by_id BERTH_GUARDED_BY(mutex);
  };
  static auto& infos = *std::make_unique<Infos>().release();  // as long as the process
  base::MutexLock lock(infos.mutex);
  const auto [at, added] = infos.by_id.try_emplace(id);
  PluginKindInfo& made = at->second;
  if (added) {
    const api::PluginKind& kind = PluginKinds()[id];
    made.resource = kind.resource + "." + kind.group;
    made.path = "/apis/" + kind.ApiVersion() + "/" + kind.resource;
    made.info = {KindOf(id),          made.resource, made.path, "",
                 kPluginDecoders[id], kOptional,     nullptr,   kCustom};
  }
  return made.info;
}

}  // namespace

// "/api/<version>/<resource>" or "/apis/<group>/<version>/<resource>".
std::string_view KindInfo::group() const {
  constexpr std::string_view kPrefix = "/apis/";
  if (!path.starts_with(kPrefix)) return "";
  const std::string_view rest = path.substr(kPrefix.size());
  return rest.substr(0, rest.find('/'));
}

std::string_view KindInfo::version() const {
  const std::string_view parent = path.substr(0, path.rfind('/'));
  return parent.substr(parent.rfind('/') + 1);
}

std::vector<Kind> AllKinds() {
  std::vector<Kind> kinds;
  for (const KindInfo& info : kKinds) kinds.push_back(info.kind);
  for (size_t id = 0; id < PluginKinds().size(); ++id) {
    kinds.push_back(KindOf(static_cast<api::PluginKindId>(id)));
  }
  return kinds;
}

std::vector<Kind> WatchedKinds(const Features& features) {
  std::vector<Kind> kinds;
  for (const KindInfo& info : kKinds) {
    if (info.watched == nullptr || info.watched(features)) kinds.push_back(info.kind);
  }
  for (size_t id = 0; id < PluginKinds().size(); ++id) {
    if ((features.plugin_kinds >> id & 1) != 0)
      kinds.push_back(KindOf(static_cast<api::PluginKindId>(id)));
  }
  return kinds;
}

const KindInfo& InfoOf(Kind kind) {
  if (const auto own = PluginKindOf(kind)) return InfoOfPluginKind(*own);
  for (const KindInfo& info : kKinds) {
    if (info.kind == kind) return info;
  }
  BERTH_CHECK(false, "a kind without a line in kKinds");
  return kKinds[0];
}

api::ObjectPtr StandIn(const api::ObjectPtr& damaged, const api::ObjectPtr& before) {
  return std::visit(
      [&](const auto& held) -> api::ObjectPtr {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return {};
        } else {
          return StandInFor(held, before);
        }
      },
      damaged);
}

}  // namespace berth::informers
