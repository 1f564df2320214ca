// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/api/pod.h"
#include "berth/in_tree/node_metrics.h"
#include "berth/snapshot.h"

// What Trimaran's plugins have in common besides their args.
namespace berth::plugins {

// Of cpu in milli-cores, of memory in bytes.
struct PodAmounts {
  int64_t milli_cpu = 0;
  int64_t memory = 0;

  bool zero() const { return milli_cpu == 0 && memory == 0; }
};

// What the pod asks for, or may use at most, as Trimaran counts it: the sum of its containers or
// the largest init container, sidecars too, and the overhead. What the pod as a whole asks for does
// not count. Saturates.
PodAmounts TrimaranRequests(const api::Pod& pod);
PodAmounts TrimaranLimits(const api::Pod& pod);

// What is known of a node, and what it has for pods.
struct MeasuredNode {
  const NodeMetrics* measured = nullptr;  // nullptr: nothing is known
  PodAmounts allocatable;
};

// Reads nodes one after the other; what it is made of must outlive it.
//
// Thread safety: immutable, as the snapshot is.
class MeasuredNodeReader {
 public:
  MeasuredNodeReader(const MeasuredNodes& measured, const Snapshot& snapshot)
      : measured_(measured),
        snapshot_(snapshot),
        cpu_(snapshot.allocatable(kCpu)),
        memory_(snapshot.allocatable(kMemory)) {}

  // `row` must be in the snapshot's nodes().
  MeasuredNode Read(NodeRow row) const {
    return {measured_.FindOnRow(row, snapshot_.node(row).metadata.name), {cpu_[row], memory_[row]}};
  }

 private:
  const MeasuredNodes& measured_;
  const Snapshot& snapshot_;
  const Column cpu_;
  const Column memory_;
};

// What is measured of one resource, held against what is allocatable of it.
struct MeasuredLoad {
  double capacity = 0;   // milli-cores, or MiB
  double average = 0;    // the same
  double deviation = 0;  // the same
};
// `allocatable`: milli-cores.
MeasuredLoad MeasuredCpu(const MeasuredResource& measured, int64_t allocatable);
// `allocatable`: bytes.
MeasuredLoad MeasuredMemory(const MeasuredResource& measured, int64_t allocatable);

// A share between 0 and 1, and the standard deviation of it.
struct LoadShare {
  double mean = 0;
  double deviation = 0;
};
// Of the load with `more` added, in its unit; 0 of a node that has none of the resource.
LoadShare LoadShareOf(const MeasuredLoad& load, double more);

// Bytes in MiB.
double InMebibytes(int64_t bytes);

// The score as a whole number, halves away from zero, between kMinNodeScore and kMaxNodeScore; the
// lowest for what is no number.
int64_t RoundedScore(double score);

}  // namespace berth::plugins
