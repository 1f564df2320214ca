// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "berth/api/boxed.h"
#include "berth/time.h"

// The parts of the Kubernetes API that scheduling needs, as plain immutable values. Names are the
// API's, camelCase turned into snake_case. Absent optional fields are std::nullopt where absence
// means something, else the zero value. Decoders in src/api fill them; unknown fields are skipped.
namespace berth::api {

// A string map, sorted by key, keys unique.
using StringMap = std::vector<std::pair<std::string, std::string>>;

// The value of `key`, or nullptr.
const std::string* Find(const StringMap& map, std::string_view key);
// Gives `key` that value, whether it is there or not.
void Put(std::string_view key, std::string_view value, StringMap& map);

// A point in time that the API writes with microseconds; a plain Time has seconds only.
struct MicroTime {
  Time time;

  friend auto operator<=>(const MicroTime&, const MicroTime&) = default;
};

// An integer, or a string such as "50%".
using IntOrString = std::variant<int32_t, std::string>;

// JSON that is passed on unread; "" where there is none.
struct RawJson {
  std::string text;

  friend bool operator==(const RawJson&, const RawJson&) = default;
};

struct Condition {
  std::string type;
  // True, False, Unknown.
  std::string status;
  int64_t observed_generation = 0;
  std::optional<Time> last_transition_time;
  std::string reason;
  std::string message;

  friend bool operator==(const Condition&, const Condition&) = default;
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;

  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

struct ObjectReference {
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string api_version;
  std::string resource_version;

  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
};

// "namespace/name", the key of tables of namespaced objects: neither part can hold a slash.
inline std::string NamespacedKey(std::string_view namespace_, std::string_view name) {
  // In one allocation: every message about a pod asks for it.
  std::string key;
  key.reserve(namespace_.size() + 1 + name.size());
  key.append(namespace_).append("/").append(name);
  return key;
}

// A part of an object that could not be read, and is as if it were absent.
struct FieldDamage {
  // "spec.containers[2].ports"; "" is the whole object.
  std::string path;
  std::string reason;

  std::string ToString() const { return path.empty() ? reason : path + ": " + reason; }
  friend bool operator==(const FieldDamage&, const FieldDamage&) = default;
};

struct ObjectMeta {
  std::string name;
  std::string namespace_;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  std::optional<Time> creation_timestamp;
  std::optional<Time> deletion_timestamp;
  StringMap labels;
  StringMap annotations;
  std::vector<OwnerReference> owner_references;
  // Not the API's: what the decoder could not read of the object, whole. Empty for almost all.
  Boxed<std::vector<FieldDamage>> damage;

  // "namespace/name", or "name" for a cluster-scoped object.
  std::string Key() const { return namespace_.empty() ? name : NamespacedKey(namespace_, name); }
  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

// The JSON that an object was read from, whole, where more of it is needed than the struct
// holds; else nullptr. No part of the object's value: comparisons pass it over.
struct SourceText {
  std::shared_ptr<const std::string> json;

  friend bool operator==(const SourceText&, const SourceText&) { return true; }
};

// The bytes that an object was read from: a bare protobuf message, or JSON. All of it but for
// metadata.managedFields, which the API server fills in itself. A write is made from them, since
// the struct holds only what is read. nullptr where they are not kept. No part of the object's
// value: comparisons pass it over.
struct StoredForm {
  std::shared_ptr<const std::string> bytes;
  bool json = false;

  friend bool operator==(const StoredForm&, const StoredForm&) { return true; }
};

struct LabelSelectorRequirement {
  std::string key;
  // In, NotIn, Exists, DoesNotExist.
  std::string operator_;
  std::vector<std::string> values;

  friend bool operator==(const LabelSelectorRequirement&,
                         const LabelSelectorRequirement&) = default;
};

struct LabelSelector {
  StringMap match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

struct Namespace {
  ObjectMeta metadata;

  friend bool operator==(const Namespace&, const Namespace&) = default;
};

}  // namespace berth::api
