// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "src/api/field_table.h"
#include "src/api/kinds.h"

// What stands around objects on the wire. Members that are views point into what was read; only
// the protobuf reader fills such.
namespace berth::api {

// Before each enveloped protobuf object.
inline constexpr std::string_view kProtobufMagic{"k8s\0", 4};

template <>
inline constexpr auto kFieldsOf<TypeMeta> =
    Table(Field<1, &TypeMeta::api_version>("apiVersion"), Field<2, &TypeMeta::kind>("kind"));

// runtime.Unknown.
struct Envelope {
  TypeMeta type_meta;
  std::string_view raw;
  std::string_view content_encoding;
};

template <>
inline constexpr auto kFieldsOf<Envelope> =
    Table(Field<1, &Envelope::type_meta>("typeMeta"), Field<2, &Envelope::raw>("raw"),
          Field<3, &Envelope::content_encoding>("contentEncoding"));

// meta/v1 WatchEvent, its RawExtension opened.
struct WatchMessage {
  std::string_view type;
  std::string_view object;
};

template <>
inline constexpr auto kFieldsOf<WatchMessage> =
    Table(Field<1, &WatchMessage::type>("type"), Nested<2>(Field<1, &WatchMessage::object>("raw")));

// What identifies an object of any kind, and where it runs if it is a pod.
struct ObjectHead {
  struct Metadata {
    std::string name;
    std::string namespace_;
    std::string uid;
    std::string resource_version;
  };
  struct Spec {
    std::string node_name;
    std::string scheduler_name;
  };
  Metadata metadata;
  Spec spec;
};

template <>
inline constexpr auto kFieldsOf<ObjectHead::Metadata> =
    Table(Field<1, &ObjectHead::Metadata::name>("name"),
          Field<3, &ObjectHead::Metadata::namespace_>("namespace"),
          Field<5, &ObjectHead::Metadata::uid>("uid"),
          Field<6, &ObjectHead::Metadata::resource_version>("resourceVersion"));

template <>
inline constexpr auto kFieldsOf<ObjectHead::Spec> =
    Table(Field<10, &ObjectHead::Spec::node_name>("nodeName"),
          Field<19, &ObjectHead::Spec::scheduler_name>("schedulerName"));

template <>
inline constexpr auto kFieldsOf<ObjectHead> = ObjectTable<ObjectHead>();

// What is read of a v1 Binding.
struct BindingMessage {
  struct Metadata {
    std::string uid;  // the pod's
  };
  struct Target {
    std::string name;  // the node's
  };
  Metadata metadata;
  Target target;
};

template <>
inline constexpr auto kFieldsOf<BindingMessage::Metadata> =
    Table(Field<5, &BindingMessage::Metadata::uid>("uid"));

template <>
inline constexpr auto kFieldsOf<BindingMessage::Target> =
    Table(Field<3, &BindingMessage::Target::name>("name"));

template <>
inline constexpr auto kFieldsOf<BindingMessage> = Table(
    Field<1, &BindingMessage::metadata>("metadata"), Field<2, &BindingMessage::target>("target"));

// What is read of an events.k8s.io/v1 Event.
struct EventMessage {
  struct Metadata {
    std::string name;
  };
  Metadata metadata;
  std::string controller;
  std::string action;
  std::string reason;
  ObjectReference regarding;
  ObjectReference related;
  std::string note;
  std::string type;
};

template <>
inline constexpr auto kFieldsOf<EventMessage::Metadata> =
    Table(Field<1, &EventMessage::Metadata::name>("name"));

template <>
inline constexpr auto kFieldsOf<EventMessage> = Table(
    Field<1, &EventMessage::metadata>("metadata"),
    Field<4, &EventMessage::controller>("reportingController"),
    Field<6, &EventMessage::action>("action"), Field<7, &EventMessage::reason>("reason"),
    Field<8, &EventMessage::regarding>("regarding"), Field<9, &EventMessage::related>("related"),
    Field<10, &EventMessage::note>("note"), Field<11, &EventMessage::type>("type"));

// An object of any kind of which only the metadata matters.
struct MetadataOnly {
  ObjectMeta metadata;
};

template <>
inline constexpr auto kFieldsOf<MetadataOnly> =
    Table(Field<1, &MetadataOnly::metadata>("metadata"));

// Reads a bare protobuf message, or a JSON object. Errors: as in decode.h; `out` keeps what was
// read before. Instantiated for the types of this file where they hold no views, and more.
template <typename T>
Result<void> ReadMessage(std::string_view bytes, T& out);
template <typename T>
Result<void> ReadJson(std::string_view text, T& out);

// The same, past whatever is damaged. For ObjectHead.
template <typename T>
void ReadMessageParts(std::string_view bytes, T& out);
template <typename T>
void ReadJsonParts(std::string_view text, T& out);

// Opens "k8s\0"; a bare message comes back as `raw`, with an empty type. Errors: a damaged or
// encoded (compressed) envelope.
Result<Envelope> OpenEnvelope(std::string_view bytes);

// Fails when `type` states another kind than the wanted one. Empty members state nothing.
Result<void> CheckType(const TypeMeta& type, std::string_view api_version, std::string_view kind);

}  // namespace berth::api
