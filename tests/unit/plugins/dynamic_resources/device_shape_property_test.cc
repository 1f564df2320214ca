// SPDX-License-Identifier: Apache-2.0
// Answers that are kept by shape are those that evaluations give.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "plugins/dynamic_resources/device_selector.h"

namespace berth::plugins::dra {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

// Of each way to name what is read, and to read all. Many fail on some devices.
const std::vector<std::string>& Selectors() {
  static const std::vector<std::string> selectors = {
      "true",
      "device.driver == 'a.io'",
      "device.driver == 'a.io' && device.allowMultipleAllocations",
      "device.attributes['a.io'].model == 'x'",
      "device.attributes['b.io'].model == 'x'",
      "device.attributes[device.driver].model == 'x'",
      "has(device.attributes['a.io'].model)",
      "has(device.attributes['a.io'])",
      "'a.io' in device.attributes",
      "device.attributes['a.io'].?size.orValue(1) == 1",
      "device.attributes[?'b.io'].?size.orValue(1) == 1",
      "device.attributes['a.io'].size > 1 || device.attributes['b.io'].model == 'y'",
      "device.attributes['a.io'].release.isGreaterThan(semver('1.1.0'))",
      "device.attributes['a.io'].release.major() == 1",
      "device.attributes.exists(d, d == 'b.io')",
      "size(device.attributes['a.io']) > 1",
      "device.attributes == {}",
      "cel.bind(d, device.attributes['a.io'], d.model == 'x' && d.size == 1)",
      "(device.driver == 'a.io' ? device.attributes : device.attributes)['a.io'].size == 1",
      "device.capacity['a.io'].memory.compareTo(quantity('2')) >= 0",
      "device.capacity['b.io'].memory.isLessThan(quantity('2'))",
      "string(device.capacity['a.io'].memory.asInteger()) == '2'",
      "size(device.capacity) == 1",
      "device.attributes['a.io'].sizes.exists(s, s == 2)",
      "device.attributes['a.io'].model",
      "dyn(device) == dyn(device)",
      "device.nothing == 1",
  };
  return selectors;
}

class Devices {
 public:
  explicit Devices(uint32_t seed) : random_(seed) {}

  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  const char* Driver() { return Draw(3) == 0 ? "b.io" : "a.io"; }

  api::Device Make() {
    api::Device device;
    device.name = "d" + std::to_string(Draw(1000));
    if (Draw(2) == 0) device.allow_multiple_allocations = Draw(2) == 0;
    // The same name with and without its domain are one attribute, the last of which counts.
    for (const char* name : {"model", "a.io/model", "b.io/model"}) {
      if (Draw(3) == 0) Add(name, device).string = Draw(2) == 0 ? "x" : "y";
    }
    for (const char* name : {"size", "b.io/size"}) {
      if (Draw(3) == 0) Add(name, device).int_ = 1 + Draw(2);
    }
    if (Draw(4) == 0) Add("sizes", device).ints = {1, 1 + Draw(2)};
    if (Draw(4) == 0) Add("release", device).version = Draw(2) == 0 ? "1.1.0" : "1.2.0";
    if (Draw(12) == 0) Add("other.io/release", device).version = "none";
    if (Draw(24) == 0) Add("empty", device);
    // Nothing names it: devices that differ in it alone are of one shape.
    if (Draw(2) == 0) Add("uuid", device).string = std::to_string(Draw(1'000'000));
    for (const char* name : {"memory", "a.io/memory", "b.io/memory"}) {
      if (Draw(3) != 0) continue;
      const auto format =
          Draw(2) == 0 ? api::Quantity::Format::kBinarySI : api::Quantity::Format::kDecimalSI;
      device.capacity.emplace_back(
          name, api::DeviceCapacity{api::Quantity::FromUnits(1 + Draw(2), format), {}});
    }
    return device;
  }

 private:
  static api::DeviceAttribute& Add(const char* name, api::Device& device) {
    return device.attributes.emplace_back(name, api::DeviceAttribute{}).second;
  }

  std::mt19937 random_;
};

TEST(DeviceShapePropertyTest, AnswersAreThoseOfEvaluations) {
  DeviceSelectors twin(DeviceSelectors::kMostExpressions, kMaxBytes, 0);
  DeviceSelectors kept;
  // Forgets again and again: expressions, and answers of an expression.
  DeviceSelectors forgetful(5, kMaxBytes, 3);
  uint64_t asked = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Devices devices(seed);
    for (int step = 0; step < 200; ++step) {
      const api::Device device = devices.Make();
      const DeviceOfDriver asked_about{devices.Driver(), device, devices.Draw(4) != 0};
      const std::string& selector =
          Selectors()[devices.Draw(static_cast<uint32_t>(Selectors().size()))];
      SCOPED_TRACE(selector);
      const SelectorAnswer want = twin.Matches(selector, asked_about);
      for (DeviceSelectors* selectors : {&kept, &forgetful}) {
        const SelectorAnswer answer = selectors->Matches(selector, asked_about);
        ASSERT_EQ(answer.kind, want.kind);
        ASSERT_EQ(answer.error, want.error);
        ASSERT_EQ(answer.cost, want.cost);
      }
      ++asked;
    }
  }
  EXPECT_LT(kept.num_evaluations(), asked / 4 * 3);
  EXPECT_LT(kept.num_evaluations(), forgetful.num_evaluations());
}

TEST(DeviceSelectorsTest, ASelectorIsEvaluatedOnceForDevicesThatItCannotTellApart) {
  DeviceSelectors selectors;
  const auto ask = [&](const std::string& selector, const char* model, const std::string& uuid) {
    api::Device device;
    device.attributes.emplace_back("model", api::DeviceAttribute{}).second.string = model;
    device.attributes.emplace_back("uuid", api::DeviceAttribute{}).second.string = uuid;
    return selectors.Matches(selector, {"a.io", device}).kind;
  };
  const std::string by_model = "device.attributes['a.io'].model == 'x'";
  const std::string by_all = "size(device.attributes['a.io'].map(k, k)) == 2";
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(ask(by_model, i % 2 == 0 ? "x" : "y", std::to_string(i)),
              i % 2 == 0 ? SelectorAnswer::Kind::kYes : SelectorAnswer::Kind::kNo);
  }
  EXPECT_EQ(selectors.num_evaluations(), 2u);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(ask(by_all, "x", std::to_string(i)), SelectorAnswer::Kind::kYes);
  }
  EXPECT_EQ(selectors.num_evaluations(), 12u);
  const size_t before = selectors.kept_bytes();
  EXPECT_EQ(ask(by_all, "x", "0"), SelectorAnswer::Kind::kYes);
  EXPECT_EQ(selectors.kept_bytes(), before);
}

TEST(DeviceSelectorsTest, AnswersByShapeAreBounded) {
  constexpr size_t kMost = 8;
  DeviceSelectors selectors(DeviceSelectors::kMostExpressions, kMaxBytes, kMost);
  size_t most_bytes = 0;
  for (int i = 0; i < 100; ++i) {
    api::Device device;
    device.attributes.emplace_back("uuid", api::DeviceAttribute{}).second.int_ = i;
    EXPECT_EQ(selectors.Matches("device.attributes['a.io'].uuid > 9", {"a.io", device}).kind,
              i > 9 ? SelectorAnswer::Kind::kYes : SelectorAnswer::Kind::kNo);
    if (i == static_cast<int>(kMost)) most_bytes = selectors.kept_bytes() + 1000;
    if (i > static_cast<int>(kMost)) EXPECT_LT(selectors.kept_bytes(), 2 * most_bytes);
  }
}

}  // namespace
}  // namespace berth::plugins::dra
