// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/config_value.h"
#include "berth/result.h"

// The types of an API group as tables, for what must hold of every field alike: which there are,
// of which type, and when they are printed. kube-scheduler has its Go types for that, and names
// them in its messages.

namespace berth::config {

// Standard alphabet with padding; line breaks are skipped. Errors: `illegal base64 data at input
// byte N`, as Go says it.
Result<std::string> DecodeBase64(std::string_view text);

enum class SchemaKind {
  kBool,
  kInt32,
  kInt64,
  kFloat32,
  kFloat64,
  kString,
  kBytes,     // base64
  kDuration,  // as Go writes them
  kList,
  kStringMap,
  kStruct,
  kAny,
};

struct SchemaField;

struct Schema {
  SchemaKind kind = SchemaKind::kAny;
  std::string_view go_type;               // "int32", "v1.Plugins"
  const Schema* element = nullptr;        // of a list
  std::span<const SchemaField> fields{};  // of a struct
};

// When a field is printed. "Zero" is 0, false, "" or empty.
enum class Print { kAlways, kUnlessZero, kIfGiven };

struct SchemaField {
  std::string_view name;
  const Schema* type = nullptr;
  Print print = Print::kUnlessZero;
  // The embedded Go struct that the field is of; "" for the struct itself.
  std::string_view embedded = "";
};

struct SchemaProblems {
  // The first field of the wrong type, in Go's words; all else does not count then.
  std::optional<std::string> mistyped;
  // Each with its path: `unknown field "a.b[0].c"`, and behind it what the hint says of it.
  std::vector<std::string> unknown_fields;
};

// In which order the members of a map are looked at: as they are written, as kube-scheduler reads
// JSON, or by name, as it reads YAML. Whole numbers of JSON are those that are written so.
enum class MemberOrder { kAsWritten, kByName };

// Holds `value` against `schema`. `hint` may be nullptr.
SchemaProblems CheckAgainst(const Schema& schema, const ConfigValue& value, MemberOrder order,
                            FieldHint hint = nullptr);

// A value that CheckAgainst() found nothing wrong with, as Kubernetes prints it: with the fields
// that are always there, without those that are empty, durations and numbers in one form.
ConfigValue AsPrinted(const Schema& schema, const ConfigValue& value);

// KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1.
const Schema& ConfigurationSchema();
// The kind <plugin>Args, or nullptr where the plugin has none: its args are its own business.
const Schema* ArgsSchema(std::string_view plugin);

}  // namespace berth::config
