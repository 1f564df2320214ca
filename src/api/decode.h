// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "berth/api/decode_value.h"
#include "berth/api/meta.h"
#include "berth/config_value.h"
#include "berth/result.h"
#include "src/api/kinds.h"

// From the wire to API structs and back. All of it is driven by the field tables (tables.h).
//
// Unknown fields are skipped, whatever they hold, and what is opaque to the API server (RawJson) is
// kept as it was written. Errors name the field: `spec.containers[2].resources.requests["cpu"]:
// ...`; they are wrong types, numbers out of range, bad quantities and times: nothing that an API
// server sends. Amounts may be negative, for it does not look at all of them. Each function is
// instantiated for the kinds of BERTH_API_KINDS.
//
// Thread safety: any thread; no state is shared.
namespace berth::api {

// How the API server sends objects.
enum class Encoding { kProtobuf, kJson };

// The media type to ask for, and the one a watch must ask for.
std::string_view AcceptOf(Encoding encoding);
std::string_view WatchAcceptOf(Encoding encoding);
// What a Content-Type header stands for; JSON where it is not protobuf's.
Encoding EncodingOf(std::string_view content_type);

// Reads the Kubernetes envelope ("k8s\0" and a runtime.Unknown) or the bare message. Errors: also
// an envelope of another kind than T.
template <typename T>
Result<T> DecodeProtobuf(std::string_view bytes);

// Reads one JSON object. Errors: also an apiVersion or kind of another type than T.
template <typename T>
Result<T> DecodeJson(std::string_view text);

template <typename T>
Result<T> Decode(Encoding encoding, std::string_view bytes) {
  return encoding == Encoding::kProtobuf ? DecodeProtobuf<T>(bytes) : DecodeJson<T>(bytes);
}

// Reads all that can be read of an object into `object`, which is as it was made: what is damaged
// costs that field alone, and is listed in metadata.damage. Errors: it is no object, or one of
// another kind. Instantiated for BERTH_WATCHED_KINDS.
template <typename T>
Result<void> ReadProtobuf(std::string_view bytes, T& object);
template <typename T>
Result<void> ReadJsonObject(std::string_view text, T& object);

template <typename T>
Result<void> ReadObject(Encoding encoding, std::string_view bytes, T& object) {
  return encoding == Encoding::kProtobuf ? ReadProtobuf(bytes, object)
                                         : ReadJsonObject(bytes, object);
}

// The same out of a document tree.
template <typename T>
Result<void> ReadValue(const ConfigValue& value, T& object);

// One line of JSON, with apiVersion and kind. Members with zero values are left out.
template <typename T>
std::string EncodeJson(const T& object);

// Appends a part of an object as JSON. Instantiated for what src/api/claim_bodies.cc writes.
template <typename T>
void WriteJson(const T& value, std::string& out);

// What could be read of an object that could not be decoded; members not found are "".
struct PartialIdentity {
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string node_name;       // spec.nodeName
  std::string scheduler_name;  // spec.schedulerName

  // "namespace/name", or "name" for a cluster-scoped object.
  std::string Key() const { return namespace_.empty() ? name : NamespacedKey(namespace_, name); }
  friend bool operator==(const PartialIdentity&, const PartialIdentity&) = default;
};

// Never fails: reads what can be read. Takes the same forms as Decode.
PartialIdentity ReadIdentity(Encoding encoding, std::string_view bytes);

// The apiVersion and kind that a JSON object or a protobuf envelope states; "" where it does not.
TypeMeta ReadTypeMeta(Encoding encoding, std::string_view bytes);

}  // namespace berth::api
