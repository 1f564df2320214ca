// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/api/pod.h"
#include "berth/api/quantity.h"
#include "plugins/shared/args_kind.h"

namespace berth::plugins {

// Devices of a class that a shape asks for.
struct ShapeDevices {
  std::string device_class_name;
  int64_t count = 1;
  api::Quantity share = api::Quantity::FromUnits(1);  // of each of them; above 0, at most 1
};

// Expected pods that ask for the same.
struct ShapeSpec {
  int64_t weight = 1;
  std::vector<std::pair<std::string, api::Quantity>> requests;
  std::vector<ShapeDevices> devices;
  // Which nodes can have them; empty: all.
  std::vector<api::NodeSelectorRequirement> match_expressions;
};

// How leftovers are measured.
enum class FragmentationMeasure {
  kFragmentation,  // by what the expected pods cannot use now
  kExpectedUse,    // by what they will take
};

struct FragmentationAwareArgs {
  FragmentationMeasure measure = FragmentationMeasure::kFragmentation;
  // Whose leftovers count, and how much a unit of each.
  std::vector<ResourceSpec> resources = DefaultResourceSpecs();
  // The expected pods; empty: as those that were seen.
  std::vector<ShapeSpec> mix;
};

// Errors: a measure that is none; with ExpectedUse, a resource that is no class of devices; a
// resource named twice or with a weight that is not from 1 to 100, more shapes, classes
// of devices or devices than can be counted, amounts below 0, shares that are no part of a device,
// expressions that are none.
extern const ArgsKind<FragmentationAwareArgs> kFragmentationAwareArgs;

// The class of devices that the resource stands for, or "": deviceclass.resource.kubernetes.io/c
// is c.
std::string DeviceClassOf(const std::string& resource);
// The classes that the args name, in order of name.
std::vector<std::string> DeviceClassesOf(const FragmentationAwareArgs& args);

}  // namespace berth::plugins
