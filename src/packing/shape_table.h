// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "berth/resources.h"

namespace berth::packing {

// What a pod requests, as an index into a ShapeTable.
using ShapeId = uint32_t;
// How many pods have a shape.
using ShapeCounts = absl::flat_hash_map<ShapeId, uint64_t>;

// The distinct request vectors of pods. Amounts of zero are no part of one.
//
// Thread safety: one owner.
class ShapeTable {
 public:
  // nullopt: the pod requests nothing. `names` must know the ids of the requests.
  std::optional<ShapeId> Intern(const Resources& requests, const ResourceNames& names);
  const Resources& shape(ShapeId id) const { return shapes_[id]; }
  // Of a resource that a shape names, also when `names` has forgotten it.
  std::string_view NameOf(ResourceId id) const;
  size_t size() const { return shapes_.size(); }

  // The most frequent shapes, first the one that most pods have: as many as it takes to cover nine
  // tenths of the pods, but at most `most`. Between equal ones the larger amount of cpu, memory,
  // ephemeral storage and then of the other resources by name decides.
  std::vector<ShapeId> MostFrequent(const ShapeCounts& counts, size_t most) const;

 private:
  struct Hash {
    size_t operator()(const Resources& requests) const;
  };
  using Named = std::vector<std::pair<std::string_view, int64_t>>;

  bool IsLarger(ShapeId a, ShapeId b) const;
  Named NamedScalars(const Resources& requests) const;

  absl::flat_hash_map<Resources, ShapeId, Hash> ids_;
  std::vector<Resources> shapes_;
  absl::flat_hash_map<ResourceId, std::string> names_;  // of scalars
};

}  // namespace berth::packing
