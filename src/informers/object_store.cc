// SPDX-License-Identifier: Apache-2.0
#include "src/informers/object_store.h"

#include <algorithm>
#include <utility>

#include "src/base/logging.h"

namespace berth::informers {
ObjectStore::ObjectStore(const KindInfo& info, EventSink sink, const KeptText& kept_text)
    : info_(info), sink_(std::move(sink)), kept_text_(kept_text) {}

void ObjectStore::EndList() {
  std::vector<std::string> gone;
  for (const auto& [key, entry] : entries_) {
    if (entry.list != list_) gone.push_back(key);
  }
  std::sort(gone.begin(), gone.end());
  for (const std::string& key : gone) {
    const auto found = entries_.find(key);
    SendDeleted(found->second);
    entries_.erase(found);
  }
}

std::vector<api::ObjectPtr> ObjectStore::Objects() const {
  std::vector<api::ObjectPtr> objects;
  objects.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) {
    if (MetaOf(entry.object) != nullptr) objects.push_back(entry.object);
  }
  return objects;
}

std::string ObjectStore::Put(api::Encoding encoding, std::string_view bytes) {
  Result<api::ObjectPtr> decoded = info_.decode(encoding, bytes, kept_text_);
  if (!decoded) return PutDamaged(api::ReadIdentity(encoding, bytes), decoded.error());
  const api::ObjectMeta& meta = *MetaOf(*decoded);
  std::string version = meta.resource_version;
  if (!meta.damage) {
    PutReadable(entries_[meta.Key()], *std::move(decoded));
    return version;
  }
  const auto known = entries_.find(meta.Key());
  const bool nameless = meta.name.empty();
  api::ObjectPtr stands =
      nameless
          ? api::ObjectPtr()
          : StandIn(*decoded, known == entries_.end() ? api::ObjectPtr() : known->second.object);
  if (MetaOf(stands) == nullptr) {
    return PutDamaged(api::ReadIdentity(encoding, bytes), {meta.damage->front().ToString()});
  }
  PutReadable(entries_[meta.Key()], std::move(stands));
  return version;
}

void ObjectStore::PutReadable(Entry& entry, api::ObjectPtr object) {
  const api::ObjectMeta& meta = *MetaOf(object);
  entry.list = list_;
  const api::ObjectMeta* known = MetaOf(entry.object);
  if (known != nullptr && known->uid != meta.uid) {
    SendDeleted(entry);
    entry.object = {};
    known = nullptr;
  }
  const bool healed = std::exchange(entry.damaged, nullptr) != nullptr;
  // The content, too: a server that went back in time gives versions out a second time.
  if (known != nullptr && !healed && known->resource_version == meta.resource_version &&
      AreEqual(entry.object, object)) {
    return;
  }
  if (meta.damage) {
    CountDamaged(meta.Key(), meta.resource_version, meta.damage->front().ToString());
  }

  InformerEvent event;
  event.type = known == nullptr ? EventType::kAdded : EventType::kUpdated;
  event.old_object = std::exchange(entry.object, std::move(object));
  event.new_object = entry.object;
  Send(std::move(event));
}

void ObjectStore::CountDamaged(const std::string& key, std::string_view version,
                               std::string_view error) {
  ++undecodable_;
  base::LogError("A part of an object cannot be decoded", {{"resource", info_.resource},
                                                           {"object", key},
                                                           {"resourceVersion", version},
                                                           {"err", error}});
}

std::string ObjectStore::PutDamaged(api::PartialIdentity identity, const Error& error) {
  const std::string key = identity.Key();
  if (key.empty()) {
    // Without a name there is nothing to hold the damage against.
    ++undecodable_;
    base::LogError("An object without a readable name cannot be decoded",
                   {{"resource", info_.resource}, {"err", error.message}});
    return identity.resource_version;
  }
  Entry& entry = entries_[key];
  entry.list = list_;
  if (entry.damaged != nullptr && entry.damaged->resource_version == identity.resource_version) {
    return identity.resource_version;
  }
  const api::ObjectMeta* known = MetaOf(entry.object);
  if (known != nullptr && !identity.uid.empty() && known->uid != identity.uid) {
    SendDeleted(entry);
    entry.object = {};
  }
  CountDamaged(key, identity.resource_version, error.message);
  InformerEvent event;
  event.type = EventType::kUndecodable;
  event.old_object = entry.object;
  event.undecodable = Undecodable{.key = key,
                                  .uid = std::move(identity.uid),
                                  .node_name = std::move(identity.node_name),
                                  .scheduler_name = std::move(identity.scheduler_name),
                                  .error = error.message};
  entry.damaged = std::make_unique<Damaged>(Damaged{*event.undecodable, identity.resource_version});
  Send(std::move(event));
  return identity.resource_version;
}

std::string ObjectStore::Delete(api::Encoding encoding, std::string_view bytes) {
  const api::PartialIdentity identity = api::ReadIdentity(encoding, bytes);
  const auto found = entries_.find(identity.Key());
  if (found != entries_.end()) {
    SendDeleted(found->second);
    entries_.erase(found);
  }
  return identity.resource_version;
}

void ObjectStore::SendDeleted(Entry& entry) {
  InformerEvent event;
  event.type = EventType::kDeleted;
  event.old_object = std::move(entry.object);
  if (MetaOf(event.old_object) == nullptr && entry.damaged != nullptr) {
    event.undecodable = entry.damaged->what;
  }
  Send(std::move(event));
}

void ObjectStore::Send(InformerEvent event) {
  event.kind = info_.kind;
  sink_(std::move(event));
}

}  // namespace berth::informers
