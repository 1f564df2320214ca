// SPDX-License-Identifier: Apache-2.0
#include "plugins/fragmentation_aware/args.h"

#include <set>

#include "berth/matching.h"
#include "plugins/fragmentation_aware/fragmentation.h"
#include "plugins/shared/extended_resource_classes.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kMeasure = "measure";
constexpr std::string_view kResources = "resources";
constexpr std::string_view kMix = "mix";
constexpr int64_t kMaxWeight = 1'000'000;
constexpr int64_t kMaxDevices = 1'000;
constexpr NamedValue<FragmentationMeasure> kMeasures[] = {
    {"ExpectedUse", FragmentationMeasure::kExpectedUse},
    {"Fragmentation", FragmentationMeasure::kFragmentation},
};

// A quantity as YAML may have it: text or a whole number.
void ReadQuantity(FieldReader& fields, std::string_view field, const ConfigValue& value,
                  api::Quantity& out) {
  if (const int64_t* number = value.integer()) {
    out = api::Quantity::FromUnits(*number);
    return;
  }
  const std::string* text = value.string();
  const auto parsed = text != nullptr ? api::Quantity::Parse(*text)
                                      : Result<api::Quantity>(Fail("must be a quantity"));
  if (parsed) {
    out = *parsed;
  } else {
    fields.Invalid(field, value.ToJson(), "must be a quantity");
  }
}

void ReadRequests(FieldReader& fields, ShapeSpec& shape) {
  const ConfigValue* requests = fields.Get("requests");
  if (requests == nullptr) return;
  if (requests->map() == nullptr) {
    fields.Invalid("requests", requests->ToJson(), "must be a map of resources");
    return;
  }
  for (const auto& [name, value] : *requests->map()) {
    api::Quantity amount;
    ReadQuantity(fields, "requests[" + name + "]", value, amount);
    shape.requests.emplace_back(name, amount);
  }
}

ShapeSpec ReadShapeSpec(FieldReader& fields) {
  ShapeSpec shape;
  fields.Read("weight", shape.weight);
  ReadRequests(fields, shape);
  ReadEach(fields, "devices", [&](FieldReader& entry) {
    ShapeDevices& devices = shape.devices.emplace_back();
    entry.Read("deviceClassName", devices.device_class_name);
    entry.Read("count", devices.count);
    if (const ConfigValue* share = entry.Get("share")) {
      ReadQuantity(entry, "share", *share, devices.share);
    }
  });
  shape.match_expressions = ReadNodeRequirements(fields, "matchExpressions");
  return shape;
}

void CheckResources(const FragmentationAwareArgs& args, const std::string& parent,
                    std::vector<std::string>& problems) {
  std::set<std::string> names;
  for (size_t i = 0; i < args.resources.size(); ++i) {
    const ResourceSpec& resource = args.resources[i];
    const std::string path = IndexedPath(FieldPath(parent, kResources), i);
    if (!names.insert(resource.name).second) {
      problems.push_back(DuplicateField(path + ".name", Quoted(resource.name)));
    }
    if (resource.weight < 1 || resource.weight > 100) {
      problems.push_back(
          InvalidField(path + ".weight", std::to_string(resource.weight), "must be from 1 to 100"));
    }
    if (args.measure == FragmentationMeasure::kExpectedUse &&
        DeviceClassOf(resource.name).empty()) {
      problems.push_back(InvalidField(path + ".name", Quoted(resource.name),
                                      "must be a class of devices, as measure is ExpectedUse"));
    }
  }
}

void CheckShape(const ShapeSpec& shape, const std::string& path,
                std::vector<std::string>& problems) {
  if (shape.weight < 1 || shape.weight > kMaxWeight) {
    problems.push_back(InvalidField(path + ".weight", std::to_string(shape.weight),
                                    "must be from 1 to " + std::to_string(kMaxWeight)));
  }
  for (const auto& [name, amount] : shape.requests) {
    if (amount.nanos() < 0) {
      problems.push_back(InvalidField(path + ".requests[" + name + "]",
                                      Quoted(amount.ToCanonicalString()), "must not be below 0"));
    }
  }
  for (size_t i = 0; i < shape.devices.size(); ++i) {
    const ShapeDevices& devices = shape.devices[i];
    const std::string at = IndexedPath(path + ".devices", i);
    if (devices.device_class_name.empty()) {
      problems.push_back(RequiredField(at + ".deviceClassName", "must name a DeviceClass"));
    }
    if (devices.count < 1 || devices.count > kMaxDevices) {
      problems.push_back(InvalidField(at + ".count", std::to_string(devices.count),
                                      "must be from 1 to " + std::to_string(kMaxDevices)));
    }
    if (devices.share.nanos() <= 0 || devices.share > api::Quantity::FromUnits(1)) {
      problems.push_back(InvalidField(at + ".share", Quoted(devices.share.ToCanonicalString()),
                                      "must be above 0 and at most 1"));
    }
  }
  if (shape.match_expressions.empty()) return;
  api::NodeSelector selector;
  selector.node_selector_terms.emplace_back().match_expressions = shape.match_expressions;
  const NodeSelectorMatcher matcher = NodeSelectorMatcher::Make(selector);
  for (const Error& error : matcher.errors()) {
    problems.push_back(path + ".matchExpressions: Invalid value: " + error.message);
  }
}

std::vector<std::string> FragmentationProblems(const FragmentationAwareArgs& args,
                                               const std::string& parent) {
  std::vector<std::string> problems;
  CheckResources(args, parent, problems);
  const std::string mix = FieldPath(parent, kMix);
  if (args.mix.size() > kMaxShapes) {
    problems.push_back(InvalidField(mix, std::to_string(args.mix.size()),
                                    "must have at most " + std::to_string(kMaxShapes) + " shapes"));
  }
  for (size_t i = 0; i < args.mix.size(); ++i) {
    CheckShape(args.mix[i], IndexedPath(mix, i), problems);
  }
  const size_t classes = DeviceClassesOf(args).size();
  if (classes > kMaxDeviceClasses) {
    problems.push_back(InvalidField(mix, std::to_string(classes),
                                    "must name at most " + std::to_string(kMaxDeviceClasses) +
                                        " classes of devices, with resources"));
  }
  return problems;
}

FragmentationAwareArgs ReadFragmentationArgs(FieldReader& fields) {
  FragmentationAwareArgs args;
  ReadNamed(fields, kMeasure, kMeasures, args.measure);
  args.resources = ReadResources(fields, kResources);
  ReadEach(fields, kMix, [&](FieldReader& entry) { args.mix.push_back(ReadShapeSpec(entry)); });
  return args;
}

ConfigValue WithFragmentationDefaults(const ConfigValue& args, const ArgsFeatures&) {
  return WithField(WithDefault(args, kMeasure, ConfigValue(std::string("Fragmentation"))),
                   kResources, WithDefaultResources(args.Find(kResources)));
}

}  // namespace

constexpr ArgsKind<FragmentationAwareArgs> kFragmentationAwareArgs =
    MakeArgsKind<"FragmentationAware", ReadFragmentationArgs, FragmentationProblems>(
        WithFragmentationDefaults);

std::string DeviceClassOf(const std::string& resource) {
  const std::string prefix = ImplicitResourceOf("");
  return resource.starts_with(prefix) ? resource.substr(prefix.size()) : "";
}

std::vector<std::string> DeviceClassesOf(const FragmentationAwareArgs& args) {
  std::set<std::string> classes;
  for (const ResourceSpec& resource : args.resources) {
    const std::string device_class = DeviceClassOf(resource.name);
    if (!device_class.empty()) classes.insert(device_class);
  }
  for (const ShapeSpec& shape : args.mix) {
    for (const ShapeDevices& devices : shape.devices) classes.insert(devices.device_class_name);
  }
  return {classes.begin(), classes.end()};
}

}  // namespace berth::plugins
