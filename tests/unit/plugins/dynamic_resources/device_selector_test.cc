// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/device_selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::plugins::dra {
namespace {

using ::testing::HasSubstr;

constexpr char kDriver[] = "gpu.example.com";

api::Device TestDevice() {
  api::Device device;
  device.name = "gpu-0";
  const auto put = [&](const char* name) -> api::DeviceAttribute& {
    return device.attributes.emplace_back(name, api::DeviceAttribute{}).second;
  };
  put("count").int_ = 8;
  put("model").string = "A100";
  put("other.example.com/shared").bool_ = true;
  put("release").version = "1.10.0";
  put("sizes").ints = {1, 2};
  device.capacity.emplace_back("memory", api::DeviceCapacity{*api::Quantity::Parse("80Gi"), {}});
  return device;
}

std::string Answer(DeviceSelectors& selectors, const std::string& expression) {
  const api::Device device = TestDevice();
  const SelectorAnswer answer = selectors.Matches(expression, {kDriver, device});
  constexpr const char* kKinds[] = {"no", "yes",
                                    "compile error: ", "runtime error: ", "out of budget"};
  return kKinds[static_cast<size_t>(answer.kind)] + answer.error;
}

TEST(DeviceSelectorsTest, SeesTheDevice) {
  DeviceSelectors selectors;
  for (const char* const expression :
       {"device.driver == 'gpu.example.com'",
        "device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].model == "
        "'A100' && device.capacity['gpu.example.com'].memory.compareTo(quantity('1Gi')) >= 0",
        "device.attributes['other.example.com'].shared",
        "device.attributes[device.driver].count > 7",
        "device.attributes[device.driver].release.isGreaterThan(semver('1.9.0'))",
        "device.attributes[device.driver].sizes.exists(s, s == 2)",
        "device.attributes[device.driver].sizes.includes(1)", "!device.allowMultipleAllocations",
        "cel.bind(gpu, device.attributes['gpu.example.com'], gpu.count == 8 && gpu.model == "
        "'A100')",
        // A domain that the device does not have is an empty map, but is not there.
        "has(device.attributes['no.example.com'].x) == false",
        "device.attributes['no.example.com'] == {}", "!('no.example.com' in device.attributes)",
        "device.attributes['no.example.com'].?x.orValue(1) == 1",
        "size(device.attributes) == 2 && size(device.capacity) == 1"})
    EXPECT_EQ(Answer(selectors, expression), "yes") << expression;
  EXPECT_EQ(Answer(selectors, "device.attributes[device.driver].model == 'B'"), "no");
}

TEST(DeviceSelectorsTest, ErrorsAreUpstreams) {
  DeviceSelectors selectors;
  EXPECT_EQ(Answer(selectors, "device.attributes['gpu.example.com'].x == 1"),
            "runtime error: no such key: x. consider using CEL optional chaining (.? followed by "
            "orValue()) or guarding the check with has() for optional fields");
  EXPECT_EQ(Answer(selectors, "device.attributes[device.driver].model"),
            "runtime error: CEL result of type string could not be converted to bool: unsupported "
            "native conversion from string to 'bool'");
  EXPECT_EQ(Answer(selectors, "'x'"),
            "compile error: must evaluate to bool or the unknown type, not string");
  EXPECT_EQ(Answer(selectors, "device.nothing == 1"),
            "compile error: compilation failed: ERROR: <input>:1:7: undefined field 'nothing'\n | "
            "device.nothing == 1\n | ......^");
  EXPECT_EQ(Answer(selectors, "lists.range(10000).map(x, lists.range(10000)) == []"),
            "runtime error: operation cancelled: actual cost limit exceeded");
}

TEST(DeviceSelectorsTest, CountsCosts) {
  DeviceSelectors selectors;
  const api::Device device = TestDevice();
  EXPECT_EQ(selectors.Matches("device.driver == 'gpu.example.com'", {kDriver, device}).cost, 4);
}

TEST(DeviceSelectorsTest, AnAttributeThatIsNoVersionFailsEveryExpression) {
  DeviceSelectors selectors;
  api::Device device = TestDevice();
  device.attributes[3].second.version = "1.2";
  EXPECT_EQ(selectors.Matches("true", {kDriver, device}).error,
            "attribute release: parse semantic version: No Major.Minor.Patch elements found");
}

TEST(DeviceSelectorsTest, DerivesAttributes) {
  DeviceSelectors selectors;
  const api::Device device = TestDevice();
  const auto derive = [&](const char* expression) {
    return selectors.Derive(expression, {kDriver, device});
  };
  EXPECT_EQ(derive("device.attributes[device.driver].count * 2").value->int_, 16);
  EXPECT_EQ(derive("device.driver.split('.')").value->strings,
            (std::vector<std::string>{"gpu", "example", "com"}));
  EXPECT_EQ(derive("semver('v1.2', true)").value->version, "1.2.0");
  EXPECT_THAT(derive("1.5").error, HasSubstr("must evaluate to a primitive scalar"));
  EXPECT_EQ(derive("dyn(1.5)").error, "unsupported CEL return type: float64");
}

TEST(DeviceSelectorsTest, KeepsTheExpressionsUsedLast) {
  DeviceSelectors selectors(2);
  EXPECT_EQ(Answer(selectors, "1 == 1"), "yes");
  EXPECT_EQ(Answer(selectors, "1 == 2"), "no");
  EXPECT_EQ(Answer(selectors, "1 == 1"), "yes");
  EXPECT_EQ(Answer(selectors, "2 == 2"), "yes");
  EXPECT_EQ(selectors.kept(), 2);
  EXPECT_EQ(Answer(selectors, "1 == 2"), "no");
  EXPECT_EQ(Answer(selectors, "1 =="), Answer(selectors, "1 =="));
}

// A selector of `patterns` patterns, each of its own.
std::string Costly(int patterns, const std::string& tag) {
  std::string text = "false";
  for (int i = 0; i < patterns; ++i) {
    text += " || device.driver.matches('[a-f]{300}" + tag + std::to_string(i) + "')";
  }
  return text;
}

TEST(DeviceSelectorsTest, CompilingSpendsTheCyclesBudget) {
  DeviceSelectors selectors;
  CycleBudget whole;
  selectors.SetBudget(&whole);
  EXPECT_EQ(Answer(selectors, Costly(20, "a")), "no");
  const uint64_t steps = whole.steps();
  EXPECT_GT(steps, 20u * 300u);
  EXPECT_GT(whole.bytes(), 20u * 300u);
  EXPECT_EQ(Answer(selectors, Costly(20, "a")), "no");
  EXPECT_EQ(whole.steps(), steps) << "it is compiled";

  CycleBudget less(steps / 2, CycleBudget::kBytes);
  selectors.SetBudget(&less);
  EXPECT_EQ(Answer(selectors, Costly(20, "b")), "out of budget");
  EXPECT_TRUE(less.spent());
  EXPECT_EQ(Answer(selectors, "true"), "out of budget") << "the cycle is over";

  // Another cycle that has no more does not begin it again.
  CycleBudget again(steps / 2, CycleBudget::kBytes);
  selectors.SetBudget(&again);
  const size_t kept = selectors.kept_bytes();
  EXPECT_EQ(Answer(selectors, Costly(20, "b")), "out of budget");
  EXPECT_EQ(selectors.kept_bytes(), kept);
  CycleBudget more;
  selectors.SetBudget(&more);
  EXPECT_EQ(Answer(selectors, Costly(20, "b")), "no");
  selectors.SetBudget(nullptr);
  EXPECT_EQ(Answer(selectors, "true"), "yes");
}

TEST(DeviceSelectorsTest, WhatIsKeptIsBoundedInBytes) {
  constexpr size_t kMost = size_t{4} << 20;
  DeviceSelectors selectors(1000, kMost);
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(Answer(selectors, Costly(5, std::to_string(i) + "x")), "no");
    EXPECT_LE(selectors.kept_bytes(), kMost);
  }
  EXPECT_LT(selectors.kept(), 30u);
  EXPECT_GE(selectors.kept(), 2u);
}

}  // namespace
}  // namespace berth::plugins::dra
