// SPDX-License-Identifier: Apache-2.0
#include "src/cache/image_table.h"

#include <algorithm>

namespace berth::cache {

void ImageTable::Add(NodeRow row, const Images& images) {
  for (const api::ContainerImage& image : images) {
    for (const std::string& name : image.names) {
      const auto [it, inserted] = images_.try_emplace(name);
      Entry& entry = it->second;
      if (inserted) entry.size_bytes = image.size_bytes;
      const auto place = std::lower_bound(entry.rows.begin(), entry.rows.end(), row);
      if (place == entry.rows.end() || *place != row) entry.rows.insert(place, row);
    }
  }
}

void ImageTable::Remove(NodeRow row, const Images& images) {
  for (const api::ContainerImage& image : images) {
    for (const std::string& name : image.names) {
      const auto it = images_.find(name);
      if (it == images_.end()) continue;  // the node names it twice
      std::vector<NodeRow>& rows = it->second.rows;
      const auto place = std::lower_bound(rows.begin(), rows.end(), row);
      if (place != rows.end() && *place == row) rows.erase(place);
      if (rows.empty()) images_.erase(it);
    }
  }
}

void ImageTable::Update(NodeRow row, const Images& before, const Images& now) {
  if (before != now) {
    Remove(row, before);
    Add(row, now);
    return;
  }
  // Backwards, so that the first of two mentions of a name has the last word, as in Add().
  for (auto image = now.rbegin(); image != now.rend(); ++image) {
    for (const std::string& name : image->names) {
      Entry& entry = images_[name];
      if (entry.rows.size() == 1) entry.size_bytes = image->size_bytes;
    }
  }
}

std::optional<ImageState> ImageTable::Find(std::string_view name) const {
  const auto it = images_.find(name);
  if (it == images_.end()) return std::nullopt;
  return ImageState{it->second.size_bytes, it->second.rows};
}

}  // namespace berth::cache
