// SPDX-License-Identifier: Apache-2.0
#include "plugins/fragmentation_aware/expected_use.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace berth::plugins {
namespace {

constexpr int64_t kThousandth = kWholeDevice / 1000;
constexpr size_t kThousandths = 1000;

// Pods that take the same share of a device.
struct Takers {
  double weight = 0;
  std::vector<double> amounts;  // that all of them together ask for
};

int64_t DevicesOf(const Demand& demand) {
  int64_t count = 0;
  for (const DeviceDemand& devices : demand.devices) count += devices.count;
  return count;
}

// By share, in thousandths, rounded up. The weights' sum is 1, unless no shape asks for the class.
std::map<size_t, Takers> TakersOf(std::span<const Shape> shapes, size_t device_class,
                                  size_t resources) {
  std::map<size_t, Takers> takers;
  double sum = 0;
  for (const Shape& shape : shapes) {
    const auto all_devices = static_cast<double>(DevicesOf(shape.demand));
    for (const DeviceDemand& devices : shape.demand.devices) {
      if (devices.device_class != device_class) continue;
      const auto share = static_cast<size_t>((devices.share + kThousandth - 1) / kThousandth);
      const double weight = shape.weight * static_cast<double>(devices.count);
      Takers& same = takers[share];
      same.amounts.resize(resources);
      same.weight += weight;
      sum += weight;
      for (size_t r = 0; r < resources; ++r) {
        same.amounts[r] += weight * static_cast<double>(shape.demand.amounts[r]) / all_devices;
      }
    }
  }
  for (auto& [share, same] : takers) {
    same.weight /= sum;
    for (double& amount : same.amounts) amount /= sum;
  }
  return takers;
}

}  // namespace

ExpectedUse::ExpectedUse(std::span<const Shape> shapes, std::span<const CountedResource> counted,
                         double total_weight, size_t resources)
    : resources_(resources), total_weight_(total_weight) {
  for (const CountedResource& resource : counted) classes_.push_back(MakeClass(shapes, resource));
}

ExpectedUse::Class ExpectedUse::MakeClass(std::span<const Shape> shapes,
                                          const CountedResource& counted) const {
  Class made;
  made.index = counted.index;
  made.weight = counted.per_amount * static_cast<double>(kWholeDevice);
  made.use.resize(kThousandths + 1);
  made.need.resize((kThousandths + 1) * resources_);
  const std::map<size_t, Takers> takers = TakersOf(shapes, counted.index, resources_);
  for (size_t free = 1; free <= kThousandths; ++free) {
    double weight = kNoMore;
    double* need = made.need.data() + free * resources_;
    for (const auto& [share, same] : takers) {
      if (share > free) break;
      const size_t rest = free - share;
      weight += same.weight;
      made.use[free] += same.weight * (static_cast<double>(share) / 1000 + made.use[rest]);
      for (size_t r = 0; r < resources_; ++r) {
        need[r] += same.amounts[r] + same.weight * made.need[rest * resources_ + r];
      }
    }
    made.use[free] /= weight;
    for (size_t r = 0; r < resources_; ++r) need[r] /= weight;
  }
  return made;
}

double ExpectedUse::Of(const NodeLeft& left) const {
  double use = 0;
  for (const Class& one : classes_) {
    for (const DeviceLeft& device : left.devices) {
      if ((device.classes >> one.index & 1) == 0) continue;
      use += one.weight * one.use[static_cast<size_t>(device.free / kThousandth)];
    }
  }
  double part = 1;
  for (size_t r = 0; r < resources_; ++r) {
    double need = 0;
    for (const Class& one : classes_) {
      for (const DeviceLeft& device : left.devices) {
        if ((device.classes >> one.index & 1) == 0) continue;
        need += one.need[static_cast<size_t>(device.free / kThousandth) * resources_ + r];
      }
    }
    const auto there = static_cast<double>(left.amounts[r]);
    if (there < need) part = std::min(part, there / need);
  }
  return use * part;
}

double ExpectedUse::Taken(const Demand& demand) const {
  double taken = 0;
  for (const Class& one : classes_) {
    for (const DeviceDemand& devices : demand.devices) {
      if (devices.device_class != one.index) continue;
      taken += one.weight * static_cast<double>(devices.count) *
               static_cast<double>(devices.share) / static_cast<double>(kWholeDevice);
    }
  }
  return taken;
}

int64_t ExpectedUse::Score(const Demand& demand, const NodeLeft& left) const {
  NodeLeft after = left;
  Place(demand, after);
  const double gain = (Taken(demand) + Of(after) - Of(left)) / total_weight_;
  const double score = 50 + 50 * gain / (1 + std::abs(gain));
  return std::clamp<int64_t>(std::llround(score), 0, 99);
}

size_t ExpectedUse::kept_bytes() const {
  size_t bytes = 0;
  for (const Class& one : classes_) {
    bytes += (one.use.capacity() + one.need.capacity()) * sizeof(double);
  }
  return bytes;
}

}  // namespace berth::plugins
