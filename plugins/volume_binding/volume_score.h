// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plugins/shared/function_shape.h"
#include "plugins/volume_binding/find_volumes.h"

namespace berth::plugins {

// How well what a node gives a pod is used: the utilization of each storage class by `shape`, and
// the mean of these. Where volumes that are there are taken: what is requested of what they hold;
// else what is requested of the room that the driver tells of. 0 where neither is known.
//
// Thread safety: one owner; keeps its capacity from one node to the next.
class VolumeScorer {
 public:
  // `shape` must outlive the scorer.
  explicit VolumeScorer(const BrokenLinearFunction& shape) : shape_(shape) {}

  int64_t Score(const NodeVolumes& volumes);

 private:
  struct ClassUse {
    std::string_view storage_class;
    int64_t requested = 0;
    int64_t capacity = 0;
  };

  ClassUse& UseOf(std::string_view storage_class);
  void FindUses(const NodeVolumes& volumes);

  const BrokenLinearFunction& shape_;
  std::vector<ClassUse> uses_;
};

}  // namespace berth::plugins
