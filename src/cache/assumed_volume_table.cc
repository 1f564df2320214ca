// SPDX-License-Identifier: Apache-2.0
#include "src/cache/assumed_volume_table.h"

#include <string>
#include <utility>

namespace berth::cache {
namespace {

template <typename T>
bool SameVersion(const T& a, const T& b) {
  return a.metadata.resource_version == b.metadata.resource_version;
}

// The assumed form of `shown`, or `shown` itself.
template <typename Assumed, typename T>
const T* Latest(const Assumed& assumed, const T* shown) {
  if (shown == nullptr || assumed.empty()) return shown;
  const auto found = assumed.find(shown->metadata.Key());
  const bool holds = found != assumed.end() && SameVersion(*found->second.object, *shown);
  return holds ? found->second.object.get() : shown;
}

template <typename Assumed, typename T>
std::shared_ptr<const void> KeepObject(const T& object, const Assumed& assumed) {
  if (assumed.empty()) return nullptr;
  const auto found = assumed.find(object.metadata.Key());
  if (found == assumed.end() || found->second.object.get() != &object) return nullptr;
  return found->second.object;
}

template <typename Assumed, typename T>
Result<void> AssumeObject(std::shared_ptr<const T> object, const T* shown, std::string_view kind,
                          Assumed& assumed) {
  std::string key = object->metadata.Key();
  if (shown == nullptr) return Fail(std::string(kind) + " \"" + key + "\" not found");
  if (!SameVersion(*object, *shown)) {
    return Fail("\"" + key + "\" is out of sync (stored: " + shown->metadata.resource_version +
                ", assume: " + object->metadata.resource_version + ")");
  }
  assumed.insert_or_assign(std::move(key), typename Assumed::mapped_type{std::move(object)});
  return {};
}

template <typename Assumed, typename T>
void RestoreObject(const T& object, Assumed& assumed) {
  const auto found = assumed.find(object.metadata.Key());
  if (found == assumed.end() || found->second.object.get() != &object) return;
  if (!found->second.written) assumed.erase(found);
}

template <typename Assumed>
void NoteWrittenIn(const VolumeWritten& written, Assumed& assumed) {
  const auto found = assumed.find(written.key);
  if (found == assumed.end()) return;
  if (found->second.object->metadata.resource_version != written.resource_version) return;
  found->second.written = true;
}

template <typename Assumed, typename T>
void ExpireObject(const T& object, const T* shown, Assumed& assumed) {
  const auto found = assumed.find(object.metadata.Key());
  if (found == assumed.end()) return;
  if (shown == nullptr || !SameVersion(*found->second.object, *shown)) assumed.erase(found);
}

}  // namespace

const api::PersistentVolume* AssumedVolumeTable::FindVolume(std::string_view name) const {
  return Latest(volumes_, shown_.Find<api::PersistentVolume>(name));
}

const api::PersistentVolumeClaim* AssumedVolumeTable::FindClaim(std::string_view namespace_,
                                                                std::string_view name) const {
  return Latest(claims_, shown_.Find<api::PersistentVolumeClaim>(namespace_, name));
}

// No plugin changes the class of a volume, so that of the shown one will do.
void AssumedVolumeTable::ForEachVolumeOfClass(
    std::string_view storage_class,
    const std::function<void(const api::PersistentVolume&)>& visit) const {
  shown_.ForEachBy<api::PersistentVolume>(
      storage_class, [&](const api::PersistentVolume& shown) { visit(*Latest(volumes_, &shown)); });
}

std::shared_ptr<const void> AssumedVolumeTable::Keep(const api::PersistentVolume& volume) const {
  return KeepObject(volume, volumes_);
}

std::shared_ptr<const void> AssumedVolumeTable::Keep(
    const api::PersistentVolumeClaim& claim) const {
  return KeepObject(claim, claims_);
}

Result<void> AssumedVolumeTable::Assume(std::shared_ptr<const api::PersistentVolume> volume) {
  const auto* shown = shown_.Find<api::PersistentVolume>(volume->metadata.name);
  return AssumeObject(std::move(volume), shown, "persistentvolumes", volumes_);
}

Result<void> AssumedVolumeTable::Assume(std::shared_ptr<const api::PersistentVolumeClaim> claim) {
  const auto* shown =
      shown_.Find<api::PersistentVolumeClaim>(claim->metadata.namespace_, claim->metadata.name);
  return AssumeObject(std::move(claim), shown, "persistentvolumeclaims", claims_);
}

void AssumedVolumeTable::Restore(const api::PersistentVolume& volume) {
  RestoreObject(volume, volumes_);
}

void AssumedVolumeTable::Restore(const api::PersistentVolumeClaim& claim) {
  RestoreObject(claim, claims_);
}

void AssumedVolumeTable::NoteWritten(const VolumeWritten& written) {
  if (written.kind == VolumeWritten::Kind::kVolume) {
    NoteWrittenIn(written, volumes_);
  } else {
    NoteWrittenIn(written, claims_);
  }
}

void AssumedVolumeTable::Expire(const api::ObjectPtr& object) {
  if (const auto* volume = api::As<api::PersistentVolume>(object)) {
    ExpireObject(*volume, shown_.Find<api::PersistentVolume>(volume->metadata.name), volumes_);
  } else if (const auto* claim = api::As<api::PersistentVolumeClaim>(object)) {
    const api::ObjectMeta& meta = claim->metadata;
    ExpireObject(*claim, shown_.Find<api::PersistentVolumeClaim>(meta.namespace_, meta.name),
                 claims_);
  }
}

}  // namespace berth::cache
