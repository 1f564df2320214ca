// SPDX-License-Identifier: Apache-2.0
#include "src/recording/known_objects.h"

#include <memory>
#include <type_traits>
#include <utility>

#include "src/api/plugin_object.h"
#include "src/informers/kinds.h"
#include "src/recording/bytes.h"

namespace berth::recording {

namespace {

// A plugin may read all of its object. The text says most; what stands before it may have been
// filled in (api::PluginObject).
void AppendPluginObject(const api::PluginObject& object, std::string& out) {
  ByteWriter to(out);
  const api::ObjectMeta& meta = object.metadata;
  for (const std::string* text :
       {&meta.name, &meta.namespace_, &meta.uid, &meta.resource_version, object.json.get()}) {
    to.Text(*text);
  }
}

Result<api::ObjectPtr> ReadPluginObject(api::PluginKindId kind, std::string_view bytes) {
  ByteReader from(bytes);
  api::ObjectMeta filled_in;
  for (std::string* text :
       {&filled_in.name, &filled_in.namespace_, &filled_in.uid, &filled_in.resource_version}) {
    *text = from.Text();
  }
  const std::string_view json = from.Text();
  if (!from.ok()) return Fail("an object ends within a field");
  auto object = api::ReadPluginObject(kind, json);
  if (!object) return Fail(object.error());
  api::ObjectMeta& meta = object->metadata;
  meta.name = std::move(filled_in.name);
  meta.namespace_ = std::move(filled_in.namespace_);
  meta.uid = std::move(filled_in.uid);
  meta.resource_version = std::move(filled_in.resource_version);
  return api::ObjectPtr(std::make_shared<const api::PluginObject>(*std::move(object)));
}

}  // namespace

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
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::shared_ptr<const api::PluginObject>>) {
          AppendPluginObject(*held, out);
        } else if constexpr (!std::is_same_v<Held, std::monostate>) {
          api::EncodeProtobuf(*held, filter, out);
        }
      },
      object);
}

Result<api::ObjectPtr> ReadObject(informers::Kind kind, std::string_view bytes) {
  if (const auto own = informers::PluginKindOf(kind)) return ReadPluginObject(*own, bytes);
  return informers::InfoOf(kind).decode(api::Encoding::kProtobuf, bytes, {});
}

}  // namespace berth::recording
