// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "berth/in_tree/assumed_volumes.h"
#include "berth/in_tree/plugin_message.h"
#include "berth/listers.h"

namespace berth::test {

// AssumedVolumes over the listers of a test; what is assumed stays until it is restored. Thread
// safety: one owner.
class PlainAssumedVolumes final : public AssumedVolumes {
 public:
  explicit PlainAssumedVolumes(const Listers& listers) : listers_(listers) {}

  const api::PersistentVolume* FindVolume(std::string_view name) const override {
    return Latest(volumes, listers_.Find<api::PersistentVolume>(name));
  }
  const api::PersistentVolumeClaim* FindClaim(std::string_view namespace_,
                                              std::string_view name) const override {
    return Latest(claims, listers_.Find<api::PersistentVolumeClaim>(namespace_, name));
  }
  void ForEachVolumeOfClass(
      std::string_view storage_class,
      const std::function<void(const api::PersistentVolume&)>& visit) const override {
    listers_.ForEachBy<api::PersistentVolume>(
        storage_class,
        [&](const api::PersistentVolume& volume) { visit(*Latest(volumes, &volume)); });
  }
  std::shared_ptr<const void> Keep(const api::PersistentVolume& volume) const override {
    return KeepIn(volumes, volume);
  }
  std::shared_ptr<const void> Keep(const api::PersistentVolumeClaim& claim) const override {
    return KeepIn(claims, claim);
  }
  Result<void> Assume(std::shared_ptr<const api::PersistentVolume> volume) override {
    if (refuse_after == 0) return Fail("out of sync");
    --refuse_after;
    volumes[volume->metadata.Key()] = std::move(volume);
    return {};
  }
  Result<void> Assume(std::shared_ptr<const api::PersistentVolumeClaim> claim) override {
    if (refuse_after == 0) return Fail("out of sync");
    --refuse_after;
    claims[claim->metadata.Key()] = std::move(claim);
    return {};
  }
  void Restore(const api::PersistentVolume& volume) override { RestoreIn(volumes, volume); }
  void Restore(const api::PersistentVolumeClaim& claim) override { RestoreIn(claims, claim); }
  // What is written is not restored. Keys of volumes have no "/".
  void NoteWritten(const VolumeWritten& stored) { written.insert(stored.key); }

  std::map<std::string, std::shared_ptr<const api::PersistentVolume>> volumes;
  std::map<std::string, std::shared_ptr<const api::PersistentVolumeClaim>> claims;
  std::set<std::string> written;  // keys
  // So many more are assumed; then Assume fails.
  size_t refuse_after = SIZE_MAX;

 private:
  template <typename T>
  static const T* Latest(const std::map<std::string, std::shared_ptr<const T>>& assumed,
                         const T* shown) {
    if (shown == nullptr) return nullptr;
    const auto found = assumed.find(shown->metadata.Key());
    const bool holds = found != assumed.end() &&
                       found->second->metadata.resource_version == shown->metadata.resource_version;
    return holds ? found->second.get() : shown;
  }
  template <typename T>
  static std::shared_ptr<const void> KeepIn(
      const std::map<std::string, std::shared_ptr<const T>>& assumed, const T& object) {
    const auto found = assumed.find(object.metadata.Key());
    const bool is_it = found != assumed.end() && found->second.get() == &object;
    return is_it ? found->second : nullptr;
  }
  template <typename T>
  void RestoreIn(std::map<std::string, std::shared_ptr<const T>>& assumed, const T& object) const {
    if (written.contains(object.metadata.Key())) return;
    const auto found = assumed.find(object.metadata.Key());
    if (found != assumed.end() && found->second.get() == &object) assumed.erase(found);
  }

  const Listers& listers_;
};

}  // namespace berth::test
