// SPDX-License-Identifier: Apache-2.0
#include "src/cache/taint_table.h"

#include "berth/check.h"

namespace berth::cache {
namespace {

// Each field carries its length, so that no two lists share a key whatever their text.
std::string KeyOf(const std::vector<api::Taint>& taints) {
  std::string key;
  for (const api::Taint& taint : taints) {
    for (const std::string* field : {&taint.key, &taint.value, &taint.effect}) {
      key += std::to_string(field->size());
      key += ':';
      key += *field;
    }
  }
  return key;
}

}  // namespace

TaintSetId TaintTable::Acquire(const std::vector<api::Taint>& taints) {
  if (taints.empty()) return 0;
  std::string key = KeyOf(taints);
  if (const auto it = ids_.find(key); it != ids_.end()) {
    ++sets_[it->second].uses;
    return it->second;
  }
  TaintSetId id = 1;
  while (id < sets_.size() && sets_[id].uses > 0) ++id;
  if (id == sets_.size()) sets_.emplace_back();
  ids_.emplace(key, id);
  sets_[id] = {taints, std::move(key), 1};
  return id;
}

void TaintTable::Release(TaintSetId id) {
  if (id == 0) return;
  TaintSet& set = sets_[id];
  BERTH_CHECK(set.uses > 0, "taint list released more often than acquired");
  if (--set.uses > 0) return;
  ids_.erase(set.key);
  set = {};
}

}  // namespace berth::cache
