// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <optional>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <type_traits>

#include "src/api/decode.h"
#include "src/api/field_table.h"
#include "src/api/tables.h"
#include "src/api/time_format.h"
#include "src/api/wire_types.h"

namespace berth::api {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

template <Struct T>
bool ReadStruct(pbf_reader message, T& out, Trail& trail);

bool WrongWireType(pbf_reader& message, Trail& trail) {
  message.skip();
  return trail.Fail("malformed protobuf: wrong wire type");
}

bool IsMessage(const pbf_reader& message) {
  return message.wire_type() == pbf_wire_type::length_delimited;
}

// Each Read takes the value of the field that `message` stands at. protozero does not check wire
// types in release builds, so each does.

bool ReadVarint(pbf_reader& message, int64_t& out, Trail& trail) {
  if (message.wire_type() != pbf_wire_type::varint) return WrongWireType(message, trail);
  out = message.get_int64();
  return true;
}

bool Read(pbf_reader& message, bool& out, Trail& trail) {
  int64_t value = 0;
  if (!ReadVarint(message, value, trail)) return false;
  out = value != 0;
  return true;
}

bool Read(pbf_reader& message, int64_t& out, Trail& trail) {
  return ReadVarint(message, out, trail);
}

bool Read(pbf_reader& message, int32_t& out, Trail& trail) {
  int64_t value = 0;
  if (!ReadVarint(message, value, trail)) return false;
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
    return trail.Fail(std::to_string(value) + " is out of range");
  out = static_cast<int32_t>(value);
  return true;
}

bool Read(pbf_reader& message, std::string_view& out, Trail& trail) {
  if (!IsMessage(message)) return WrongWireType(message, trail);
  const auto view = message.get_view();
  out = {view.data(), view.size()};
  return true;
}

bool Read(pbf_reader& message, std::string& out, Trail& trail) {
  std::string_view view;
  if (!Read(message, view, trail)) return false;
  out = std::string(view);  // cheaper than to replace what the string holds, which is nothing
  return true;
}

bool Read(pbf_reader& message, Quantity& out, Trail& trail) {
  if (!IsMessage(message)) return WrongWireType(message, trail);
  pbf_reader quantity = message.get_message();
  while (quantity.next()) {
    if (quantity.tag() != 1) {
      quantity.skip();
      continue;
    }
    std::string_view text;
    if (!Read(quantity, text, trail)) return false;
    auto parsed = Quantity::Parse(text);
    if (!parsed) return trail.Fail(BadQuantity(text, parsed.error()));
    out = *parsed;
  }
  return true;
}

bool ReadTimestamp(pbf_reader& message, int64_t& seconds, int64_t& nanos, Trail& trail) {
  if (!IsMessage(message)) return WrongWireType(message, trail);
  pbf_reader timestamp = message.get_message();
  while (timestamp.next()) {
    if (timestamp.tag() == 1) {
      if (!Read(timestamp, seconds, trail)) return false;
    } else if (timestamp.tag() == 2) {
      if (!Read(timestamp, nanos, trail)) return false;
    } else {
      timestamp.skip();
    }
  }
  return true;
}

// Kubernetes ignores the nanoseconds of a Time.
bool Read(pbf_reader& message, Time& out, Trail& trail) {
  int64_t seconds = 0;
  int64_t nanos = 0;
  if (!ReadTimestamp(message, seconds, nanos, trail)) return false;
  out = TimeFromUnix(seconds, 0);
  return true;
}

bool Read(pbf_reader& message, MicroTime& out, Trail& trail) {
  int64_t seconds = 0;
  int64_t nanos = 0;
  if (!ReadTimestamp(message, seconds, nanos, trail)) return false;
  out.time = TimeFromUnix(seconds, nanos / 1000 * 1000);
  return true;
}

bool Read(pbf_reader& message, IntOrString& out, Trail& trail) {
  if (!IsMessage(message)) return WrongWireType(message, trail);
  int64_t type = 0;
  int32_t number = 0;
  std::string_view text;
  pbf_reader value = message.get_message();
  while (value.next()) {
    bool ok = true;
    switch (value.tag()) {
      case 1:
        ok = Read(value, type, trail);
        break;
      case 2:
        ok = Read(value, number, trail);
        break;
      case 3:
        ok = Read(value, text, trail);
        break;
      default:
        value.skip();
    }
    if (!ok) return false;
  }
  if (type == 0) {
    out = number;
  } else {
    out = std::string(text);
  }
  return true;
}

// runtime.RawExtension.
bool Read(pbf_reader& message, RawJson& out, Trail& trail) {
  if (!IsMessage(message)) return WrongWireType(message, trail);
  pbf_reader extension = message.get_message();
  while (extension.next()) {
    if (extension.tag() != 1) {
      extension.skip();
    } else if (!Read(extension, out.text, trail)) {
      return false;
    }
  }
  return true;
}

bool Read(pbf_reader& message, std::vector<bool>& out, Trail& trail) {
  bool value = false;
  if (!Read(message, value, trail)) return trail.InElement(out.size());
  out.push_back(value);
  return true;
}

template <Struct T>
bool Read(pbf_reader& message, T& out, Trail& trail) {
  if (!IsMessage(message)) return WrongWireType(message, trail);
  return ReadStruct(message.get_message(), out, trail);
}

template <Optional T>
bool Read(pbf_reader& message, T& out, Trail& trail) {
  using Value = typename T::value_type;
  if constexpr (std::is_same_v<Value, Time> || std::is_same_v<Value, MicroTime>) {
    // The server sends a time that is not set as an empty message.
    pbf_reader ahead = message;
    if (IsMessage(ahead) && ahead.get_view().size() == 0) {
      message = ahead;
      return true;
    }
  }
  if (!out) out.emplace();
  return Read(message, *out, trail);
}

template <typename T>
bool ReadEntry(pbf_reader& message, std::vector<std::pair<std::string, T>>& map, Trail& trail) {
  if (!IsMessage(message)) return WrongWireType(message, trail);
  pbf_reader entry = message.get_message();
  auto& [key, value] = map.emplace_back();
  while (entry.next()) {
    if (entry.tag() == 1) {
      if (!Read(entry, key, trail)) return false;
    } else if (entry.tag() == 2) {
      if (!Read(entry, value, trail)) return trail.InKey(key);
    } else {
      entry.skip();
    }
  }
  return true;
}

template <typename T>
bool Read(pbf_reader& message, std::vector<T>& out, Trail& trail) {
  if constexpr (kIsMap<std::vector<T>>) {
    return ReadEntry(message, out, trail);
  } else {
    return Read(message, out.emplace_back(), trail) || trail.InElement(out.size() - 1);
  }
}

template <typename T, typename... Fields>
bool ReadFields(pbf_reader message, T& out, const FieldList<Fields...>& fields, Trail& trail);

template <typename T, typename FieldOrNested>
bool ReadField(pbf_reader& message, T& out, const FieldOrNested& field, Trail& trail) {
  if constexpr (kIsNested<FieldOrNested>) {
    if (!IsMessage(message)) return WrongWireType(message, trail);
    return ReadFields(message.get_message(), out, field.fields, trail);
  } else {
    return Read(message, out.*FieldOrNested::kMember, trail) || trail.InField(field.name);
  }
}

template <typename T, typename... Fields>
bool ReadFields(pbf_reader message, T& out, const FieldList<Fields...>& fields, Trail& trail) {
  while (message.next()) {
    const uint32_t number = message.tag();
    bool ok = true;
    const bool known = fields.Apply([&](const auto&... field) {
      return (... ||
              (number == field.kNumber && (ok = ReadField(message, out, field, trail), true)));
    });
    if (!known) message.skip();
    if (!ok) return false;
  }
  return true;
}

template <typename T, typename FieldOrNested>
void SortMapOf(T& out, const FieldOrNested& field) {
  if constexpr (kIsNested<FieldOrNested>) {
    field.fields.Apply([&](const auto&... inner) { (SortMapOf(out, inner), ...); });
  } else if constexpr (kIsMap<std::remove_cvref_t<decltype(out.*FieldOrNested::kMember)>>) {
    SortMap(out.*FieldOrNested::kMember);
  }
}

template <Struct T>
bool ReadStruct(pbf_reader message, T& out, Trail& trail) {
  // Caught at each level, so that the path leads to the damage.
  try {
    if (!ReadFields(message, out, kFieldsOf<T>, trail)) return false;
  } catch (const protozero::exception& error) {
    if (!trail.Fail(std::string("malformed protobuf: ") + error.what())) return false;
  }
  kFieldsOf<T>.Apply([&](const auto&... field) { (SortMapOf(out, field), ...); });
  return true;
}

}  // namespace

template <typename T>
Result<void> ReadMessage(std::string_view bytes, T& out) {
  Trail trail;
  if (!ReadStruct(pbf_reader(bytes.data(), bytes.size()), out, trail))
    return Fail(std::move(trail).ToError(""));
  return {};
}

template <typename T>
void ReadMessageParts(std::string_view bytes, T& out) {
  Trail all(std::numeric_limits<size_t>::max());
  static_cast<void>(ReadStruct(pbf_reader(bytes.data(), bytes.size()), out, all));
}

Result<Envelope> OpenEnvelope(std::string_view bytes) {
  Envelope envelope;
  if (!bytes.starts_with(kProtobufMagic)) {
    envelope.raw = bytes;
    return envelope;
  }
  bytes.remove_prefix(kProtobufMagic.size());
  if (auto read = ReadMessage(bytes, envelope); !read) return Fail(read.error());
  if (!envelope.content_encoding.empty())
    return Fail("contentEncoding: \"" + std::string(envelope.content_encoding) +
                "\" is not supported");
  return envelope;
}

namespace {

// The message in an envelope, which has to be one of this type.
Result<std::string_view> OpenEnvelopeOf(std::string_view bytes, std::string_view api_version,
                                        std::string_view kind) {
  const auto envelope = OpenEnvelope(bytes);
  if (!envelope) return Fail(envelope.error());
  if (auto same = CheckType(envelope->type_meta, api_version, kind); !same)
    return Fail(same.error());
  return envelope->raw;
}

}  // namespace

template <typename T>
Result<T> DecodeProtobuf(std::string_view bytes) {
  const auto raw = OpenEnvelopeOf(bytes, KindOf<T>::kApiVersion, KindOf<T>::kKind);
  if (!raw) return Fail(raw.error());
  Result<T> object;
  if (auto read = ReadMessage(*raw, *object); !read) return Fail(read.error());
  return object;
}

template <typename T>
Result<void> ReadProtobuf(std::string_view bytes, T& object) {
  const auto raw = OpenEnvelopeOf(bytes, KindOf<T>::kApiVersion, KindOf<T>::kKind);
  if (!raw) return Fail(raw.error());
  ReadAllThatCanBe(object, [&](size_t forgiven) -> std::optional<FieldDamage> {
    Trail trail(forgiven);
    if (ReadStruct(pbf_reader(raw->data(), raw->size()), object, trail)) return std::nullopt;
    return std::move(trail).ToDamage();
  });
  return {};
}

#define BERTH_INSTANTIATE(type) template Result<type> DecodeProtobuf<type>(std::string_view);
BERTH_API_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

#define BERTH_INSTANTIATE(type) template Result<void> ReadProtobuf(std::string_view, type&);
BERTH_WATCHED_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

template Result<void> ReadMessage(std::string_view, ListMeta&);
template Result<void> ReadMessage(std::string_view, TypeMeta&);
template Result<void> ReadMessage(std::string_view, WatchMessage&);
template Result<void> ReadMessage(std::string_view, ObjectHead&);
template void ReadMessageParts(std::string_view, ObjectHead&);
template Result<void> ReadMessage(std::string_view, BindingMessage&);
template Result<void> ReadMessage(std::string_view, EventMessage&);
template Result<void> ReadMessage(std::string_view, MetadataOnly&);

}  // namespace berth::api
