// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plugins/fragmentation_aware/fragmentation.h"

namespace berth::plugins {

// How much of a node's devices the expected pods will take, from now until no more of them come.
//
// Of a device with f free: pods come in a drawn order, each that fits takes its share, and after
// each of them the device gets no more pods with a small probability. What they take in the mean is
//
//   use(f) = sum over shapes with share <= f of weight * (share + use(f - share))
//            / (kNoMore + sum over shapes with share <= f of weight)
//
// and need(r, f) is what they ask for of another resource r, by the same formula. A node that has
// less of r than all its devices need gives away that part of them:
//
//   use(node) = sum over devices of use(free) * min(1, min over r of left(r) / need(r))
//
// The node affinity of a shape does not count: each node is taken to get pods of all shapes.
//
// Thread safety: immutable.
class ExpectedUse final : public LeftoverMeasure {
 public:
  // How likely it is that a device gets no more pods; that the next is one of the mix counts 1.
  static constexpr double kNoMore = 0.03;

  // Of `counted` all are classes of devices; `total_weight` is the sum of their weights, above 0.
  // `resources`: how many amounts a demand has.
  ExpectedUse(std::span<const Shape> shapes, std::span<const CountedResource> counted,
              double total_weight, size_t resources);

  // In devices, by weight.
  double Of(const NodeLeft& left) const;
  // By the gain: what the pod takes, and what is expected after it, beyond what was expected
  // before. 50 + 50 * gain / (1 + |gain|), rounded, at most 99.
  int64_t Score(const Demand& demand, const NodeLeft& left) const override;
  size_t kept_bytes() const override;

 private:
  // A class of devices, by the thousandths of one that are free.
  struct Class {
    size_t index = 0;
    double weight = 1;  // of a whole device
    std::vector<double> use;
    std::vector<double> need;  // of each resource, one free amount after the other
  };

  Class MakeClass(std::span<const Shape> shapes, const CountedResource& counted) const;
  double Taken(const Demand& demand) const;

  const size_t resources_;
  const double total_weight_;
  std::vector<Class> classes_;
};

}  // namespace berth::plugins
