// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>

#include "berth/label_selector.h"
#include "berth/matching.h"
#include "berth/volumes.h"
#include "src/framework/loadable/host_table.h"
#include "src/framework/loadable/plugin_handle.h"
#include "src/framework/loadable/views.h"

namespace berth::framework::loadable {
namespace {

int64_t ObjectNumber(const berth_object* view, int32_t name) {
  if (name != BERTH_OBJECT_STORAGE) return 0;
  const api::ObjectPtr& object = *ObjectOf(view).object;
  if (const auto* volume = api::As<api::PersistentVolume>(object)) {
    return StorageIn(volume->spec.capacity).Value();
  }
  if (const auto* claim = api::As<api::PersistentVolumeClaim>(object)) {
    return StorageIn(claim->spec.resources.requests).Value();
  }
  const auto* capacity = api::As<api::CSIStorageCapacity>(object);
  return capacity != nullptr && capacity->capacity ? capacity->capacity->Value() : 0;
}

bool ObjectReaches(const berth_object* view, const berth_node* node) {
  const api::ObjectPtr& object = *ObjectOf(view).object;
  if (const auto* volume = api::As<api::PersistentVolume>(object)) {
    const auto& affinity = volume->spec.node_affinity;
    return !affinity || !affinity->required ||
           NodeSelectorMatcher::Make(*affinity->required).Matches(NodeOf(node));
  }
  if (const auto* capacity = api::As<api::CSIStorageCapacity>(object)) {
    const auto topology = LabelSelectorMatcher::Make(capacity->node_topology);
    return topology && topology->Matches(NodeOf(node).metadata.labels);
  }
  return true;
}

// What the in-tree plugin of a volume or a PersistentVolume's source calls the disk.
template <typename Sources>
std::string_view DiskOf(const Sources& sources) {
  if (sources.aws_elastic_block_store) return sources.aws_elastic_block_store->volume_id;
  if (sources.gce_persistent_disk) return sources.gce_persistent_disk->pd_name;
  if (sources.azure_disk) return sources.azure_disk->disk_name;
  if (sources.cinder) return sources.cinder->volume_id;
  return {};
}

// The plugin of such a disk; "" for all other sources.
template <typename Sources>
std::string_view DiskPluginOf(const Sources& sources) {
  if (sources.aws_elastic_block_store) return "kubernetes.io/aws-ebs";
  if (sources.gce_persistent_disk) return "kubernetes.io/gce-pd";
  if (sources.azure_disk) return "kubernetes.io/azure-disk";
  if (sources.cinder) return "kubernetes.io/cinder";
  return {};
}

void PodEachVolume(const berth_pod* view, bool (*visit)(void*, const berth_volume*),
                   void* context) {
  const api::Pod& pod = PodOf(view);
  for (const api::Volume& volume : pod.spec.volumes) {
    const auto claim = ClaimNameOf(pod, volume);
    berth_volume shown{};
    shown.size = sizeof(shown);
    shown.in_tree_plugin = View(DiskPluginOf(volume));
    shown.disk = View(DiskOf(volume));
    shown.has_claim = claim.has_value();
    shown.ephemeral = volume.ephemeral.has_value();
    if (claim) shown.claim = View(*claim);
    if (!visit(context, &shown)) return;
  }
}

void PodEachClaim(const berth_pod* view, bool (*visit)(void*, berth_string, bool), void* context) {
  const api::Pod& pod = PodOf(view);
  for (const api::Volume& volume : pod.spec.volumes) {
    if (volume.persistent_volume_claim) {
      if (!visit(context, View(volume.persistent_volume_claim->claim_name), false)) return;
    } else if (volume.ephemeral) {
      const std::string claim = pod.metadata.name + "-" + volume.name;
      if (!visit(context, View(claim), true)) return;
    }
  }
}

// Calls `visit` with the object, which outlives the call.
template <typename T, typename Visit>
auto Show(const T& object, Visit visit) {
  const api::ObjectPtr pointer = std::shared_ptr<const T>(std::shared_ptr<void>(), &object);
  const EventObject shown{&pointer, nullptr};
  const berth_object view = View(shown);
  return visit(&view);
}

bool FindObject(const berth_handle* handle, int32_t kind, berth_string namespace_,
                berth_string name, void (*visit)(void*, const berth_object*), void* context) {
  const Listers& listers = handle->handle.listers();
  const auto show = [&](const auto* object) {
    if (object == nullptr) return false;
    Show(*object, [&](const berth_object* view) { visit(context, view); });
    return true;
  };
  if (const auto own = handle->OwnKind(kind)) {
    return show(listers.FindPluginObject(*own, Text(namespace_), Text(name)));
  }
  switch (kind) {
    case BERTH_KIND_NAMESPACE:
      return show(listers.Find<api::Namespace>(Text(name)));
    case BERTH_KIND_PERSISTENT_VOLUME:
      return show(listers.Find<api::PersistentVolume>(Text(name)));
    case BERTH_KIND_PERSISTENT_VOLUME_CLAIM:
      return show(listers.Find<api::PersistentVolumeClaim>(Text(namespace_), Text(name)));
    case BERTH_KIND_CSI_NODE:
      return show(listers.Find<api::CSINode>(Text(name)));
    case BERTH_KIND_CSI_DRIVER:
      return show(listers.Find<api::CSIDriver>(Text(name)));
    case BERTH_KIND_STORAGE_CLASS:
      return show(listers.Find<api::StorageClass>(Text(name)));
    default:
      return false;
  }
}

void EachObject(const berth_handle* handle, int32_t kind, berth_string of,
                bool (*visit)(void*, const berth_object*), void* context) {
  const Listers& listers = handle->handle.listers();
  bool more = true;
  const auto show = [&](const auto& object) {
    if (more) more = Show(object, [&](const berth_object* view) { return visit(context, view); });
  };
  if (const auto own = handle->OwnKind(kind)) {
    const auto in = of.size == 0 ? std::nullopt : std::optional(Text(of));
    return listers.ForEachPluginObject(*own, in, show);
  }
  switch (kind) {
    case BERTH_KIND_NAMESPACE:
      return listers.ForEach<api::Namespace>(show);
    case BERTH_KIND_PERSISTENT_VOLUME:
      return listers.ForEachBy<api::PersistentVolume>(Text(of), show);
    case BERTH_KIND_CSI_STORAGE_CAPACITY:
      return listers.ForEachBy<api::CSIStorageCapacity>(Text(of), show);
    case BERTH_KIND_SERVICE:
      return listers.ForEach<api::Service>(Text(of), show);
    case BERTH_KIND_VOLUME_ATTACHMENT:
      return listers.ForEachBy<api::VolumeAttachment>(Text(of), show);
    default:
      return;
  }
}

}  // namespace

std::string_view VolumeText(const api::ObjectPtr& object, int32_t name) {
  if (const auto* volume = api::As<api::PersistentVolume>(object)) {
    const auto& csi = volume->spec.csi;
    const auto& claim = volume->spec.claim_ref;
    switch (name) {
      case BERTH_OBJECT_STORAGE_CLASS:
        return StorageClassOf(*volume);
      case BERTH_OBJECT_PHASE:
        return volume->status.phase;
      case BERTH_OBJECT_CLAIM_NAMESPACE:
        return claim ? claim->namespace_ : std::string_view();
      case BERTH_OBJECT_CLAIM_NAME:
        return claim ? claim->name : std::string_view();
      case BERTH_OBJECT_DRIVER:
        return csi ? csi->driver : std::string_view();
      case BERTH_OBJECT_VOLUME_HANDLE:
        return csi ? csi->volume_handle : std::string_view();
      case BERTH_OBJECT_IN_TREE_PLUGIN:
        return DiskPluginOf(volume->spec);
      case BERTH_OBJECT_DISK:
        return DiskOf(volume->spec);
      default:
        return {};
    }
  }
  if (const auto* claim = api::As<api::PersistentVolumeClaim>(object)) {
    if (name == BERTH_OBJECT_STORAGE_CLASS) return StorageClassOf(*claim);
    if (name == BERTH_OBJECT_PHASE) return claim->status.phase;
    if (name == BERTH_OBJECT_VOLUME_NAME) return claim->spec.volume_name;
    const auto& own_class = claim->spec.storage_class_name;
    if (name == BERTH_OBJECT_SPEC_STORAGE_CLASS && own_class) return *own_class;
  } else if (const auto* storage_class = api::As<api::StorageClass>(object)) {
    const auto& mode = storage_class->volume_binding_mode;
    if (name == BERTH_OBJECT_DRIVER) return storage_class->provisioner;
    if (name == BERTH_OBJECT_BINDING_MODE) return mode ? *mode : api::kBindImmediate;
  } else if (const auto* capacity = api::As<api::CSIStorageCapacity>(object)) {
    if (name == BERTH_OBJECT_STORAGE_CLASS) return capacity->storage_class_name;
  } else if (const auto* attachment = api::As<api::VolumeAttachment>(object)) {
    const auto& volume = attachment->spec.source.persistent_volume_name;
    if (name == BERTH_OBJECT_VOLUME_NAME) return volume ? *volume : std::string_view();
    if (name == BERTH_OBJECT_DRIVER) return attachment->spec.attacher;
    if (name == BERTH_OBJECT_NODE_NAME) return attachment->spec.node_name;
  }
  return {};
}

void FillVolumes(berth_host& host) {
  host.object_number = ObjectNumber;
  host.object_reaches = ObjectReaches;
  host.pod_each_claim = PodEachClaim;
  host.pod_each_volume = PodEachVolume;
  host.find_object = FindObject;
  host.each_object = EachObject;
}

}  // namespace berth::framework::loadable
