// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_classes.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "src/api/tables_pod.h"
#include "src/base/thread.h"
#include "src/cache/resource_table.h"
#include "tests/support/builders.h"
#include "tests/support/field_changes.h"

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
      {"image volume", pod_part::kImages, [](auto& p) { p.ImageVolume("nginx"); }},
      {"label", pod_part::kLabels, [](auto& p) { p.Label("tier", "front"); }},
      {"label that a term tests",
       pod_part::kLabels | pod_part::kTestedLabels | pod_part::kPodAffinity,
       [](auto& p) { p.Label("tier", "front").PodAffinity("zone", {{"tier", "front"}}); }},
      {"namespace", pod_part::kNamespace, [](auto& p) { p.Namespace("other"); }},
      {"priority", pod_part::kPriority, [](auto& p) { p.Priority(5); }},
      {"preemption policy", pod_part::kPriority, [](auto& p) { p.PreemptionPolicy("Never"); }},
      {"pod affinity", pod_part::kPodAffinity, [](auto& p) { p.PodAffinity("zone", {}); }},
      {"pod anti-affinity", pod_part::kPodAffinity, [](auto& p) { p.PodAntiAffinity("zone", {}); }},
      {"spread", pod_part::kTopologySpread,
       [](auto& p) { p.Spread(2, "rack", "ScheduleAnyway", {}); }},
      {"claim", pod_part::kVolumes, [](auto& p) { p.ClaimVolume("data"); }},
      {"ephemeral volume", pod_part::kVolumes, [](auto& p) { p.EphemeralVolume("scratch"); }},
      {"disk", pod_part::kVolumes,
       [](auto& p) {
         api::Volume volume;
         volume.azure_disk.emplace().disk_name = "data";
         p.Volume(std::move(volume));
       }},
      {"volume that only kubelet reads", 0, [](auto& p) { p.Volume(api::Volume()); }},
      {"resource claim", pod_part::kResourceClaims, [](auto& p) { p.ResourceClaim("gpu"); }},
      {"scheduling group", pod_part::kSchedulingGroup, [](auto& p) { p.SchedulingGroup("g"); }},
      {"limit", pod_part::kRequests | pod_part::kImages | pod_part::kLimits,
       [](auto& p) {
         api::Container limited = test::MakeContainer({});
         limited.resources.limits = test::MakeResources({{"cpu", "1"}});
         p.Container(std::move(limited));
       }},
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

TEST(PodClassesTest, PodsWithAnEphemeralVolumeHaveClaimsOfTheirOwn) {
  PodClasses classes;
  classes.SetParts(pod_part::kVolumes);
  const auto first = Classed(classes, Plain().EphemeralVolume("scratch"));
  EXPECT_EQ(Classed(classes, Plain().EphemeralVolume("scratch"))->pod_class, first->pod_class);
  EXPECT_NE(Classed(classes, Plain().EphemeralVolume("scratch").Name("other"))->pod_class,
            first->pod_class);
  EXPECT_NE(Classed(classes, Plain().EphemeralVolume("scratch").Uid("other"))->pod_class,
            first->pod_class);
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

void TestTerms(PodClasses& classes, const PodBuilder& pod) { classes.TestTermsOf(pod.Ptr()->spec); }

template <typename Object>
void TestSelector(PodClasses& classes, Object object) {
  classes.TestSelectorOf(std::make_shared<const Object>(std::move(object)));
}

TEST(PodClassesTest, ALabelCountsOnlyWhereASelectorTestsIt) {
  const auto label = [](const char* key, const char* value) { return MakePod().Label(key, value); };
  const auto no_others = [](PodClasses&) {};
  // Who else tests labels, two pods, and whether they are alike then.
  const struct {
    const char* name;
    std::function<void(PodClasses&)> others;
    PodBuilder a;
    PodBuilder b;
    bool alike;
  } cases[] = {
      {"no selector", no_others, label("x", "1"), label("x", "2"), true},
      {"another's affinity to another key",
       [](auto& classes) { TestTerms(classes, MakePod().PodAffinity("zone", {{"y", "1"}})); },
       label("x", "1"), label("x", "2"), true},
      {"another's affinity",
       [](auto& classes) { TestTerms(classes, MakePod().PodAffinity("zone", {{"x", "1"}})); },
       label("x", "1"), label("x", "2"), false},
      {"another's preferred affinity",
       [](auto& classes) {
         TestTerms(classes, MakePod().PreferPodAffinity(1, "zone", {{"x", "1"}}));
       },
       label("x", "1"), label("x", "2"), false},
      {"another's anti-affinity tests whether it is there",
       [](auto& classes) { TestTerms(classes, MakePod().PodAntiAffinity("zone", {{"x", "1"}})); },
       label("x", ""), MakePod(), false},
      {"another's spread constraint tests others, not us",
       [](auto& classes) {
         TestTerms(classes, MakePod().Spread(1, "zone", "DoNotSchedule", {{"x", "1"}}));
       },
       label("x", "1"), label("x", "2"), true},
      {"a service",
       [](auto& classes) {
         api::Service service;
         service.spec.selector = {{"x", "1"}};
         TestSelector(classes, std::move(service));
       },
       label("x", "1"), label("x", "2"), false},
      {"a set's expression",
       [](auto& classes) {
         api::StatefulSet set;
         set.spec.selector.emplace().match_expressions = {{"x", "Exists", {}}};
         TestSelector(classes, std::move(set));
       },
       label("x", "1"), label("x", "2"), false},
      {"a replica set without selector",
       [](auto& classes) { TestSelector(classes, api::ReplicaSet()); }, label("x", "1"),
       label("x", "2"), true},
      {"a plugin", [](auto& classes) { classes.TestLabelKeys(std::vector<std::string>{"y", "x"}); },
       label("x", "1"), label("x", "2"), false},
      {"a plugin, another key",
       [](auto& classes) { classes.TestLabelKeys(std::vector<std::string>{"y"}); }, label("x", "1"),
       label("x", "2"), true},
      {"own spread selector", no_others,
       label("x", "1").Spread(1, "zone", "DoNotSchedule", {{"x", "1"}}),
       label("x", "2").Spread(1, "zone", "DoNotSchedule", {{"x", "1"}}), false},
      {"own affinity", no_others, label("x", "1").PreferPodAffinity(1, "zone", {{"x", "1"}}),
       label("x", "2").PreferPodAffinity(1, "zone", {{"x", "1"}}), false},
      {"own anti-affinity to another key", no_others,
       label("x", "1").PodAntiAffinity("zone", {{"y", "1"}}),
       label("x", "2").PodAntiAffinity("zone", {{"y", "1"}}), true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    PodClasses classes;
    classes.SetParts(pod_part::kTestedLabels);
    c.others(classes);
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
  EXPECT_EQ(classes.epoch(), first);
  const auto test = [&](const char* key) {
    TestTerms(classes, MakePod().PodAffinity("zone", {{key, "1"}}));
  };
  test("a");
  EXPECT_EQ(classes.epoch(), first) << "no plugin reads tested labels";
  classes.SetParts(pod_part::kTestedLabels);
  const uint32_t second = classes.epoch();
  EXPECT_GT(second, first);
  test("a");
  EXPECT_EQ(classes.epoch(), second) << "known";
  test("b");
  EXPECT_EQ(classes.epoch(), second + 1);
}

TEST(PodClassesTest, WithTooManyTestedKeysAllLabelsCount) {
  PodClasses classes;
  classes.SetParts(pod_part::kTestedLabels);
  const auto alike = [&] {
    const PodInfoPtr a = Classed(classes, MakePod().Label("free", "1"));
    return a->pod_class == Classed(classes, MakePod().Label("free", "2"))->pod_class;
  };
  const auto test = [&](size_t i) {
    TestTerms(classes, MakePod().PodAffinity("zone", {{"key-" + std::to_string(i), "1"}}));
  };
  for (size_t i = 0; i < TestedLabelKeys::kMax; ++i) test(i);
  EXPECT_TRUE(alike());
  test(TestedLabelKeys::kMax);
  EXPECT_FALSE(alike());
  const uint32_t epoch = classes.epoch();
  test(TestedLabelKeys::kMax + 1);
  EXPECT_EQ(classes.epoch(), epoch);
}

TEST(PodClassesTest, TheClassOfThePodBeforeIsTakenOnlyWhileItStands) {
  PodClasses classes;
  const auto web = [&](int32_t priority) {
    return Classed(classes, MakePod().Namespace("web").Priority(priority))->pod_class;
  };
  classes.SetParts(pod_part::kNamespace);
  const PodClassId by_namespace = web(1);
  EXPECT_EQ(web(2), by_namespace);
  // Other parts count.
  classes.SetParts(pod_part::kPriority);
  const PodClassId by_priority = web(1);
  EXPECT_NE(by_priority, by_namespace);
  EXPECT_NE(web(2), by_priority);
  classes.SetParts(pod_part::kNamespace);
  const PodClassId again = web(1);
  EXPECT_EQ(web(2), again);
  // Another pod came meanwhile.
  EXPECT_NE(Classed(classes, MakePod().Namespace("db"))->pod_class, again);
  EXPECT_EQ(web(1), again);
  // No pod of the class is left, and so the class is not.
  classes.Sweep();
  EXPECT_NE(web(1), again);
  // A label that nothing tested before.
  classes.SetParts(pod_part::kTestedLabels);
  const auto labelled = [&](const char* value) {
    return Classed(classes, MakePod().Label("a", value))->pod_class;
  };
  EXPECT_EQ(labelled("1"), labelled("2"));
  TestTerms(classes, MakePod().PodAffinity("zone", {{"a", "1"}}));
  EXPECT_NE(labelled("1"), labelled("2"));
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

// What makes no other class of a pod, and why. Whoever adds a field to a table decides here, or
// puts it into a part.
constexpr std::pair<std::string_view, std::string_view> kInNoPart[] = {
    {"metadata.resourceVersion", "no plugin reads it"},
    {"metadata.generation", "no plugin reads it"},
    {"metadata.creationTimestamp", "the order of pods, not their verdict"},
    {"metadata.deletionTimestamp", "a pod that is going is not decided"},
    {"metadata.annotations", "no plugin reads them"},
    {"spec.schedulerName", "a class is of one profile"},
    {"spec.priorityClassName", "admission made a priority of it"},
    {"spec.hostNetwork", "kHostPorts and kNodeFeatures say what it leads to"},
    {"spec.hostUsers", "kNodeFeatures says what it leads to"},
    {"spec.ephemeralContainers", "kNodeFeatures says what their mounts lead to"},
    {"spec.volumes[0].emptyDir", "kNodeFeatures says what its medium leads to"},
    {"spec.volumes[0].ephemeral.volumeClaimTemplate", "the claim says it"},
    {"spec.resources.limits", "requests are defaulted from them by the API server"},
    {"spec.resources.claims", "the pod's claims say it"},
    {"status", "what belongs to one pod is asked in its own cycle"},
};

// Of containers, whichever kind. Of restartPolicy only "Always" counts.
constexpr std::string_view kInNoPartOfContainers[] = {
    "name", "ports", "resources.claims", "volumeMounts", "restartPolicy", "restartPolicyRules",
};

TEST(PodClassesTest, EachFieldOfAPodMakesAnotherClassOrIsListedAsOneThatDoesNot) {
  PodClasses classes;
  classes.SetParts(kAllKnown);
  const auto classed = [&](const api::Pod& of) {
    ResourceTable names;
    return classes.Assign(std::move(*PodInfo::Make(std::make_shared<const api::Pod>(of), names)));
  };
  api::Pod pod;
  test::Fill(pod);
  pod.metadata.damage.reset();
  const PodInfoPtr base = classed(pod);
  std::set<std::string> used;
  test::ForEachChange(pod, "", [&](const std::string& path) {
    if (classed(pod)->pod_class != base->pod_class) return;
    for (const auto& [prefix, why] : kInNoPart) {
      if (path.starts_with(prefix)) {
        used.emplace(prefix);
        return;
      }
    }
    for (const std::string_view containers : {"spec.containers[0].", "spec.initContainers[0]."}) {
      if (!path.starts_with(containers)) continue;
      for (const std::string_view field : kInNoPartOfContainers) {
        if (path.substr(containers.size()).starts_with(field)) return;
      }
    }
    ADD_FAILURE() << path << " is read by no part: add it to PodFragments, or to the list above";
  });
  for (const auto& [prefix, why] : kInNoPart) {
    EXPECT_TRUE(used.contains(std::string(prefix))) << prefix << " does make another class";
  }
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
