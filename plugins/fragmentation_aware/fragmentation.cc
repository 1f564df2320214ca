// SPDX-License-Identifier: Apache-2.0
#include "plugins/fragmentation_aware/fragmentation.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plugins/shared/natural_log.h"

namespace berth::plugins {
namespace {

// Sums of products that should be equal differ by less.
constexpr double kRounding = 1e-9;
constexpr size_t kSteps = 99;

bool IsOf(const DeviceLeft& device, size_t device_class) {
  return (device.classes >> device_class & 1) != 0;
}

bool HasDevices(const DeviceDemand& demand, const NodeLeft& left) {
  int64_t enough = 0;
  for (const DeviceLeft& device : left.devices) {
    if (IsOf(device, demand.device_class) && device.free >= demand.share) ++enough;
  }
  return enough >= demand.count;
}

bool FitsShape(const Shape& shape, const NodeLeft& left) {
  if (shape.affinity != Shape::kAnyNode && !left.admits.test(shape.affinity)) return false;
  for (size_t i = 0; i < shape.demand.amounts.size(); ++i) {
    if (shape.demand.amounts[i] > left.amounts[i]) return false;
  }
  return std::ranges::all_of(shape.demand.devices, [&left](const DeviceDemand& demand) {
    return HasDevices(demand, left);
  });
}

// Of devices of the class: what is left of those with less than `share`.
int64_t LeftBelow(size_t device_class, int64_t share, const NodeLeft& left) {
  int64_t sum = 0;
  for (const DeviceLeft& device : left.devices) {
    if (IsOf(device, device_class) && device.free < share) sum += device.free;
  }
  return sum;
}

// The smallest share of a device of the class that the pod can use; more than a whole device where
// it asks for none.
int64_t UsableShare(const Demand& demand, size_t device_class) {
  int64_t share = kWholeDevice + 1;
  for (const DeviceDemand& devices : demand.devices) {
    if (devices.device_class == device_class) share = std::min(share, devices.share);
  }
  return share;
}

int64_t Unusable(const CountedResource& resource, const Shape& shape, bool fits,
                 const NodeLeft& left) {
  if (resource.of_devices) {
    const int64_t usable = fits ? UsableShare(shape.demand, resource.index) : kWholeDevice + 1;
    return LeftBelow(resource.index, usable, left);
  }
  return fits && shape.demand.amounts[resource.index] > 0 ? 0 : left.amounts[resource.index];
}

// From which gain on a score is k + 1: 100 / (1 + e^-gain) >= k + 1. The C library's exp may differ
// from machine to machine in the last bit, and a score with it.
std::array<double, kSteps> Steps() {
  std::array<double, kSteps> steps{};
  for (size_t k = 1; k <= kSteps; ++k) {
    steps[k - 1] = NaturalLog(static_cast<double>(k) / static_cast<double>(kSteps + 1 - k));
  }
  return steps;
}

}  // namespace

Fragmentation::Fragmentation(std::vector<Shape> shapes, std::vector<CountedResource> counted,
                             double total_weight)
    : shapes_(std::move(shapes)), counted_(std::move(counted)), total_weight_(total_weight) {
  double sum = 0;
  for (const Shape& shape : shapes_) sum += shape.weight;
  for (Shape& shape : shapes_) shape.weight /= sum;
}

double Fragmentation::Of(const NodeLeft& left) const {
  double sum = 0;
  for (const Shape& shape : shapes_) {
    const bool fits = FitsShape(shape, left);
    for (const CountedResource& resource : counted_) {
      const auto unusable = static_cast<double>(Unusable(resource, shape, fits, left));
      sum += shape.weight * resource.per_amount * unusable;
    }
  }
  return sum;
}

int64_t Fragmentation::Score(const Demand& demand, const NodeLeft& left) const {
  static const std::array<double, kSteps> steps = Steps();
  NodeLeft after = left;
  Place(demand, after);
  const double gain = (Of(left) - Of(after)) / total_weight_;
  return std::ranges::upper_bound(steps, gain + kRounding) - steps.begin();
}

// A rough figure: what the mix takes.
size_t Fragmentation::kept_bytes() const {
  size_t bytes = shapes_.capacity() * sizeof(Shape);
  for (const Shape& shape : shapes_) {
    bytes += shape.demand.amounts.capacity() * sizeof(int64_t) +
             shape.demand.devices.capacity() * sizeof(DeviceDemand);
  }
  return bytes;
}

void Place(const Demand& demand, NodeLeft& left) {
  for (size_t i = 0; i < demand.amounts.size(); ++i) {
    left.amounts[i] = std::max<int64_t>(left.amounts[i] - demand.amounts[i], 0);
  }
  for (const DeviceDemand& devices : demand.devices) {
    int64_t wanted = devices.count;
    for (DeviceLeft& device : left.devices) {
      if (wanted == 0) break;
      if (!IsOf(device, devices.device_class) || device.free < devices.share) continue;
      device.free -= devices.share;
      --wanted;
    }
  }
}

}  // namespace berth::plugins
