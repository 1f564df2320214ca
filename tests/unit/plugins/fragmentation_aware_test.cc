// SPDX-License-Identifier: Apache-2.0
#include "plugins/fragmentation_aware/fragmentation_aware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/random.h"
#include "plugins/fixed_node_order/fixed_node_order.h"
#include "plugins/fragmentation_aware/expected_use.h"
#include "tests/support/device_builders.h"
#include "tests/unit/plugins/plugin_fixture.h"

namespace berth::plugins {
namespace {

using namespace berth::test;
using testing::HasSubstr;

constexpr const char* kGpus = "deviceclass.resource.kubernetes.io/gpus";

constexpr int64_t Part(double of_a_device) { return static_cast<int64_t>(of_a_device * 1e6); }

// Devices of class 0 with so much left, and so many milli-cores.
NodeLeft Left(int64_t milli_cpu, std::vector<double> devices) {
  NodeLeft left;
  left.amounts = {milli_cpu};
  for (const double device : devices) left.devices.push_back({1, Part(device)});
  return left;
}

Demand Asks(int64_t milli_cpu, int64_t count = 0, double share = 1) {
  Demand demand{{milli_cpu}, {}};
  if (count > 0) demand.devices.push_back({0, count, Part(share)});
  return demand;
}

const CountedResource kOfDevices{true, 0, 1e-6};
const CountedResource kOfCores{false, 0, 1e-3};

TEST(FragmentationTest, OfDevicesIsWhatIsLeftOfThoseWithTooLittle) {
  const Fragmentation mix({{1, Asks(0, 1, 0.5)}, {1, Asks(0, 1)}}, {kOfDevices}, 1);
  // 0.4 is too little for both.
  EXPECT_DOUBLE_EQ(mix.Of(Left(0, {1, 0.4})), 0.4);
  // The half device fits on 0.6 and not on 0.4; the whole one fits nowhere.
  EXPECT_DOUBLE_EQ(mix.Of(Left(0, {0.6, 0.4})), 0.5 * 0.4 + 0.5 * 1.0);
  EXPECT_DOUBLE_EQ(mix.Of(Left(0, {1, 0})), 0);
  EXPECT_DOUBLE_EQ(mix.Of(Left(0, {})), 0);
}

TEST(FragmentationTest, AShapeThatLacksAnythingElseCanUseNothing) {
  const Fragmentation mix({{3, Asks(4000, 1)}, {1, Asks(1000)}}, {kOfDevices}, 1);
  // To the second, which asks for no device, all devices are of no use.
  EXPECT_DOUBLE_EQ(mix.Of(Left(4000, {1, 1})), 0.25 * 2);
  EXPECT_DOUBLE_EQ(mix.Of(Left(3999, {1, 1})), 2);
  const Fragmentation pairs({{1, Asks(0, 2)}}, {kOfDevices}, 1);
  EXPECT_DOUBLE_EQ(pairs.Of(Left(0, {1, 0.9})), 1.9);
  EXPECT_DOUBLE_EQ(pairs.Of(Left(0, {1, 0.9, 1})), 0.9);
}

TEST(FragmentationTest, OfAnAmountIsAllWhereTheShapeDoesNotFit) {
  const Fragmentation mix({{1, Asks(4000)}, {1, Asks(1000)}}, {kOfCores}, 1);
  EXPECT_DOUBLE_EQ(mix.Of(Left(4000, {})), 0);
  EXPECT_DOUBLE_EQ(mix.Of(Left(3000, {})), 0.5 * 3);
  EXPECT_DOUBLE_EQ(mix.Of(Left(500, {})), 0.5);
}

TEST(FragmentationTest, NodesThatAShapeCannotHaveAreOfNoUseToIt) {
  Shape picky{1, Asks(1000), 5};
  const Fragmentation mix({picky}, {kOfCores}, 1);
  NodeLeft left = Left(2000, {});
  EXPECT_DOUBLE_EQ(mix.Of(left), 2);
  left.admits.set(5);
  EXPECT_DOUBLE_EQ(mix.Of(left), 0);
}

// 100 / (1 + e^-gain), rounded down.
TEST(FragmentationTest, ScoresByTheGain) {
  const Fragmentation mix({{1, Asks(0, 1, 0.5)}, {1, Asks(0, 1)}}, {kOfDevices}, 1);
  // The first device with enough is given away: 0.4 - 0.7.
  EXPECT_EQ(mix.Score(Asks(0, 1, 0.4), Left(0, {1, 0.4})), 42);
  EXPECT_EQ(mix.Score(Asks(0, 1, 0.4), Left(0, {0.4, 1})), 59);
  const Fragmentation cores({{1, Asks(4000)}}, {kOfCores}, 1);
  EXPECT_EQ(cores.Score(Asks(2000), Left(6000, {})), 50);
  EXPECT_EQ(cores.Score(Asks(3000), Left(6000, {})), 4);
  EXPECT_EQ(cores.Score(Asks(2000), Left(2000, {})), 88);
  EXPECT_EQ(cores.Score(Asks(100'000), Left(100'000, {})), 50);
  const Fragmentation heavy({{1, Asks(4000)}}, {{false, 0, 2e-3}}, 2);
  EXPECT_EQ(heavy.Score(Asks(3000), Left(6000, {})), 4);
}

TEST(FragmentationTest, PodsOfSeveralDevicesTakeTheFirstWholeOnes) {
  NodeLeft left = Left(8000, {0.5, 1, 1, 1});
  Place(Asks(3000, 2), left);
  EXPECT_EQ(left, Left(5000, {0.5, 0, 0, 1}));
  Place(Asks(1000, 1, 0.3), left);
  EXPECT_EQ(left, Left(4000, {0.2, 0, 0, 1}));
}

ExpectedUse UseBy(std::vector<Shape> mix) { return ExpectedUse(mix, {{kOfDevices}}, 1, 1); }

TEST(ExpectedUseTest, ADeviceTakesPodsUntilNoMoreCome) {
  const ExpectedUse mix = UseBy({{1, Asks(0, 1, 0.5)}, {1, Asks(0, 1)}});
  // Of a half device only the halves can be had; a part of the mix, as 0.03, is that none comes.
  const double half = 0.5 * 0.5 / 0.53;
  EXPECT_DOUBLE_EQ(mix.Of(Left(0, {0.5})), half);
  EXPECT_DOUBLE_EQ(mix.Of(Left(0, {0.999})), half);
  EXPECT_DOUBLE_EQ(mix.Of(Left(0, {1})), (0.5 * (0.5 + half) + 0.5 * 1) / 1.03);
  EXPECT_DOUBLE_EQ(mix.Of(Left(0, {0.4})), 0);
  EXPECT_DOUBLE_EQ(mix.Of(Left(0, {0.5, 0.5, 0})), 2 * half);
}

TEST(ExpectedUseTest, PodsCountByTheirDevicesAndSharesAreRoundedUp) {
  const ExpectedUse mix = UseBy({{1, Asks(0, 2)}, {1, Asks(0, 1, 0.4995)}, {9, Asks(1000)}});
  EXPECT_DOUBLE_EQ(mix.Of(Left(8000, {0.5})), 0.5 / 3 / (0.03 + 1.0 / 3));
  EXPECT_DOUBLE_EQ(mix.Of(Left(8000, {0.4999})), 0);
}

TEST(ExpectedUseTest, WithTooLittleElseAPartIsUsed) {
  const ExpectedUse mix = UseBy({{1, Asks(4000, 1)}});
  EXPECT_DOUBLE_EQ(mix.Of(Left(8000, {1, 1})), 2 / 1.03);
  EXPECT_DOUBLE_EQ(mix.Of(Left(4000, {1, 1})), 1);
  EXPECT_DOUBLE_EQ(mix.Of(Left(2000, {1})), 0.5);
  EXPECT_DOUBLE_EQ(mix.Of(Left(0, {1})), 0);
  EXPECT_DOUBLE_EQ(mix.Of(Left(4000, {})), 0);
  // A pod of two devices asks for half as much beside each.
  EXPECT_DOUBLE_EQ(UseBy({{1, Asks(4000, 2)}}).Of(Left(2000, {1, 1})), 1);
}

// 50 + 50 * gain / (1 + |gain|).
TEST(ExpectedUseTest, ScoresByTheGain) {
  const ExpectedUse mix = UseBy({{1, Asks(0, 1, 0.5)}, {1, Asks(0, 1)}});
  // 0.957 are expected of a device, and 0.472 of 0.6: 0.4 + 0.472 - 0.957.
  EXPECT_EQ(mix.Score(Asks(0, 1, 0.4), Left(0, {1})), 46);
  EXPECT_EQ(mix.Score(Asks(0, 1, 0.4), Left(0, {0.4, 1})), 64);  // nothing was expected of 0.4
  EXPECT_EQ(mix.Score(Asks(0, 1), Left(0, {1, 1})), 52);
  const ExpectedUse with_cores = UseBy({{1, Asks(4000, 1)}});
  EXPECT_EQ(with_cores.Score(Asks(2000), Left(10'000, {1, 1})), 50);
  EXPECT_EQ(with_cores.Score(Asks(8000), Left(8000, {1, 1})), 17);  // 1.94 devices are lost
  EXPECT_EQ(with_cores.Score(Asks(8000), Left(8000, {})), 50);
  const ExpectedUse none = UseBy({{1, Asks(1000)}});
  EXPECT_EQ(none.Score(Asks(8000), Left(8000, {1})), 50);
  // Twice as much of everything is the same.
  const CountedResource heavy{true, 0, 2e-6};
  const std::vector<Shape> shapes{{1, Asks(4000, 1)}};
  EXPECT_EQ(ExpectedUse(shapes, {{heavy}}, 2, 1).Score(Asks(8000), Left(8000, {1, 1})), 17);
}

// What the header says, shape by shape.
double PlainUse(const std::vector<Shape>& shapes, int64_t free, bool of_cores) {
  double weight = 0;
  double all = 0;
  double sum = 0;
  for (const Shape& shape : shapes) {
    for (const DeviceDemand& devices : shape.demand.devices) {
      const double own = shape.weight * static_cast<double>(devices.count);
      all += own;
      if (devices.share > free) continue;
      weight += own;
      const double takes = of_cores ? static_cast<double>(shape.demand.amounts[0]) /
                                          static_cast<double>(devices.count)
                                    : static_cast<double>(devices.share) / 1e6;
      sum += own * (takes + PlainUse(shapes, free - devices.share, of_cores));
    }
  }
  return weight == 0 ? 0 : sum / (weight + ExpectedUse::kNoMore * all);
}

TEST(ExpectedUseTest, IsThatOfThePlainFormula) {
  Random random(11);
  const auto below = [&random](uint64_t bound) {
    return static_cast<int64_t>(random.Below(bound));
  };
  for (int round = 0; round < 100; ++round) {
    std::vector<Shape> shapes;
    for (int64_t i = 1 + below(5); i > 0; --i) {
      Shape& shape = shapes.emplace_back();
      shape.weight = static_cast<double>(1 + below(9));
      shape.demand = Asks(500 * below(20));
      const int64_t count = below(4);
      if (count > 0) shape.demand.devices.push_back({0, count, Part(0.02) * (8 + below(43))});
    }
    NodeLeft left = Left(500 * below(30), {});
    double use = 0;
    double cores = 0;
    for (int64_t i = below(5); i > 0; --i) {
      left.devices.push_back({1, Part(0.01) * below(101)});
      use += PlainUse(shapes, left.devices.back().free, false);
      cores += PlainUse(shapes, left.devices.back().free, true);
    }
    const auto there = static_cast<double>(left.amounts[0]);
    if (there < cores) use *= there / cores;
    ASSERT_NEAR(UseBy(shapes).Of(left), use, 1e-9) << "round " << round;
  }
}

ConfigValue Resources(std::vector<std::string> names) {
  ConfigValue::List list;
  for (const std::string& name : names) list.push_back(Args({{"name", Item(name.c_str())}}));
  return ConfigValue(std::move(list));
}

std::string ProblemsOf(const ConfigValue& args) {
  const auto parsed = kFragmentationAwareArgs.parse(args);
  return parsed ? "" : parsed.error().message;
}

ConfigValue WithShape(ConfigValue::Map shape) {
  return Args({{"mix", Items({ConfigValue(std::move(shape))})}});
}

TEST(FragmentationAwareArgsTest, ReadsAMix) {
  const ConfigValue devices = Items(
      {Args({{"deviceClassName", Item("gpus")}, {"count", Item(2)}, {"share", Item("460m")}})});
  const ConfigValue nodes = Items({Args({{"key", Item("model")},
                                         {"operator", Item("In")},
                                         {"values", Items({Item("a"), Item("b")})}})});
  const auto args = kFragmentationAwareArgs.parse(
      Args({{"resources", Resources({kGpus, "cpu"})},
            {"mix",
             Items({Args({{"weight", Item(7)},
                          {"requests", Args({{"cpu", Item("1500m")}, {"example.com/x", Item(3)}})},
                          {"devices", devices},
                          {"matchExpressions", nodes}})})}}));
  ASSERT_TRUE(args.has_value()) << args.error().message;
  ASSERT_EQ(args->mix.size(), 1u);
  const ShapeSpec& shape = args->mix[0];
  EXPECT_EQ(shape.weight, 7);
  EXPECT_EQ(shape.requests[0].second.MilliValue(), 1500);
  EXPECT_EQ(shape.requests[1].second.Value(), 3);
  EXPECT_EQ(shape.devices[0].count, 2);
  EXPECT_EQ(shape.devices[0].share.MilliValue(), 460);
  EXPECT_EQ(shape.match_expressions[0].values, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(DeviceClassesOf(*args), (std::vector<std::string>{"gpus"}));
}

TEST(FragmentationAwareArgsTest, ExpectedUseIsOfDevices) {
  const auto with = [](const char* measure, std::vector<std::string> resources) {
    return Args({{"measure", Item(measure)}, {"resources", Resources(std::move(resources))}});
  };
  const auto args = kFragmentationAwareArgs.parse(with("ExpectedUse", {kGpus}));
  ASSERT_TRUE(args.has_value()) << args.error().message;
  EXPECT_EQ(args->measure, FragmentationMeasure::kExpectedUse);
  EXPECT_EQ(ProblemsOf(with("Fragmentation", {"cpu"})), "");
  EXPECT_THAT(ProblemsOf(with("ExpectedUse", {kGpus, "cpu"})),
              HasSubstr("resources[1].name: Invalid value: \"cpu\""));
  EXPECT_THAT(ProblemsOf(with("Waste", {"cpu"})), HasSubstr("measure: Unsupported value"));
  EXPECT_THAT(ProblemsOf(Args({{"measure", Item("ExpectedUse")}})), HasSubstr("resources[0].name"));
}

TEST(FragmentationAwareArgsTest, NamesWhatIsWrong) {
  EXPECT_EQ(ProblemsOf(ConfigValue()), "");
  EXPECT_THAT(ProblemsOf(Args({{"resources", Resources({"cpu", "cpu"})}})),
              HasSubstr("resources[1].name: Duplicate value: \"cpu\""));
  EXPECT_THAT(ProblemsOf(Args({{"mixture", Item(1)}})), HasSubstr("mixture"));
  EXPECT_THAT(ProblemsOf(WithShape({{"weight", Item(int64_t{0})}})), HasSubstr("mix[0].weight"));
  EXPECT_THAT(ProblemsOf(WithShape({{"requests", Item("cpu")}})), HasSubstr("mix[0].requests"));
  EXPECT_THAT(ProblemsOf(WithShape({{"requests", Args({{"cpu", Item("two")}})}})),
              HasSubstr("mix[0].requests[cpu]"));
  EXPECT_THAT(ProblemsOf(WithShape({{"requests", Args({{"cpu", Item(-1)}})}})),
              HasSubstr("mix[0].requests[cpu]"));
  const auto with_devices = [](ConfigValue::Map devices) {
    return ProblemsOf(WithShape({{"devices", Items({ConfigValue(std::move(devices))})}}));
  };
  EXPECT_THAT(with_devices({{"count", Item(1)}}), HasSubstr("devices[0].deviceClassName"));
  EXPECT_THAT(with_devices({{"deviceClassName", Item("g")}, {"share", Item("1500m")}}),
              HasSubstr("devices[0].share"));
  EXPECT_THAT(with_devices({{"deviceClassName", Item("g")}, {"share", Item(int64_t{0})}}),
              HasSubstr("devices[0].share"));
  EXPECT_THAT(with_devices({{"deviceClassName", Item("g")}, {"count", Item(-1)}}),
              HasSubstr("devices[0].count"));
  EXPECT_THAT(ProblemsOf(WithShape(
                  {{"matchExpressions",
                    Items({Args({{"key", Item("model")}, {"operator", Item("Like")}})})}})),
              HasSubstr("mix[0].matchExpressions"));
  ConfigValue::List many(kMaxShapes + 1, ConfigValue(ConfigValue::Map{}));
  EXPECT_THAT(ProblemsOf(Args({{"mix", ConfigValue(std::move(many))}})), HasSubstr("at most 128"));
}

class FragmentationAwareTest : public testing::Test, public PluginFixture {
 protected:
  FragmentationAwareTest() { handle.plain_listers.Set(MakeDeviceClass("gpus")); }

  // A slice of devices that several claims may have, each with 1000 of "milli".
  void AddSharedDevices(const std::string& node, int devices) {
    api::ResourceSlice slice = MakeNodeSlice(node, devices);
    for (api::Device& device : slice.spec.devices) {
      device.allow_multiple_allocations = true;
      device.capacity.emplace_back("milli",
                                   api::DeviceCapacity{api::Quantity::FromUnits(1000), {}});
    }
    handle.plain_listers.Set(std::move(slice));
  }
  static DeviceClaimBuilder Claim(const std::string& name, int64_t milli) {
    DeviceClaimBuilder claim = MakeDeviceClaim(name).Request("r", "gpus");
    claim->spec.devices.requests[0].exactly->capacity.emplace().requests.emplace_back(
        "milli", api::Quantity::FromUnits(milli));
    return claim;
  }
  // A claim holds so much of the device from now on.
  void Hold(const std::string& name, const std::string& node, int device, int64_t milli) {
    handle.ShowClaim(Claim(name, milli).Obj());
    DeviceClaimBuilder held = Claim(name, milli).Allocated(node, "gpu-" + std::to_string(device));
    auto& result = held->status.allocation->devices.results[0];
    result.share_id = "share-of-" + name;
    result.consumed_capacity.emplace_back("milli", api::Quantity::FromUnits(milli));
    ASSERT_TRUE(
        handle.claims().AddPending(std::move(held).Ptr(), ClaimTracker::Existence::kExists));
  }
  void Release(const std::string& name) {
    handle.claims().RemovePending("default/" + name, ClaimTracker::Sharers::kOne);
  }

  static FragmentationAwareArgs ArgsOf(std::vector<ShapeSpec> mix,
                                       std::vector<std::string> resources) {
    FragmentationAwareArgs args;
    args.mix = std::move(mix);
    args.resources.clear();
    for (const std::string& name : resources) args.resources.push_back({name, 1});
    return args;
  }
  static ShapeSpec Devices(int64_t milli, int64_t weight = 1) {
    ShapeSpec shape;
    shape.weight = weight;
    shape.devices.push_back({"gpus", 1, api::Quantity::FromMilli(milli)});
    return shape;
  }
  static ShapeSpec Cores(int64_t milli) {
    ShapeSpec shape;
    shape.requests.emplace_back("cpu", api::Quantity::FromMilli(milli));
    return shape;
  }
  // Scores that are kept from pod to pod are those that a plain look at each node gives, whatever
  // claims come and go.
  void CompareKeptScores(const FragmentationAwareArgs& args);
};

TEST_F(FragmentationAwareTest, WithoutClassesOfDevicesItDependsOnTheNodeAlone) {
  FragmentationAware plugin(ArgsOf({Cores(4000)}, {"cpu"}), handle);
  EXPECT_TRUE(plugin.DeclaredInputs().declared);
  const api::Node node = MakeNode("n").Allocatable({{"cpu", "8"}});
  EXPECT_EQ(Score(plugin, MakePod().Req({{"cpu", "4"}}), node), 50);
  EXPECT_EQ(Score(plugin, MakePod().Req({{"cpu", "5"}}), node), 4);
  const api::Pod placed = MakePod().Name("placed").OnNode("n").Req({{"cpu", "6"}});
  EXPECT_EQ(Score(plugin, MakePod().Req({{"cpu", "2"}}), node, {placed}), 88);
  FragmentationAware of_devices(ArgsOf({Devices(1000)}, {kGpus}), handle);
  EXPECT_TRUE(of_devices.DeclaredInputs().each_pod);
}

TEST_F(FragmentationAwareTest, CountsSharesOfDevicesThatClaimsHold) {
  AddSharedDevices("n", 2);
  const api::Node node = MakeNode("n").Allocatable({{"cpu", "8"}});
  FragmentationAware plugin(ArgsOf({Devices(500), Devices(1000)}, {kGpus}), handle);
  handle.ShowClaim(Claim("c", 400).Obj());
  const api::Pod pod = MakePod().ResourceClaim("c");
  // Two whole devices: 0 - (0.5 * 0 + 0.5 * 0.6).
  EXPECT_EQ(Score(plugin, pod, node), 42);
  Hold("other", "n", 0, 600);
  // 0.4 is left, and is taken away with it.
  EXPECT_EQ(Score(plugin, pod, node), 59);
  Release("other");
  EXPECT_EQ(Score(plugin, pod, node), 42);
  // A pod without devices leaves all as it is.
  EXPECT_EQ(Score(plugin, MakePod(), node), 50);
}

TEST_F(FragmentationAwareTest, AllocatedClaimsAndWhatCannotBeCountedTakeNothing) {
  AddSharedDevices("n", 2);
  const api::Node node = MakeNode("n");
  FragmentationAware plugin(ArgsOf({Devices(1000)}, {kGpus}), handle);
  const auto score_of = [&](api::ResourceClaim claim) {
    const std::string name = claim.metadata.name;
    handle.ShowClaim(std::move(claim));
    return Score(plugin, MakePod().ResourceClaim(name), node);
  };
  EXPECT_EQ(score_of(Claim("plain", 400).Obj()), 35);  // a gain of -0.6
  DeviceClaimBuilder all = Claim("all", 400);
  all->spec.devices.requests[0].exactly->allocation_mode = "All";
  EXPECT_EQ(score_of(std::move(all).Obj()), 50);
  DeviceClaimBuilder selecting = Claim("selecting", 400);
  selecting->spec.devices.requests[0].exactly->selectors.emplace_back();
  EXPECT_EQ(score_of(std::move(selecting).Obj()), 50);
  DeviceClaimBuilder admin = Claim("admin", 400);
  admin->spec.devices.requests[0].exactly->admin_access = true;
  EXPECT_EQ(score_of(std::move(admin).Obj()), 50);
  DeviceClaimBuilder many = Claim("many", 400);
  many->spec.devices.requests.resize(100'000, many->spec.devices.requests[0]);
  EXPECT_LT(score_of(std::move(many).Obj()), 50);  // and is there at once
  Hold("held", "n", 0, 400);
  EXPECT_EQ(Score(plugin, MakePod().ResourceClaim("held"), node), 50);
  EXPECT_EQ(Score(plugin, MakePod().ResourceClaim("unknown"), node), 50);
}

TEST_F(FragmentationAwareTest, AffinitiesOfTheMixCount) {
  ShapeSpec shape = Cores(1000);
  shape.match_expressions = {{"model", "In", {"a", "b"}}};
  FragmentationAware plugin(ArgsOf({shape}, {"cpu"}), handle);
  const api::Pod pod = MakePod().Req({{"cpu", "2"}});
  const auto node = [](const char* model) {
    return MakeNode("n").Label("model", model).Allocatable({{"cpu", "8"}}).Obj();
  };
  EXPECT_EQ(Score(plugin, pod, node("a")), 50);
  EXPECT_EQ(Score(plugin, pod, node("c")), 88);  // what no expected pod can use
}

TEST_F(FragmentationAwareTest, LearnsFromThePodsThatItSees) {
  LearningFragmentationAware plugin(ArgsOf({}, {"cpu"}), handle);
  EXPECT_TRUE(plugin.DeclaredInputs().each_pod);
  const api::Node node = MakeNode("n").Allocatable({{"cpu", "6"}, {"memory", "64Gi"}});
  const PlainSnapshot snapshot = Cluster({node});
  const api::Pod pod = MakePod().Uid("asked").Req({{"cpu", "3"}});
  EXPECT_EQ(Score(plugin, pod, node), -1) << "Skip: no pod was seen";
  const auto see = [&](const std::string& uid, const char* cpu) {
    state = CycleState();
    EXPECT_TRUE(plugin.PreFilter(state, *Info(MakePod().Uid(uid).Req({{"cpu", cpu}})), snapshot)
                    .status.skip());
  };
  see("a", "4");
  EXPECT_EQ(Score(plugin, pod, node), 4);  // 3 cores are of no use to pods of 4
  see("b", "1");
  EXPECT_EQ(Score(plugin, pod, node), 18);  // to half of them: -1.5
  // However often a pod is tried it counts once.
  for (int i = 0; i < 100; ++i) see("b", "1");
  EXPECT_EQ(Score(plugin, pod, node), 18);
  see("c", "1");
  see("d", "1");
  EXPECT_EQ(Score(plugin, pod, node), 32);  // to a quarter: -0.75
}

TEST(SeenPodsTest, KeepsTheFrequentOnesAndIsBounded) {
  SeenPods seen;
  int made = 0;
  const auto see = [&](int64_t amount) {
    return seen.See(MakePod().Uid("u" + std::to_string(made++)).Ptr(), Demand{{amount}, {}});
  };
  for (int i = 0; i < 96; ++i) see(1);
  for (int i = 0; i < 4; ++i) see(2 + i);
  ASSERT_EQ(seen.Mix().size(), 1u);  // 96 of 100
  EXPECT_EQ(seen.Mix()[0]->demand.amounts[0], 1);
  for (int64_t i = 0; i < 10'000; ++i) see(1000 + i);
  EXPECT_LE(seen.Mix().size(), kMaxShapes);
  EXPECT_LT(seen.kept_bytes(), size_t{4} << 20);
  for (int i = 0; i < 2 * static_cast<int>(SeenPods::kMaxRemembered); ++i) see(1);
  EXPECT_EQ(seen.Mix()[0]->demand.amounts[0], 1);
  EXPECT_LT(seen.kept_bytes(), size_t{4} << 20);
}

TEST(SeenPodsTest, WhatWouldTakeLongOnEveryNodeIsPassedOver) {
  SeenPods seen;
  std::vector<std::string> values;
  for (int i = 0; i < 2'000; ++i) values.push_back("v" + std::to_string(i));
  EXPECT_FALSE(
      seen.See(MakePod().Uid("a").RequireNode({{"l", "In", values}}).Ptr(), Demand{{1}, {}}));
  EXPECT_TRUE(seen.Mix().empty());
  EXPECT_TRUE(seen.See(MakePod().Uid("b").Ptr(), Demand{{1}, {}}));
}

TEST(SeenPodsTest, TheMixIsMadeAgainLessAndLessOften) {
  SeenPods seen;
  std::vector<int> due;
  for (int i = 1; i <= 1024; ++i) {
    if (seen.See(MakePod().Uid("u" + std::to_string(i)).Ptr(), Demand{{1}, {}})) due.push_back(i);
  }
  EXPECT_EQ(due, (std::vector<int>{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024}));
}

TEST(SeenPodsTest, PodsForOtherNodesAreOfAnotherKind) {
  EXPECT_EQ(NodeAffinityKey(MakePod()), "");
  const std::set<std::string> keys = {
      NodeAffinityKey(MakePod().NodeSelector("a", "b")),
      NodeAffinityKey(MakePod().NodeSelector("ab", "")),
      NodeAffinityKey(MakePod().RequireNode({{"a", "In", {"b", "c"}}})),
      NodeAffinityKey(MakePod().RequireNode({{"a", "In", {"bc"}}})),
      NodeAffinityKey(MakePod().RequireNode({{"a", "NotIn", {"bc"}}})),
      NodeAffinityKey(
          MakePod().RequireNode({{"a", "In", {"b"}}}).RequireNode({{"c", "Exists", {}}})),
      NodeAffinityKey(MakePod().RequireNode({{"a", "In", {"b"}}, {"c", "Exists", {}}}))};
  EXPECT_EQ(keys.size(), 7u);
}

void FragmentationAwareTest::CompareKeptScores(const FragmentationAwareArgs& args) {
  Random random(7);
  FragmentationAware plugin(args, handle);
  std::vector<api::Node> nodes;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "n" + std::to_string(i);
    AddSharedDevices(name, static_cast<int>(random.Below(4)));
    nodes.push_back(MakeNode(name)
                        .Label("model", random.Below(2) == 0 ? "a" : "b")
                        .Allocatable({{"cpu", std::to_string(4 + random.Below(12))}}));
  }
  std::vector<NodeRow> rows;
  for (NodeRow row = 0; row < nodes.size(); ++row) rows.push_back(row);
  std::vector<api::Pod> placed;
  std::vector<std::string> held;
  std::set<int64_t> different;
  for (int round = 0; round < 300; ++round) {
    const std::string name = "c" + std::to_string(round);
    if (random.Below(3) == 0 && !held.empty()) {
      const size_t at = random.Below(held.size());
      Release(held[at]);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      const auto node = static_cast<int>(random.Below(nodes.size()));
      Hold("h" + name, "n" + std::to_string(node), static_cast<int>(random.Below(3)),
           static_cast<int64_t>(50 * random.Below(10)));
      held.push_back("h" + name);
    }
    if (random.Below(2) == 0) {
      placed.push_back(MakePod()
                           .Name("p" + name)
                           .OnNode("n" + std::to_string(random.Below(nodes.size())))
                           .Req({{"cpu", std::to_string(100 * random.Below(20)) + "m"}}));
    }
    if (random.Below(20) == 0) AddSharedDevices("n1", static_cast<int>(random.Below(4)));
    handle.ShowClaim(Claim(name, static_cast<int64_t>(100 + 100 * random.Below(10))).Obj());
    const PlainSnapshot snapshot = Cluster(nodes, placed);
    const PodInfoPtr pod = Info(
        MakePod().ResourceClaim(name).Req({{"cpu", std::to_string(random.Below(4)) + "500m"}}));
    CycleState cycle;
    ASSERT_TRUE(plugin.PreScore(cycle, *pod, snapshot, snapshot.nodes()).ok());
    std::vector<int64_t> got(rows.size(), -1);
    plugin.ScoreNodes(cycle, *pod, snapshot, rows, got);
    for (const NodeRow row : rows) {
      const int64_t want = plugin.Score(cycle, *pod, NodeView(snapshot, row)).score;
      ASSERT_EQ(got[row], want) << "round " << round << ", row " << row;
      different.insert(want);
    }
  }
  EXPECT_GT(different.size(), 20u);
}

TEST_F(FragmentationAwareTest, KeptScoresAreThoseOfAPlainLook) {
  ShapeSpec picky = Devices(300, 2);
  picky.match_expressions = {{"model", "In", {"a"}}};
  ShapeSpec with_cores = Devices(460, 3);
  with_cores.requests = {{"cpu", api::Quantity::FromUnits(3)}};
  CompareKeptScores(ArgsOf({Devices(1000, 4), with_cores, picky, Cores(2000)}, {kGpus, "cpu"}));
}

TEST_F(FragmentationAwareTest, KeptScoresByExpectedUseAreThoseOfAPlainLook) {
  ShapeSpec with_cores = Devices(460, 3);
  with_cores.requests = {{"cpu", api::Quantity::FromUnits(3)}};
  FragmentationAwareArgs args = ArgsOf({Devices(1000, 4), with_cores, Devices(300, 2)}, {kGpus});
  args.measure = FragmentationMeasure::kExpectedUse;
  CompareKeptScores(args);
}

TEST_F(FragmentationAwareTest, ExpectedUseIsOfSharesThatClaimsHoldAndLearnsAsWell) {
  AddSharedDevices("n", 1);
  const api::Node node = MakeNode("n").Allocatable({{"cpu", "8"}, {"memory", "64Gi"}});
  handle.ShowClaim(Claim("c", 400).Obj());
  const api::Pod pod = MakePod().Uid("asked").ResourceClaim("c");
  FragmentationAwareArgs args = ArgsOf({Devices(500), Devices(1000)}, {kGpus});
  args.measure = FragmentationMeasure::kExpectedUse;
  FragmentationAware plugin(args, handle);
  EXPECT_EQ(Score(plugin, pod, node), 46);
  Hold("other", "n", 0, 600);
  EXPECT_EQ(Score(plugin, pod, node), 64);
  Release("other");
  args.mix.clear();
  LearningFragmentationAware learning(args, handle);
  EXPECT_EQ(Score(learning, pod, node), -1) << "Skip: no pod was seen";
  state = CycleState();
  const PlainSnapshot snapshot = Cluster({node});
  for (const int64_t milli : {500, 1000}) {
    const std::string name = "seen-" + std::to_string(milli);
    handle.ShowClaim(Claim(name, milli).Obj());
    learning.PreFilter(state, *Info(MakePod().Uid(name).ResourceClaim(name)), snapshot);
  }
  EXPECT_EQ(Score(learning, pod, node), 46);
}

TEST(FixedNodeOrderTest, SpreadsNamesEvenlyAndForGood) {
  PluginFixture fixture;
  std::vector<api::Node> nodes;
  for (int i = 0; i < 1000; ++i) nodes.push_back(MakeNode("node-" + std::to_string(i)));
  const PlainSnapshot snapshot = fixture.Cluster(nodes);
  const FixedNodeOrder order;
  const PodInfoPtr pod = fixture.Info(MakePod());
  std::vector<int> of_place(50);
  for (NodeRow row = 0; row < nodes.size(); ++row) {
    const int64_t score = order.Score(CycleState(), *pod, NodeView(snapshot, row)).score;
    ASSERT_EQ(score % 2, 0);
    ++of_place.at(static_cast<size_t>(score / 2));
  }
  EXPECT_GT(*std::ranges::min_element(of_place), 5);  // 20 in the mean
  EXPECT_LT(*std::ranges::max_element(of_place), 45);
  // On every machine: FNV-1a of "node-0", mixed, modulo 50.
  EXPECT_EQ(order.Score(CycleState(), *pod, NodeView(snapshot, 0)).score, 2 * 8);
}

TEST(FixedNodeOrderTest, AUsedNodeHasOneMore) {
  PluginFixture fixture;
  FixedNodeOrder order;
  const auto score_with = [&](const std::vector<api::Pod>& placed) {
    const PlainSnapshot snapshot = fixture.Cluster({MakeNode("node-0")}, placed);
    std::vector<int64_t> scores(1);
    const std::vector<NodeRow> rows{0};
    order.ScoreNodes(CycleState(), *fixture.Info(MakePod()), snapshot, rows, scores);
    return scores[0];
  };
  const int64_t unused = score_with({});
  const api::Pod agent = MakePod().Name("agent").OnNode("node-0").Owner("DaemonSet", "d", "d");
  const api::Pod fixed = MakePod().Name("static").OnNode("node-0").Owner("Node", "node-0", "n");
  EXPECT_EQ(score_with({agent, fixed}), unused);
  EXPECT_EQ(score_with({agent, MakePod().Name("web").OnNode("node-0")}), unused + 1);
}

}  // namespace
}  // namespace berth::plugins
