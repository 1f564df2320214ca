// SPDX-License-Identifier: Apache-2.0

#include "src/framework/loadable/host_table.h"
#include "src/framework/loadable/plugin_state.h"
#include "src/framework/loadable/views.h"

namespace berth::framework::loadable {
namespace {

int32_t TypeOf(const ConfigValue& value) {
  if (value.boolean() != nullptr) return BERTH_VALUE_BOOL;
  if (value.integer() != nullptr) return BERTH_VALUE_INTEGER;
  if (value.real() != nullptr) return BERTH_VALUE_REAL;
  if (value.string() != nullptr) return BERTH_VALUE_STRING;
  if (value.list() != nullptr) return BERTH_VALUE_LIST;
  if (value.map() != nullptr) return BERTH_VALUE_MAP;
  return BERTH_VALUE_NULL;
}

double RealOf(const ConfigValue& value) {
  if (const int64_t* integer = value.integer()) return static_cast<double>(*integer);
  return value.real() == nullptr ? 0 : *value.real();
}

size_t SizeOf(const ConfigValue& value) {
  if (value.list() != nullptr) return value.list()->size();
  return value.map() == nullptr ? 0 : value.map()->size();
}

const ConfigValue& ElementAt(const ConfigValue& value, size_t index) {
  return value.list() != nullptr ? (*value.list())[index] : (*value.map())[index].second;
}

const api::StringMap& MapOf(berth_map map) {
  static const api::StringMap kEmpty;
  return map.map == nullptr ? kEmpty : *static_cast<const api::StringMap*>(map.map);
}

bool MapAt(berth_map map, size_t index, berth_string* key, berth_string* value) {
  const api::StringMap& entries = MapOf(map);
  if (index >= entries.size()) return false;
  *key = View(entries[index].first);
  *value = View(entries[index].second);
  return true;
}

bool MapFind(berth_map map, berth_string key, berth_string* value) {
  const std::string* found = api::Find(MapOf(map), Text(key));
  if (found == nullptr) return false;
  *value = View(*found);
  return true;
}

void Restrict(berth_names* names, const berth_string* nodes, size_t n) {
  if (!names->names) names->names.emplace();
  for (size_t i = 0; i < n; ++i) names->names->emplace_back(Text(nodes[i]));
}

}  // namespace

void FillValues(berth_host& host) {
  host.text_set = [](berth_text* text, berth_string value) {
    text->text = Text(value);
    text->set = true;
  };
  host.verdict_reason = [](berth_verdict* verdict, berth_string reason) {
    verdict->reasons.emplace_back(Text(reason));
  };
  host.names_restrict = Restrict;

  host.value_type = [](const berth_value* value) { return TypeOf(ValueOf(value)); };
  host.value_bool = [](const berth_value* value) {
    const bool* boolean = ValueOf(value).boolean();
    return boolean != nullptr && *boolean;
  };
  host.value_integer = [](const berth_value* value) -> int64_t {
    const int64_t* integer = ValueOf(value).integer();
    return integer == nullptr ? 0 : *integer;
  };
  host.value_real = [](const berth_value* value) { return RealOf(ValueOf(value)); };
  host.value_string = [](const berth_value* value) {
    const std::string* string = ValueOf(value).string();
    return string == nullptr ? berth_string{} : View(*string);
  };
  host.value_size = [](const berth_value* value) { return SizeOf(ValueOf(value)); };
  host.value_at = [](const berth_value* value, size_t index) -> const berth_value* {
    return index < SizeOf(ValueOf(value)) ? View(ElementAt(ValueOf(value), index)) : nullptr;
  };
  host.value_key = [](const berth_value* value, size_t index) {
    const ConfigValue::Map* map = ValueOf(value).map();
    return map == nullptr || index >= map->size() ? berth_string{} : View((*map)[index].first);
  };
  host.value_line = [](const berth_value* value) -> int32_t { return ValueOf(value).line(); };
  host.value_json = [](const berth_value* value, berth_text* json) {
    json->text = ValueOf(value).ToJson();
    json->set = true;
  };

  host.map_size = [](berth_map map) { return MapOf(map).size(); };
  host.map_at = MapAt;
  host.map_find = MapFind;

  host.state_get = [](const berth_state* state) -> void* {
    const auto data = state->Get();
    return data == nullptr ? nullptr : data->get();
  };
  host.state_set = [](berth_state* state, void* data, void (*destroy)(void*),
                      void* (*clone)(const void*), size_t (*bytes)(const void*)) {
    state->Set(std::make_shared<PluginData>(data, destroy, clone, bytes));
  };
}

}  // namespace berth::framework::loadable
