// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/informers/informer_event.h"
#include "src/informers/kinds.h"

namespace berth::informers {

// The newest version of every object of one kind, and the source of its events: what comes in is
// compared with what is known, so that a relist yields only the differences.
//
// A version that cannot be decoded, or of which a part cannot, leaves the one before in place,
// unless it stands for itself all the same (StandIn() in kinds.h); it is logged, counted and
// reported once. An object that was deleted and created again is reported as that, also where the
// deletion was missed.
//
// Thread safety: the executor's thread.
class ObjectStore {
 public:
  ObjectStore(const KindInfo& info, EventSink sink, const KeptText& kept_text = {});

  // Until EndList, objects that come in are remembered as still there. A list that breaks off is
  // followed by another BeginList.
  void BeginList() { ++list_; }
  // Reports as deleted what has not come in since BeginList, in the order of their keys.
  void EndList();

  // An object of a list, or an added or changed one. Returns its resourceVersion, "" if unreadable.
  std::string Put(api::Encoding encoding, std::string_view bytes);
  // An object that is gone; only its identity is read. Returns its resourceVersion.
  std::string Delete(api::Encoding encoding, std::string_view bytes);

  size_t size() const { return entries_.size(); }
  // The versions that are known, in no particular order.
  std::vector<api::ObjectPtr> Objects() const;
  uint64_t undecodable() const { return undecodable_; }

 private:
  // The version that could not be decoded, while it is the newest.
  struct Damaged {
    Undecodable what;
    std::string resource_version;
  };
  struct Entry {
    api::ObjectPtr object;  // none when no version could be decoded
    std::unique_ptr<Damaged> damaged;
    uint64_t list = 0;  // the last list that had it
  };

  void PutReadable(Entry& entry, api::ObjectPtr object);
  // A version that nothing stands for.
  std::string PutDamaged(api::PartialIdentity identity, const Error& error);
  void CountDamaged(const std::string& key, std::string_view version, std::string_view error);
  void SendDeleted(Entry& entry);
  void Send(InformerEvent event);

  const KindInfo& info_;
  EventSink sink_;
  const KeptText kept_text_;
  absl::flat_hash_map<std::string, Entry> entries_;
  uint64_t list_ = 0;
  uint64_t undecodable_ = 0;
};

}  // namespace berth::informers
