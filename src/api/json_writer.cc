// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "src/api/decode.h"
#include "src/api/tables.h"
#include "src/api/time_format.h"
#include "src/base/json.h"

namespace berth::api {
namespace {

using base::AppendJson;
using base::JsonList;
using base::JsonObject;

void Write(bool value, std::string& out) { AppendJson(value, out); }
void Write(int32_t value, std::string& out) { AppendJson(value, out); }
void Write(int64_t value, std::string& out) { AppendJson(value, out); }
void Write(const std::string& value, std::string& out) { AppendJson(value, out); }
void Write(const Quantity& value, std::string& out) { AppendJson(value.ToCanonicalString(), out); }
void Write(Time value, std::string& out) { AppendJson(FormatTime(value), out); }
void Write(const RawJson& value, std::string& out) {
  out += value.text.empty() ? "null" : value.text;
}
void Write(MicroTime value, std::string& out) { AppendJson(FormatMicroTime(value.time), out); }
void Write(const IntOrString& value, std::string& out) {
  std::visit([&out](const auto& held) { AppendJson(held, out); }, value);
}

template <Struct T>
void Write(const T& value, std::string& out);

template <Optional T>
void Write(const T& value, std::string& out) {
  Write(*value, out);
}

template <typename T>
void Write(const std::vector<T>& values, std::string& out) {
  if constexpr (kIsMap<std::vector<T>>) {
    JsonObject object(out);
    for (const auto& [key, value] : values) Write(value, object.Key(key));
  } else {
    JsonList list(out);
    for (const auto& value : values) Write(value, list.Next());
  }
}

template <typename T, typename... Fields>
void WriteFields(const T& value, const FieldList<Fields...>& fields, JsonObject& object) {
  const auto write = [&](const auto& field) {
    using FieldOrNested = std::remove_cvref_t<decltype(field)>;
    if constexpr (kIsNested<FieldOrNested>) {
      WriteFields(value, field.fields, object);
    } else {
      const auto& member = value.*FieldOrNested::kMember;
      using Member = std::remove_cvref_t<decltype(member)>;
      if (member != Member()) Write(member, object.Key(field.name));
    }
  };
  fields.Apply([&](const auto&... field) { (write(field), ...); });
}

template <Struct T>
void Write(const T& value, std::string& out) {
  JsonObject object(out);
  WriteFields(value, kFieldsOf<T>, object);
}

}  // namespace

template <typename T>
std::string EncodeJson(const T& value) {
  std::string out;
  JsonObject object(out);
  object.Add("apiVersion", KindOf<T>::kApiVersion);
  object.Add("kind", KindOf<T>::kKind);
  WriteFields(value, kFieldsOf<T>, object);
  object.Close();
  return out;
}

template <typename T>
void WriteJson(const T& value, std::string& out) {
  Write(value, out);
}

template void WriteJson(const ResourceClaimSpec&, std::string&);
template void WriteJson(const PodExtendedResourceClaimStatus&, std::string&);
template void WriteJson(const NodeAllocatableResourceClaimStatus&, std::string&);
template void WriteJson(const std::vector<OwnerReference>&, std::string&);

#define BERTH_INSTANTIATE(type) template std::string EncodeJson(const type&);
BERTH_API_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

}  // namespace berth::api
