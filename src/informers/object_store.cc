// SPDX-License-Identifier: Apache-2.0
#include "src/informers/object_store.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/logging.h"

namespace berth::informers {
namespace {

bool Same(const api::ObjectPtr& one, const api::ObjectPtr& other) {
  return std::visit(
      []<typename A, typename B>(const A& a, const B& b) {
        if constexpr (std::is_same_v<A, std::monostate> || !std::is_same_v<A, B>) {
          return false;
        } else {
          return *a == *b;
        }
      },
      one, other);
}

}  // namespace

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
  if (!decoded) return PutDamaged(encoding, bytes, decoded.error());
  const api::ObjectMeta& meta = *MetaOf(*decoded);
  std::string version = meta.resource_version;

  Entry& entry = entries_[meta.Key()];
  entry.list = list_;
  const api::ObjectMeta* known = MetaOf(entry.object);
  if (known != nullptr && known->uid != meta.uid) {
    SendDeleted(entry);
    entry.object = {};
    known = nullptr;
  }
  const bool healed = std::exchange(entry.damaged, nullptr) != nullptr;
  // The content, too: a server that went back in time gives versions out a second time.
  if (known != nullptr && !healed && known->resource_version == version &&
      Same(entry.object, *decoded)) {
    return version;
  }

  InformerEvent event;
  event.type = known == nullptr ? EventType::kAdded : EventType::kUpdated;
  event.old_object = std::exchange(entry.object, *std::move(decoded));
  event.new_object = entry.object;
  Send(std::move(event));
  return version;
}

std::string ObjectStore::PutDamaged(api::Encoding encoding, std::string_view bytes,
                                    const Error& error) {
  api::PartialIdentity identity = api::ReadIdentity(encoding, bytes);
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
  ++undecodable_;
  base::LogError("An object cannot be decoded; its last good version is kept",
                 {{"resource", info_.resource},
                  {"object", key},
                  {"resourceVersion", identity.resource_version},
                  {"err", error.message}});
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
