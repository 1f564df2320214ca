// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "src/cel/environment.h"

namespace berth::cel {
namespace {

Value Failed(const Value& key) {
  return Value::Error("insert failed: key " + DebugText(key) + " already exists");
}

// The map of `value`, to be changed: itself, or a copy when others hold it.
Map* Changeable(Budget& budget, Value& value) {
  if (Map* const sole = value.SoleMap()) return sole;
  budget.Allocate(value.map().size() * sizeof(Map::Entry));
  value = Value::Of(std::shared_ptr<const Map>(std::make_shared<Map>(value.map())));
  return value.SoleMap();
}

Value InsertKey(Budget& budget, std::span<Value> args) {
  if (args[0].map().Contains(args[1])) return Failed(args[1]);
  budget.Allocate(sizeof(Map::Entry));
  if (budget.out_of_memory()) return NoSuchOverload();
  Changeable(budget, args[0])->Put(args[1], args[2]);
  return std::move(args[0]);
}

Value InsertMap(Budget& budget, std::span<Value> args) {
  const std::vector<Map::Entry>& entries = args[1].map().entries();
  budget.Allocate(entries.size() * sizeof(Map::Entry));
  if (budget.out_of_memory()) return NoSuchOverload();
  Map* const map = Changeable(budget, args[0]);
  for (const auto& [key, value] : entries) {
    if (map->Contains(key)) return Failed(key);
    map->Put(key, value);
  }
  return std::move(args[0]);
}

}  // namespace

void AddTransforms(Environment& environment) {
  static constexpr FunctionRow kRows[] = {
      {"cel.@mapInsert", "@mapInsert_map_key_value", "(map(K, V), K, V) map(K, V)", InsertKey},
      {"cel.@mapInsert", "@mapInsert_map_map", "(map(K, V), map(K, V)) map(K, V)", InsertMap},
  };
  environment.Add(kRows);
}

}  // namespace berth::cel
