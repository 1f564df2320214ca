// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/api/node.h"
#include "berth/snapshot.h"
#include "src/base/string_map.h"

namespace berth::cache {

// Which nodes have which images, by every name that the nodes report, unchanged: they report full
// names with a tag or digest, so a normalised name finds them.
//
// The size is what the first node said for as long as another node has the image, as in
// kube-scheduler; a node that is the only one left corrects it with its next update.
//
// Thread safety: one owner.
class ImageTable {
 public:
  using Images = std::vector<api::ContainerImage>;

  void Add(NodeRow row, const Images& images);
  void Remove(NodeRow row, const Images& images);
  // As Remove(before) and Add(now), but cheap when nothing changed.
  void Update(NodeRow row, const Images& before, const Images& now);

  std::optional<ImageState> Find(std::string_view name) const;

 private:
  struct Entry {
    int64_t size_bytes = 0;
    std::vector<NodeRow> rows;  // ascending
  };
  base::StringMap<Entry> images_;
};

}  // namespace berth::cache
