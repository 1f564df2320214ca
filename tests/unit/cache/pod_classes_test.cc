// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_classes.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "src/base/thread.h"
#include "src/cache/resource_table.h"
#include "tests/support/builders.h"

namespace berth::cache {
namespace {

using test::MakePod;
using test::PodBuilder;

constexpr PodParts kAllKnown = (PodParts{1} << kNumPodParts) - 1;

PodInfoPtr Classed(PodClasses& classes, const PodBuilder& pod) {
  ResourceTable names;
  return classes.Assign(std::move(*PodInfo::Make(pod.Ptr(), names)));
}

PodBuilder Plain() {
  return MakePod()
      .Label("app", "web")
      .Req({{"cpu", "1"}})
      .Spread(1, "zone", "DoNotSchedule", {{"app", "web"}});
}

TEST(PodClassesTest, PodsThatDifferInAPartShareAClassUnlessThePartIsInUse) {
  const struct {
    const char* name;
    PodParts part;
    std::function<void(PodBuilder&)> change;
  } cases[] = {
      {"node name", pod_part::kNodeName, [](auto& p) { p.OnNode("a"); }},
      {"toleration", pod_part::kTolerations, [](auto& p) { p.Tolerate("a", "Exists", "", ""); }},
      {"node selector", pod_part::kNodeAffinity, [](auto& p) { p.NodeSelector("a", "b"); }},
      {"required node affinity", pod_part::kNodeAffinity,
       [](auto& p) { p.RequireNode({test::MakeRequirement("a", "In", {"b"})}); }},
      {"preferred node affinity", pod_part::kNodeAffinity,
       [](auto& p) { p.PreferNode(3, {test::MakeRequirement("a", "In", {"b"})}); }},
      {"overhead", pod_part::kRequests, [](auto& p) { p.Overhead({{"cpu", "1m"}}); }},
      {"pod-level request", pod_part::kRequests, [](auto& p) { p.PodLevelReq({{"cpu", "9"}}); }},
      {"image volume", pod_part::kImages | pod_part::kVolumes,
       [](auto& p) { p.ImageVolume("nginx"); }},
      {"label", pod_part::kLabels, [](auto& p) { p.Label("tier", "front"); }},
      {"namespace", pod_part::kNamespace, [](auto& p) { p.Namespace("other"); }},
      {"priority", pod_part::kPriority, [](auto& p) { p.Priority(5); }},
      {"preemption policy", pod_part::kPriority, [](auto& p) { p.PreemptionPolicy("Never"); }},
      {"pod affinity", pod_part::kPodAffinity, [](auto& p) { p.PodAffinity("zone", {}); }},
      {"pod anti-affinity", pod_part::kPodAffinity, [](auto& p) { p.PodAntiAffinity("zone", {}); }},
      {"spread", pod_part::kTopologySpread,
       [](auto& p) { p.Spread(2, "rack", "ScheduleAnyway", {}); }},
      {"claim", pod_part::kVolumes, [](auto& p) { p.ClaimVolume("data"); }},
      {"gate", pod_part::kSchedulingGates, [](auto& p) { p.Gate("g"); }},
      {"node features", pod_part::kNodeFeatures, [](auto& p) { p.HostNetwork().HostUsers(false); }},
      {"half of what needs a node feature", 0, [](auto& p) { p.HostUsers(false); }},
      {"owner", pod_part::kOwner, [](auto& p) { p.Owner("ReplicaSet", "rs", "1"); }},
      {"name and UID", 0, [](auto& p) { p.Name("other").Uid("other"); }},
      {"annotation", 0, [](auto& p) { p.Annotation("a", "b"); }},
      {"status", 0, [](auto& p) { p.Phase("Pending").NominatedNode("a"); }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    PodBuilder changed = Plain();
    c.change(changed);

    PodClasses all;
    all.SetParts(kAllKnown);
    const auto pod = Classed(all, Plain());
    EXPECT_EQ(Classed(all, Plain())->pod_class, pod->pod_class);
    EXPECT_EQ(Classed(all, changed)->pod_class == pod->pod_class, c.part == 0);

    PodClasses others;
    others.SetParts(kAllKnown & ~c.part);
    EXPECT_EQ(Classed(others, changed)->pod_class, Classed(others, Plain())->pod_class);
  }
}

TEST(PodClassesTest, ContainersAreComparedByWhatEachPartNamesOfThem) {
  PodClasses classes;
  classes.SetParts(pod_part::kRequests | pod_part::kImages | pod_part::kHostPorts);
  const PodBuilder pods[] = {
      MakePod().Req({{"cpu", "1"}}),
      MakePod().Req({{"cpu", "2"}}),
      MakePod().Req({{"memory", "1"}}),
      MakePod().Req({{"cpu", "1"}}).Req({}),
      MakePod().InitReq({{"cpu", "1"}}),
      MakePod().SidecarReq({{"cpu", "1"}}),
      MakePod().Image("nginx"),
      MakePod().Image("redis"),
      MakePod().HostPort(80),
      MakePod().HostPort(81),
      MakePod().HostPort(80, "UDP"),
      MakePod().HostPort(80, "TCP", "10.0.0.1"),
      MakePod().Req({{"cpu", "1000000001n"}}),
  };
  std::vector<PodInfoPtr> kept;
  std::set<PodClassId> ids;
  for (const PodBuilder& pod : pods)
    ids.insert(kept.emplace_back(Classed(classes, pod))->pod_class);
  EXPECT_EQ(ids.size(), std::size(pods));
  // The same amount in other words.
  EXPECT_EQ(Classed(classes, MakePod().Req({{"cpu", "1000m"}}))->pod_class, kept[0]->pod_class);
}

TEST(PodClassesTest, ALabelCountsOnlyWhereASelectorTestsIt) {
  PodClasses classes;
  classes.SetParts(pod_part::kLabels);
  const auto label = [](const char* key, const char* value) { return MakePod().Label(key, value); };
  // Two pods, the selectors' keys, and whether they are alike then.
  const struct {
    const char* name;
    std::optional<std::vector<std::string>> tested;
    PodBuilder a;
    PodBuilder b;
    bool alike;
  } cases[] = {
      {"not told: all labels count", std::nullopt, label("x", "1"), label("x", "2"), false},
      {"no selector", {{}}, label("x", "1"), label("x", "2"), true},
      {"other key", {{"y", "z"}}, label("x", "1"), label("x", "2"), true},
      {"value tested", {{"z", "x"}}, label("x", "1"), label("x", "2"), false},
      {"presence tested", {{"x"}}, label("x", ""), MakePod(), false},
      {"own spread selector",
       {{}},
       label("x", "1").Spread(1, "zone", "DoNotSchedule", {{"x", "1"}}),
       label("x", "2").Spread(1, "zone", "DoNotSchedule", {{"x", "1"}}),
       false},
      {"own affinity",
       {{}},
       label("x", "1").PreferPodAffinity(1, "zone", {{"x", "1"}}),
       label("x", "2").PreferPodAffinity(1, "zone", {{"x", "1"}}),
       false},
      {"own anti-affinity to another key",
       {{}},
       label("x", "1").PodAntiAffinity("zone", {{"y", "1"}}),
       label("x", "2").PodAntiAffinity("zone", {{"y", "1"}}),
       true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    classes.SetTestedLabelKeys(c.tested);
    const PodInfoPtr a = Classed(classes, c.a);
    const PodInfoPtr b = Classed(classes, c.b);
    EXPECT_EQ(a->pod_class == b->pod_class, c.alike);
    EXPECT_EQ(a->class_epoch, classes.epoch());
  }
}

TEST(PodClassesTest, TheEpochGrowsOnlyWhenSomethingChanged) {
  PodClasses classes;
  const uint32_t first = classes.epoch();
  classes.SetParts(0);
  classes.SetTestedLabelKeys(std::nullopt);
  EXPECT_EQ(classes.epoch(), first);
  classes.SetTestedLabelKeys({{"b", "a", "a"}});
  const uint32_t second = classes.epoch();
  EXPECT_GT(second, first);
  classes.SetTestedLabelKeys({{"a", "b"}});
  EXPECT_EQ(classes.epoch(), second);
  classes.SetParts(pod_part::kLabels);
  EXPECT_GT(classes.epoch(), second);
}

TEST(PodClassesTest, WhereSomebodyReadsTheWholePodNoClassIsShared) {
  PodClasses classes;
  classes.SetParts(pod_part::kEverything);
  EXPECT_EQ(Classed(classes, MakePod())->pod_class, kNoPodClass);
  EXPECT_EQ(classes.Find(kNoPodClass), nullptr);
}

TEST(PodClassesTest, FragmentsTellWhichPartsOfTwoClassesAreAlike) {
  PodClasses classes;
  classes.SetParts(pod_part::kRequests | pod_part::kVolumes);
  const PodInfoPtr a = Classed(classes, MakePod().Req({{"cpu", "1"}}).ClaimVolume("data-0"));
  const PodInfoPtr b = Classed(classes, MakePod().Req({{"cpu", "1"}}).ClaimVolume("data-1"));
  ASSERT_NE(a->pod_class, b->pod_class);
  const Fragments& of_a = *classes.Find(a->pod_class);
  const Fragments& of_b = *classes.Find(b->pod_class);
  EXPECT_EQ(of_a[4], of_b[4]);
  EXPECT_NE(of_a[11], of_b[11]);
  EXPECT_NE(of_a[4], 0u);
  EXPECT_EQ(of_a[0], 0u) << "a part not in use";
}

TEST(PodClassesTest, AClassLivesAsLongAsAPodInItAndItsIdIsNeverReused) {
  PodClasses classes;
  classes.SetParts(pod_part::kPriority | pod_part::kNamespace);
  PodInfoPtr a = Classed(classes, MakePod().Priority(1));
  PodInfoPtr b = Classed(classes, MakePod().Priority(2));
  const PodClassId id = a->pod_class;
  classes.Sweep();
  EXPECT_EQ(classes.num_classes(), 2u);
  EXPECT_EQ(classes.num_fragments(), 3u);

  base::NamedThread("binding", [dropped = std::move(a)]() mutable { dropped.reset(); }).Join();
  classes.Sweep();
  EXPECT_EQ(classes.num_classes(), 1u);
  EXPECT_EQ(classes.num_fragments(), 2u);
  EXPECT_EQ(classes.Find(id), nullptr);
  EXPECT_NE(classes.Find(b->pod_class), nullptr);
  EXPECT_NE(Classed(classes, MakePod().Priority(1))->pod_class, id);
}

TEST(PodClassesTest, ClassesOfPodsThatAreGoneDoNotPileUp) {
  PodClasses classes;
  classes.SetParts(pod_part::kNamespace);
  for (int i = 0; i < 20'000; ++i) Classed(classes, MakePod().Namespace(std::to_string(i)));
  EXPECT_LE(classes.num_classes(), 1025u);
  EXPECT_LE(classes.num_fragments(), 1025u);
}

}  // namespace
}  // namespace berth::cache
