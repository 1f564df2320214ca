// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "berth/api/persistent_volume.h"
#include "berth/api/persistent_volume_claim.h"
#include "berth/result.h"

namespace berth::inline in_tree {

// PersistentVolumes and PersistentVolumeClaims as the decisions made so far leave them: as the API
// server has shown them, or as a pod's Reserve assumes that they are going to be. All profiles
// share them, so that no volume is given away twice.
//
//   shown --Assume--> assumed --Restore, or the API server shows another version--> shown
//                        |                                          |
//                        +-----VolumeWritten-----> written----------+
//
// Find and ForEach return what is assumed where something is, with the resourceVersion that was
// shown; nullptr means that there is no such object. Pointers stay valid until the scheduling
// thread takes its next message, or the object is assumed again or restored: see Keep().
//
// Thread safety: the scheduling thread.
class AssumedVolumes {
 public:
  virtual ~AssumedVolumes() = default;

  virtual const api::PersistentVolume* FindVolume(std::string_view name) const = 0;
  virtual const api::PersistentVolumeClaim* FindClaim(std::string_view namespace_,
                                                      std::string_view name) const = 0;
  // In order of name.
  virtual void ForEachVolumeOfClass(
      std::string_view storage_class,
      const std::function<void(const api::PersistentVolume&)>& visit) const = 0;

  // What keeps an object that Find or ForEach returned, also where it is assumed again or restored;
  // nullptr: it is as the API server shows it, and nothing of the kind happens to it.
  virtual std::shared_ptr<const void> Keep(const api::PersistentVolume& volume) const = 0;
  virtual std::shared_ptr<const void> Keep(const api::PersistentVolumeClaim& claim) const = 0;

  // Errors: there is no such object, or the API server has shown another version than the one that
  // `volume` or `claim` was made of.
  virtual Result<void> Assume(std::shared_ptr<const api::PersistentVolume> volume) = 0;
  virtual Result<void> Assume(std::shared_ptr<const api::PersistentVolumeClaim> claim) = 0;

  // Ends what is assumed of the object, if it is this very one that is assumed, and no write of it
  // was accepted (VolumeWritten).
  virtual void Restore(const api::PersistentVolume& volume) = 0;
  virtual void Restore(const api::PersistentVolumeClaim& claim) = 0;
};

}  // namespace berth::inline in_tree
