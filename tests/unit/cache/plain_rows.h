// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/meta.h"

namespace berth::cache {

// An object as tests of lists show it.
inline std::string Shown(const api::ObjectMeta& meta) {
  return meta.Key() + "@" + meta.resource_version;
}

// The slow twin of one kind's table: what is shown of each object, and the value that its list is
// asked by.
class PlainRows {
 public:
  void Set(const api::ObjectMeta& meta, std::string value) {
    rows_[{meta.namespace_, meta.name}] = {std::move(value), Shown(meta)};
  }
  void Remove(const api::ObjectMeta& meta) { rows_.erase({meta.namespace_, meta.name}); }

  // "" where there is none.
  std::string Find(std::string namespace_, std::string name) const {
    const auto row = rows_.find({std::move(namespace_), std::move(name)});
    return row == rows_.end() ? "" : row->second.second;
  }
  // In order of namespace and name.
  std::vector<std::string> Of(std::string_view value) const {
    std::vector<std::string> shown;
    for (const auto& [key, row] : rows_) {
      if (row.first == value) shown.push_back(row.second);
    }
    return shown;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> rows_;
};

}  // namespace berth::cache
