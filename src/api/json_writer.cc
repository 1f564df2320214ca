// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "src/api/decode.h"
#include "src/api/tables.h"
#include "src/api/time_format.h"

namespace berth::api {
namespace {

using nlohmann::ordered_json;

ordered_json Write(bool value) { return value; }
ordered_json Write(int32_t value) { return value; }
ordered_json Write(int64_t value) { return value; }
ordered_json Write(const std::string& value) { return value; }
ordered_json Write(const Quantity& value) { return value.ToString(); }
ordered_json Write(Time value) { return FormatTime(value); }
ordered_json Write(MicroTime value) { return FormatMicroTime(value.time); }
ordered_json Write(const IntOrString& value) {
  if (const auto* number = std::get_if<int32_t>(&value)) return *number;
  return std::get<std::string>(value);
}

template <Struct T>
ordered_json Write(const T& value);

template <Optional T>
ordered_json Write(const T& value) {
  return Write(*value);
}

template <typename T>
ordered_json Write(const std::vector<T>& values) {
  if constexpr (kIsMap<std::vector<T>>) {
    ordered_json object = ordered_json::object();
    for (const auto& [key, value] : values) object[key] = Write(value);
    return object;
  } else {
    ordered_json list = ordered_json::array();
    for (const T& value : values) list.push_back(Write(value));
    return list;
  }
}

template <typename T, typename... Fields>
void WriteFields(const T& value, const std::tuple<Fields...>& fields, ordered_json& object) {
  const auto write = [&](const auto& field) {
    using FieldOrNested = std::remove_cvref_t<decltype(field)>;
    if constexpr (kIsNested<FieldOrNested>) {
      WriteFields(value, field.fields, object);
    } else {
      const auto& member = value.*FieldOrNested::kMember;
      using Member = std::remove_cvref_t<decltype(member)>;
      if (member != Member()) object[std::string(field.name)] = Write(member);
    }
  };
  std::apply([&](const auto&... field) { (write(field), ...); }, fields);
}

template <Struct T>
ordered_json Write(const T& value) {
  ordered_json object = ordered_json::object();
  WriteFields(value, FieldsOf<T>::kFields, object);
  return object;
}

}  // namespace

template <typename T>
std::string EncodeJson(const T& value) {
  ordered_json object = ordered_json::object();
  object["apiVersion"] = std::string(KindOf<T>::kApiVersion);
  object["kind"] = std::string(KindOf<T>::kKind);
  WriteFields(value, FieldsOf<T>::kFields, object);
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

#define BERTH_INSTANTIATE(type) template std::string EncodeJson(const type&);
BERTH_API_KINDS(BERTH_INSTANTIATE)
#undef BERTH_INSTANTIATE

}  // namespace berth::api
