// SPDX-License-Identifier: Apache-2.0
#include "src/documents/duplicates.h"

#include <utility>

namespace berth::documents {

ConfigValue KeepLastOfEachKey(const ConfigValue& value) {
  if (const ConfigValue::List* list = value.list()) {
    ConfigValue::List kept;
    kept.reserve(list->size());
    for (const ConfigValue& element : *list) kept.push_back(KeepLastOfEachKey(element));
    return ConfigValue(std::move(kept), value.line());
  }
  const ConfigValue::Map* map = value.map();
  if (map == nullptr) return value;
  std::vector<bool> superseded(map->size());
  ForEachDuplicate(*map, [&](const auto&, const auto& ahead) {
    superseded[static_cast<size_t>(&ahead - map->data())] = true;
  });
  ConfigValue::Map kept;
  kept.reserve(map->size());
  for (size_t i = 0; i < map->size(); ++i) {
    if (!superseded[i]) kept.emplace_back((*map)[i].first, KeepLastOfEachKey((*map)[i].second));
  }
  return ConfigValue(std::move(kept), value.line());
}

}  // namespace berth::documents
