// SPDX-License-Identifier: Apache-2.0
#include "src/api/protobuf_writer.h"

#include <chrono>
#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <type_traits>

#include "src/api/tables.h"

namespace berth::api {
namespace {

using protozero::pbf_writer;

template <Struct T>
void WriteStruct(const T& value, TextFilter* filter, pbf_writer& out);

// Each Write appends the field `number` with that value, also where that is zero.

void Write(uint32_t number, bool value, TextFilter*, pbf_writer& out) {
  out.add_bool(number, value);
}
void Write(uint32_t number, int32_t value, TextFilter*, pbf_writer& out) {
  out.add_int32(number, value);
}
void Write(uint32_t number, int64_t value, TextFilter*, pbf_writer& out) {
  out.add_int64(number, value);
}
void Write(uint32_t number, const std::string& value, TextFilter*, pbf_writer& out) {
  out.add_string(number, value);
}

void Write(uint32_t number, const Quantity& value, TextFilter*, pbf_writer& out) {
  pbf_writer(out, number).add_string(1, value.ToCanonicalString());
}

void WriteTimestamp(uint32_t number, Time value, bool fraction, pbf_writer& out) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(value);
  pbf_writer timestamp(out, number);
  timestamp.add_int64(1, seconds.time_since_epoch().count());
  if (fraction) timestamp.add_int32(2, static_cast<int32_t>((value - seconds).count()));
}
void Write(uint32_t number, Time value, TextFilter*, pbf_writer& out) {
  WriteTimestamp(number, value, false, out);
}
void Write(uint32_t number, MicroTime value, TextFilter*, pbf_writer& out) {
  WriteTimestamp(number, value.time, true, out);
}

void Write(uint32_t number, const IntOrString& value, TextFilter*, pbf_writer& out) {
  pbf_writer either(out, number);
  if (const auto* text = std::get_if<std::string>(&value)) {
    either.add_int64(1, 1);
    either.add_string(3, *text);
  } else {
    either.add_int64(1, 0);
    either.add_int32(2, std::get<int32_t>(value));
  }
}

// runtime.RawExtension.
void Write(uint32_t number, const RawJson& value, TextFilter* filter, pbf_writer& out) {
  pbf_writer(out, number).add_string(1, filter == nullptr ? value.text : filter->Raw(value.text));
}

template <Struct T>
void Write(uint32_t number, const T& value, TextFilter* filter, pbf_writer& out) {
  // protozero takes a message without fields back.
  if (value == T()) return out.add_bytes(number, std::string());
  pbf_writer message(out, number);
  WriteStruct(value, filter, message);
}

template <Optional T>
void Write(uint32_t number, const T& value, TextFilter* filter, pbf_writer& out) {
  Write(number, *value, filter, out);
}

template <typename T>
void WriteEntry(uint32_t number, const std::string& key, const T& value, TextFilter* filter,
                pbf_writer& out) {
  pbf_writer entry(out, number);
  entry.add_string(1, key);
  Write(2, value, filter, entry);
}

void Write(uint32_t number, const std::vector<bool>& values, TextFilter*, pbf_writer& out) {
  for (const bool value : values) out.add_bool(number, value);
}

template <typename T>
void Write(uint32_t number, const std::vector<T>& values, TextFilter* filter, pbf_writer& out) {
  for (const auto& value : values) {
    if constexpr (kIsMap<std::vector<T>>) {
      WriteEntry(number, value.first, value.second, filter, out);
    } else {
      Write(number, value, filter, out);
    }
  }
}

void WriteAnnotations(uint32_t number, const StringMap& annotations, TextFilter* filter,
                      pbf_writer& out) {
  for (const auto& [key, value] : annotations) {
    WriteEntry(number, key, filter == nullptr ? value : filter->Annotation(key, value), filter,
               out);
  }
}

template <typename T, typename... Fields>
void WriteFields(const T& value, const FieldList<Fields...>& fields, TextFilter* filter,
                 pbf_writer& out);

template <typename T, typename FieldOrNested>
void WriteField(const T& value, const FieldOrNested& field, TextFilter* filter, pbf_writer& out) {
  if constexpr (kIsNested<FieldOrNested>) {
    pbf_writer nested(out, FieldOrNested::kNumber);
    WriteFields(value, field.fields, filter, nested);
  } else {
    const auto& member = value.*FieldOrNested::kMember;
    using Member = std::remove_cvref_t<decltype(member)>;
    if (member == Member()) return;
    if constexpr (std::is_same_v<T, ObjectMeta> && std::is_same_v<Member, StringMap>) {
      if (&member == &value.annotations) {
        WriteAnnotations(FieldOrNested::kNumber, member, filter, out);
        return;
      }
    }
    Write(FieldOrNested::kNumber, member, filter, out);
  }
}

template <typename T, typename... Fields>
void WriteFields(const T& value, const FieldList<Fields...>& fields, TextFilter* filter,
                 pbf_writer& out) {
  fields.Apply([&](const auto&... field) { (WriteField(value, field, filter, out), ...); });
}

template <Struct T>
void WriteStruct(const T& value, TextFilter* filter, pbf_writer& out) {
  WriteFields(value, kFieldsOf<T>, filter, out);
}

}  // namespace

template <typename T>
void EncodeProtobuf(const T& object, TextFilter* filter, std::string& out) {
  pbf_writer writer(out);
  WriteStruct(object, filter, writer);
}

#define BERTH_INSTANTIATE(type) \
  template void EncodeProtobuf(const type&, TextFilter*, std::string&);
BERTH_API_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

}  // namespace berth::api
