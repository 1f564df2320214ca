// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

// How much of what a node has left is of no use to the pods that are expected: the measure of
// "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent"
// (Weng et al., USENIX ATC 2023), for any resources.
namespace berth::plugins {

// A device, in millionths.
inline constexpr int64_t kWholeDevice = 1'000'000;
// How many shapes a mix has at most, and how many classes of devices count.
inline constexpr size_t kMaxShapes = 128;
inline constexpr size_t kMaxDeviceClasses = 32;

// A device of a node, the classes that it is of (as bits), and how much of it is free.
struct DeviceLeft {
  uint32_t classes = 0;
  int64_t free = 0;

  friend bool operator==(const DeviceLeft&, const DeviceLeft&) = default;
};

// So many devices of a class, of each the same share.
struct DeviceDemand {
  size_t device_class = 0;
  int64_t count = 1;
  int64_t share = kWholeDevice;

  friend bool operator==(const DeviceDemand&, const DeviceDemand&) = default;
};

// What a pod asks for.
struct Demand {
  std::vector<int64_t> amounts;  // by place in the list of resources
  std::vector<DeviceDemand> devices;

  friend bool operator==(const Demand&, const Demand&) = default;
};

// What a node has left.
struct NodeLeft {
  std::vector<int64_t> amounts;     // as Demand's; none below 0
  std::vector<DeviceLeft> devices;  // in the order in which they are given away
  std::bitset<kMaxShapes> admits;   // the node affinities of the mix that it satisfies

  friend bool operator==(const NodeLeft&, const NodeLeft&) = default;
};

// A kind of pods, and how many of the expected ones are of it.
struct Shape {
  static constexpr size_t kAnyNode = std::numeric_limits<size_t>::max();

  double weight = 1;
  Demand demand;
  size_t affinity = kAnyNode;  // a bit of NodeLeft::admits
};

// A resource whose leftovers count, in place of the list or as a class of devices.
struct CountedResource {
  bool of_devices = false;
  size_t index = 0;
  // What one unit is worth: the resource's weight, divided by the amount that is one unit.
  double per_amount = 1;
};

// What a pod leaves of a node, for the expected pods.
class LeftoverMeasure {
 public:
  virtual ~LeftoverMeasure() = default;

  // From 0 to 99: 50 where the pod changes nothing, more where it leaves more. The pod fits; each
  // of its devices is the first that has enough, as the allocator gives them away.
  virtual int64_t Score(const Demand& demand, const NodeLeft& left) const = 0;
  virtual size_t kept_bytes() const = 0;
};

// The expected pods, and what of a node they cannot use.
//
//   fragmentation = sum over shapes of share(shape) * sum over resources of unusable * per_amount
//
// Of a resource is unusable to a shape: all that is left, where no such pod fits on the node or it
// asks for none of the resource; else what is left of devices that have less than its share.
//
// Thread safety: immutable.
class Fragmentation final : public LeftoverMeasure {
 public:
  // `total_weight` is the sum of the resources' weights, above 0. Without shapes all nodes are
  // alike.
  Fragmentation(std::vector<Shape> shapes, std::vector<CountedResource> counted,
                double total_weight);

  double Of(const NodeLeft& left) const;
  // By how much less of the node is fragmented once the pod is there, by a sigmoid.
  int64_t Score(const Demand& demand, const NodeLeft& left) const override;
  size_t kept_bytes() const override;

 private:
  std::vector<Shape> shapes_;
  std::vector<CountedResource> counted_;
  double total_weight_;
};

// Takes what the pod asks for away from what is left.
void Place(const Demand& demand, NodeLeft& left);

}  // namespace berth::plugins
