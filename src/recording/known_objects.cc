// SPDX-License-Identifier: Apache-2.0
#include "src/recording/known_objects.h"

#include <type_traits>

#include "src/informers/kinds.h"

namespace berth::recording {

KnownObjects::KnownObjects() : by_kind_(informers::AllKinds().size()) {}

const api::ObjectPtr& KnownObjects::Find(informers::Kind kind, std::string_view key) const {
  static const api::ObjectPtr kNone;
  const auto& objects = by_kind_[static_cast<size_t>(kind)];
  const auto it = objects.find(key);
  return it == objects.end() ? kNone : it->second.object;
}

void KnownObjects::Note(const informers::InformerEvent& event, size_t bytes) {
  auto& objects = by_kind_[static_cast<size_t>(event.kind)];
  if (const api::ObjectMeta* meta = api::MetaOf(event.new_object)) {
    Known& known = objects[meta->Key()];
    bytes_ += bytes - known.bytes;
    known = {event.new_object, bytes};
  } else if (event.type == informers::EventType::kDeleted) {
    const api::ObjectMeta* gone = api::MetaOf(event.old_object);
    const auto it = gone == nullptr ? objects.end() : objects.find(gone->Key());
    if (it == objects.end()) return;
    bytes_ -= it->second.bytes;
    objects.erase(it);
  }
}

void AppendObject(const api::ObjectPtr& object, api::TextFilter* filter, std::string& out) {
  std::visit(
      [&](const auto& held) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          api::EncodeProtobuf(*held, filter, out);
        }
      },
      object);
}

Result<api::ObjectPtr> ReadObject(informers::Kind kind, std::string_view bytes) {
  return informers::InfoOf(kind).decode(api::Encoding::kProtobuf, bytes, {});
}

}  // namespace berth::recording
