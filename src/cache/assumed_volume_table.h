// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "berth/api/object.h"
#include "berth/in_tree/assumed_volumes.h"
#include "berth/in_tree/plugin_message.h"
#include "src/base/string_map.h"
#include "src/cache/object_tables.h"

namespace berth::cache {

// What is assumed of volumes and claims, over the tables of what the API server has shown.
//
// Thread safety: the scheduling thread.
class AssumedVolumeTable final : public AssumedVolumes {
 public:
  // `shown` must outlive the table.
  explicit AssumedVolumeTable(const ObjectTables& shown) : shown_(shown) {}

  const api::PersistentVolume* FindVolume(std::string_view name) const override;
  const api::PersistentVolumeClaim* FindClaim(std::string_view namespace_,
                                              std::string_view name) const override;
  void ForEachVolumeOfClass(
      std::string_view storage_class,
      const std::function<void(const api::PersistentVolume&)>& visit) const override;
  std::shared_ptr<const void> Keep(const api::PersistentVolume& volume) const override;
  std::shared_ptr<const void> Keep(const api::PersistentVolumeClaim& claim) const override;
  Result<void> Assume(std::shared_ptr<const api::PersistentVolume> volume) override;
  Result<void> Assume(std::shared_ptr<const api::PersistentVolumeClaim> claim) override;
  void Restore(const api::PersistentVolume& volume) override;
  void Restore(const api::PersistentVolumeClaim& claim) override;

  // Passed over where something else is assumed by now.
  void NoteWritten(const VolumeWritten& written);

  // `shown` has a new version of the object, or has lost it: what was assumed of another version is
  // over. Objects of other kinds are passed over.
  void Expire(const api::ObjectPtr& object);

  // How many objects something is assumed of.
  size_t size() const { return volumes_.size() + claims_.size(); }

 private:
  template <typename T>
  struct Entry {
    std::shared_ptr<const T> object;
    bool written = false;
  };
  template <typename T>
  using Assumed = base::StringMap<Entry<T>>;  // by ObjectMeta::Key()

  const ObjectTables& shown_;
  Assumed<api::PersistentVolume> volumes_;
  Assumed<api::PersistentVolumeClaim> claims_;
};

}  // namespace berth::cache
