// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/resource_claim.h"
#include "berth/api/resource_slice.h"
#include "plugins/dynamic_resources/allocator/expressions.h"

// Devices, slices, classes and claims as tests write them.
namespace berth::plugins::dra {

inline api::Quantity Amount(std::string_view text) { return *api::Quantity::Parse(text); }

struct DeviceBuilder {
  api::Device device;

  DeviceBuilder(std::string name) { device.name = std::move(name); }
  DeviceBuilder(const char* name) { device.name = name; }

  DeviceBuilder& Attribute(std::string name, api::DeviceAttribute value) {
    device.attributes.emplace_back(std::move(name), std::move(value));
    std::sort(device.attributes.begin(), device.attributes.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return *this;
  }
  DeviceBuilder& String(std::string name, std::string value) {
    api::DeviceAttribute attribute;
    attribute.string = std::move(value);
    return Attribute(std::move(name), std::move(attribute));
  }
  DeviceBuilder& Int(std::string name, int64_t value) {
    api::DeviceAttribute attribute;
    attribute.int_ = value;
    return Attribute(std::move(name), std::move(attribute));
  }
  DeviceBuilder& Strings(std::string name, std::vector<std::string> values) {
    api::DeviceAttribute attribute;
    attribute.strings = std::move(values);
    return Attribute(std::move(name), std::move(attribute));
  }
  DeviceBuilder& Capacity(std::string name, std::string_view amount) {
    device.capacity.emplace_back(std::move(name), api::DeviceCapacity{Amount(amount), {}});
    std::sort(device.capacity.begin(), device.capacity.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return *this;
  }
  // The last capacity's policy.
  DeviceBuilder& Range(std::string_view min, std::string_view max, std::string_view step,
                       std::string_view default_ = "") {
    api::CapacityRequestPolicy policy;
    policy.valid_range.emplace();
    policy.valid_range->min = Amount(min);
    if (!max.empty()) policy.valid_range->max = Amount(max);
    if (!step.empty()) policy.valid_range->step = Amount(step);
    if (!default_.empty()) policy.default_ = Amount(default_);
    device.capacity.back().second.request_policy = policy;
    return *this;
  }
  DeviceBuilder& Values(std::vector<std::string> values, std::string_view default_ = "") {
    api::CapacityRequestPolicy policy;
    for (const std::string& value : values) policy.valid_values.push_back(Amount(value));
    if (!default_.empty()) policy.default_ = Amount(default_);
    device.capacity.back().second.request_policy = policy;
    return *this;
  }
  DeviceBuilder& Consumes(std::string set, std::string counter, std::string_view amount) {
    device.consumes_counters.push_back(
        {std::move(set), {{std::move(counter), {Amount(amount)}}}, {}});
    return *this;
  }
  // Of the last counter set.
  DeviceBuilder& Groups(std::vector<std::string> groups) {
    device.consumes_counters.back().compatibility_groups = std::move(groups);
    return *this;
  }
  DeviceBuilder& Taint(std::string key, std::string effect = "NoSchedule") {
    device.taints.push_back({std::move(key), "v", std::move(effect), std::nullopt});
    return *this;
  }
  DeviceBuilder& Shared() {
    device.allow_multiple_allocations = true;
    return *this;
  }
  DeviceBuilder& Conditions(std::string ready, std::string failed) {
    device.binding_conditions = {std::move(ready)};
    device.binding_failure_conditions = {std::move(failed)};
    return *this;
  }
  DeviceBuilder& BindsToNode() {
    device.binds_to_node = true;
    return *this;
  }
  DeviceBuilder& OnNode(std::string node) {
    device.node_name = std::move(node);
    return *this;
  }
  DeviceBuilder& OnLabel(std::string key, std::string value) {
    device.node_selector = api::NodeSelector{{{{{std::move(key), "In", {std::move(value)}}}, {}}}};
    return *this;
  }
};

// A slice of one pool on one node, the only one of its generation, until told otherwise.
struct SliceBuilder {
  api::ResourceSlice slice;

  SliceBuilder(std::string name, std::string driver, std::string pool) {
    slice.metadata.name = std::move(name);
    slice.spec.driver = std::move(driver);
    slice.spec.pool = {std::move(pool), 1, 1};
    slice.spec.node_name = "node-1";
  }

  SliceBuilder& Device(DeviceBuilder device) {
    slice.spec.devices.push_back(std::move(device.device));
    return *this;
  }
  SliceBuilder& Devices(std::vector<std::string> names) {
    for (std::string& name : names) Device(DeviceBuilder(std::move(name)));
    return *this;
  }
  SliceBuilder& Of(int64_t slices, int64_t generation = 1) {
    slice.spec.pool.resource_slice_count = slices;
    slice.spec.pool.generation = generation;
    return *this;
  }
  SliceBuilder& Node(std::string node) {
    slice.spec.node_name = std::move(node);
    return *this;
  }
  SliceBuilder& AllNodes() {
    slice.spec.node_name.reset();
    slice.spec.all_nodes = true;
    return *this;
  }
  SliceBuilder& Label(std::string key, std::string value, std::string operator_ = "In") {
    slice.spec.node_name.reset();
    slice.spec.node_selector =
        api::NodeSelector{{{{{std::move(key), std::move(operator_), {std::move(value)}}}, {}}}};
    return *this;
  }
  SliceBuilder& EachDevice() {
    slice.spec.node_name.reset();
    slice.spec.per_device_node_selection = true;
    return *this;
  }
  SliceBuilder& Counter(std::string set, std::string counter, std::string_view amount) {
    auto& sets = slice.spec.shared_counters;
    const auto is_it = [&set](const api::CounterSet& other) { return other.name == set; };
    if (std::none_of(sets.begin(), sets.end(), is_it)) sets.push_back({set, {}});
    std::find_if(sets.begin(), sets.end(), is_it)
        ->counters.emplace_back(std::move(counter), api::Counter{Amount(amount)});
    return *this;
  }
};

struct RequestBuilder {
  api::DeviceRequest request;

  // An exact request for so many devices.
  RequestBuilder(std::string name, std::string device_class, int64_t count = 1) {
    request.name = std::move(name);
    request.exactly.emplace();
    request.exactly->device_class_name = std::move(device_class);
    request.exactly->allocation_mode = api::kExactCount;
    request.exactly->count = count;
  }
  RequestBuilder& All() {
    request.exactly->allocation_mode = api::kAllDevices;
    request.exactly->count = 0;
    return *this;
  }
  RequestBuilder& Selector(std::string expression) {
    request.exactly->selectors.push_back({api::CELDeviceSelector{std::move(expression)}});
    return *this;
  }
  RequestBuilder& Admin(bool admin = true) {
    request.exactly->admin_access = admin;
    return *this;
  }
  RequestBuilder& Tolerates(std::string key, std::string effect = "") {
    request.exactly->tolerations.push_back(
        {std::move(key), "Exists", "", std::move(effect), std::nullopt});
    return *this;
  }
  RequestBuilder& Capacity(std::string name, std::string_view amount) {
    if (!request.exactly->capacity) request.exactly->capacity.emplace();
    request.exactly->capacity->requests.emplace_back(std::move(name), Amount(amount));
    return *this;
  }
  RequestBuilder& Derives(std::string name, std::string expression) {
    request.exactly->derived_attributes.push_back({std::move(name), std::move(expression)});
    return *this;
  }
};

// A request for the first of these that can be had; each is given as an exact request.
inline api::DeviceRequest FirstOf(std::string name, std::vector<RequestBuilder> choices) {
  api::DeviceRequest request;
  request.name = std::move(name);
  for (const RequestBuilder& choice : choices) {
    const api::ExactDeviceRequest& exact = *choice.request.exactly;
    request.first_available.push_back({.name = choice.request.name,
                                       .device_class_name = exact.device_class_name,
                                       .selectors = exact.selectors,
                                       .allocation_mode = exact.allocation_mode,
                                       .count = exact.count,
                                       .tolerations = exact.tolerations,
                                       .capacity = exact.capacity,
                                       .derived_attributes = exact.derived_attributes});
  }
  return request;
}

struct ClaimBuilder {
  api::ResourceClaim claim;

  explicit ClaimBuilder(std::string name) {
    claim.metadata.name = std::move(name);
    claim.metadata.namespace_ = "ns";
  }
  ClaimBuilder& Request(const RequestBuilder& builder) {
    claim.spec.devices.requests.push_back(builder.request);
    return *this;
  }
  ClaimBuilder& Request(api::DeviceRequest request) {
    claim.spec.devices.requests.push_back(std::move(request));
    return *this;
  }
  ClaimBuilder& Match(std::string attribute, std::vector<std::string> requests = {}) {
    claim.spec.devices.constraints.push_back(
        {std::move(requests), std::move(attribute), std::nullopt});
    return *this;
  }
  ClaimBuilder& Distinct(std::string attribute, std::vector<std::string> requests = {}) {
    claim.spec.devices.constraints.push_back(
        {std::move(requests), std::nullopt, std::move(attribute)});
    return *this;
  }
  ClaimBuilder& Config(std::string parameters, std::vector<std::string> requests = {}) {
    claim.spec.devices.config.push_back(
        {std::move(requests), api::OpaqueDeviceConfiguration{"driver-a", {std::move(parameters)}}});
    return *this;
  }
};

inline api::DeviceClass MakeClass(std::string name, std::vector<std::string> selectors,
                                  std::vector<std::string> config = {}) {
  api::DeviceClass device_class;
  device_class.metadata.name = std::move(name);
  for (std::string& selector : selectors)
    device_class.spec.selectors.push_back({api::CELDeviceSelector{std::move(selector)}});
  for (std::string& parameters : config) {
    device_class.spec.config.push_back(
        {api::OpaqueDeviceConfiguration{"driver-a", {std::move(parameters)}}});
  }
  return device_class;
}

// Stands in for CEL. "driver:<name>", "<attribute>=<value>" of string attributes, "true", "false";
// "compile!" and "runtime!" fail; "runtime!<device>" fails for that device and is true for others.
// Derived: "attribute:<name>" is that attribute of the device.
class FakeExpressions final : public DeviceExpressions {
 public:
  SelectorAnswer Matches(std::string_view expression, const DeviceOfDriver& of) override {
    ++num_asked;
    using Kind = SelectorAnswer::Kind;
    const auto yes_if = [this](bool yes) {
      return SelectorAnswer{.kind = yes ? Kind::kYes : Kind::kNo, .cost = cost};
    };
    if (expression == "compile!") return {.kind = Kind::kCompileError, .error = "no such word"};
    if (expression.starts_with("runtime!")) {
      const std::string_view device = expression.substr(8);
      if (!device.empty() && device != of.device.name) return yes_if(true);
      return {.kind = Kind::kRuntimeError, .error = "no such key"};
    }
    if (expression == "true" || expression == "false") return yes_if(expression == "true");
    if (expression.starts_with("driver:")) return yes_if(expression.substr(7) == of.driver);
    const size_t equals = expression.find('=');
    const api::DeviceAttribute* attribute = Find(of, expression.substr(0, equals));
    return yes_if(attribute != nullptr && attribute->string == expression.substr(equals + 1));
  }

  DerivedAttribute Derive(std::string_view expression, const DeviceOfDriver& of) override {
    ++num_asked;
    using Kind = DerivedAttribute::Kind;
    if (expression == "compile!") return {.kind = Kind::kCompileError, .error = "no such word"};
    if (expression == "runtime!") return {.kind = Kind::kRuntimeError, .error = "no such key"};
    DerivedAttribute derived{.cost = cost};
    if (const auto* attribute = Find(of, expression.substr(10))) derived.value = *attribute;
    return derived;
  }

  int num_asked = 0;
  uint64_t cost = 0;

 private:
  static const api::DeviceAttribute* Find(const DeviceOfDriver& of, std::string_view name) {
    for (const auto& [key, value] : of.device.attributes)
      if (key == name) return &value;
    return nullptr;
  }
};

}  // namespace berth::plugins::dra
