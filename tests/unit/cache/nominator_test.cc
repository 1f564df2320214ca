// SPDX-License-Identifier: Apache-2.0
#include "src/cache/nominator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/builders.h"

namespace berth::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PodInfoPtr MakeInfo(std::shared_ptr<const api::Pod> pod) {
  auto info = std::make_shared<PodInfo>();
  info->pod_priority = pod->priority();
  info->pod = std::move(pod);
  return info;
}

// A pod whose UID is "uid-<name>".
test::PodBuilder NamedPod(std::string_view name, int32_t priority = 0) {
  return test::MakePod().Name(name).Uid("uid-" + std::string(name)).Priority(priority);
}

std::vector<std::string> On(const Nominator& nominator, std::string_view node) {
  std::vector<std::string> names;
  for (const PodInfoPtr& pod : nominator.NominatedPodsForNode(node)) {
    names.push_back(pod->pod->metadata.name);
  }
  return names;
}

NominatingInfo Override(std::string node) { return {NominatingMode::kOverride, std::move(node)}; }

TEST(NominatorTest, AddFollowsTheOverrideOrElseTheStatus) {
  const struct {
    const char* name;
    const char* status;
    NominatingInfo info;
    const char* want;
  } cases[] = {
      {"nothing", "", {}, ""},
      {"status", "n1", {}, "n1"},
      {"override", "", Override("n2"), "n2"},
      {"override beats status", "n1", Override("n2"), "n2"},
      {"empty override clears", "n1", Override(""), ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Nominator nominator;
    nominator.AddNominatedPod(MakeInfo(NamedPod("a").NominatedNode("old").Ptr()));
    nominator.AddNominatedPod(MakeInfo(NamedPod("a").NominatedNode(c.status).Ptr()), c.info);
    EXPECT_EQ(nominator.NominatedNode("uid-a"), c.want);
    EXPECT_THAT(On(nominator, "old"), IsEmpty());
    EXPECT_EQ(nominator.size(), *c.want == '\0' ? 0u : 1u);
  }
}

TEST(NominatorTest, APodThatIsGoneOrHasANodeIsNotNominated) {
  Nominator nominator([](const api::Pod& pod) { return pod.metadata.name != "gone"; });
  nominator.AddNominatedPod(MakeInfo(NamedPod("gone").NominatedNode("n1").Ptr()));
  nominator.AddNominatedPod(MakeInfo(NamedPod("here").NominatedNode("n1").Ptr()));
  EXPECT_THAT(On(nominator, "n1"), ElementsAre("here"));
}

TEST(NominatorTest, WhatWasPromisedHereStandsInTheOrderOfThePromises) {
  Nominator nominator;
  nominator.AddNominatedPod(MakeInfo(NamedPod("read").NominatedNode("n1").Ptr()));
  nominator.AddNominatedPod(MakeInfo(NamedPod("first").Ptr()), Override("n1"));
  nominator.AddNominatedPod(MakeInfo(NamedPod("second").Ptr()), Override("n1"));
  nominator.AddNominatedPod(MakeInfo(NamedPod("elsewhere").Ptr()), Override("n2"));
  EXPECT_TRUE(nominator.GoesBefore("uid-first", "uid-second"));
  EXPECT_FALSE(nominator.GoesBefore("uid-second", "uid-first"));
  EXPECT_FALSE(nominator.GoesBefore("uid-first", "uid-elsewhere"));
  EXPECT_FALSE(nominator.GoesBefore("uid-read", "uid-first")) << "another process promised that";
  EXPECT_FALSE(nominator.GoesBefore("uid-first", "uid-unknown"));
  // The status shows the nomination later on; the place stays.
  nominator.UpdateNominatedPod(NamedPod("first"),
                               MakeInfo(NamedPod("first").NominatedNode("n1").Ptr()));
  EXPECT_TRUE(nominator.GoesBefore("uid-first", "uid-second"));
  EXPECT_THAT(On(nominator, "n1"), ElementsAre("read", "first", "second"));
  // Promised another node and back, it is the last.
  nominator.AddNominatedPod(MakeInfo(NamedPod("first").Ptr()), Override("n2"));
  nominator.AddNominatedPod(MakeInfo(NamedPod("first").Ptr()), Override("n1"));
  EXPECT_FALSE(nominator.GoesBefore("uid-first", "uid-second"));
}

TEST(NominatorTest, WhatIsRestoredStandsWhereItStood) {
  Nominator nominator;
  nominator.AddNominatedPod(MakeInfo(NamedPod("read").NominatedNode("n1").Ptr()));
  nominator.AddNominatedPod(MakeInfo(NamedPod("first").Ptr()), Override("n1"));
  nominator.AddNominatedPod(MakeInfo(NamedPod("second").Ptr()), Override("n1"));
  EXPECT_FALSE(nominator.PlaceOf("uid-unknown"));
  for (const char* name : {"read", "first"}) {
    const auto place = nominator.PlaceOf("uid-" + std::string(name));
    ASSERT_TRUE(place);
    nominator.DeleteNominatedPodIfExists(NamedPod(name));
    nominator.Restore(MakeInfo(NamedPod(name).Ptr()), *place);
  }
  EXPECT_THAT(On(nominator, "n1"), ElementsAre("read", "first", "second"));
  EXPECT_TRUE(nominator.GoesBefore("uid-first", "uid-second"));
  EXPECT_FALSE(nominator.GoesBefore("uid-read", "uid-first")) << "another process promised that";
}

TEST(NominatorTest, WhatIsNotPendingAnyMoreIsNotRestored) {
  bool pending = true;
  Nominator nominator([&pending](const api::Pod&) { return pending; });
  nominator.AddNominatedPod(MakeInfo(NamedPod("a").Ptr()), Override("n1"));
  const auto place = nominator.PlaceOf("uid-a");
  ASSERT_TRUE(place);
  pending = false;
  nominator.Restore(MakeInfo(NamedPod("a").Ptr()), *place);
  EXPECT_TRUE(nominator.empty());
}

TEST(NominatorTest, APodLeavesRoomForHigherPrioritiesAndForItsEqualsUnlessItWasFirst) {
  Nominator nominator;
  const auto matter = [&nominator](const PodInfoPtr& pod) { return nominator.Matter(*pod); };
  const PodInfoPtr first = MakeInfo(NamedPod("first", 5).Ptr());
  const PodInfoPtr second = MakeInfo(NamedPod("second", 5).Ptr());
  const PodInfoPtr low = MakeInfo(NamedPod("low", 4).Ptr());
  EXPECT_FALSE(matter(low));
  nominator.AddNominatedPod(first, Override("n1"));
  EXPECT_FALSE(matter(first)) << "its own";
  nominator.AddNominatedPod(second, Override("n1"));
  EXPECT_TRUE(nominator.Counts(*low, *first));
  EXPECT_TRUE(nominator.Counts(*MakeInfo(NamedPod("equal", 5).Ptr()), *first));
  EXPECT_FALSE(nominator.Counts(*MakeInfo(NamedPod("high", 6).Ptr()), *first));
  EXPECT_TRUE(nominator.Counts(*second, *first));
  EXPECT_FALSE(nominator.Counts(*first, *second));
  EXPECT_TRUE(matter(low));
  EXPECT_TRUE(matter(second));
  EXPECT_FALSE(matter(first)) << "it was promised the room before";
}

TEST(NominatorTest, PodsOfANodeStandInTheOrderOfNomination) {
  Nominator nominator;
  for (const char* name : {"c", "a", "b"}) {
    nominator.AddNominatedPod(MakeInfo(NamedPod(name).NominatedNode("n1").Ptr()));
  }
  nominator.DeleteNominatedPodIfExists(NamedPod("a"));
  nominator.AddNominatedPod(MakeInfo(NamedPod("c").NominatedNode("n1").Ptr()));
  EXPECT_THAT(On(nominator, "n1"), ElementsAre("c", "b")) << "an update keeps the place";
}

TEST(NominatorTest, AnUpdateKeepsANominationThatTheStatusNeverShowed) {
  const struct {
    const char* name;
    const char* before;
    const char* after;
    const char* want;
  } cases[] = {
      {"never shown", "", "", "memory"},
      {"added", "", "n1", "n1"},
      {"changed", "n1", "n2", "n2"},
      {"removed", "n1", "", ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Nominator nominator;
    nominator.AddNominatedPod(MakeInfo(NamedPod("a").Ptr()), Override("memory"));
    const PodInfoPtr updated = MakeInfo(NamedPod("a", 5).NominatedNode(c.after).Ptr());
    nominator.UpdateNominatedPod(NamedPod("a").NominatedNode(c.before), updated);
    EXPECT_EQ(nominator.NominatedNode("uid-a"), c.want);
    const auto nominated = nominator.NominatedPodsForNode(c.want);
    EXPECT_THAT(std::vector(nominated.begin(), nominated.end()),
                *c.want == '\0' ? std::vector<PodInfoPtr>() : std::vector{updated});
  }
}

TEST(NominatorTest, TheGenerationMovesWithEveryChangeAndOnlyThen) {
  Nominator nominator;
  nominator.AddNominatedPod(MakeInfo(NamedPod("a").Ptr()));
  nominator.DeleteNominatedPodIfExists(NamedPod("a"));
  EXPECT_EQ(nominator.generation(), 0u);
  nominator.AddNominatedPod(MakeInfo(NamedPod("a").NominatedNode("n1").Ptr()));
  const auto added = nominator.generation();
  EXPECT_GT(added, 0u);
  nominator.DeleteNominatedPodIfExists(NamedPod("a"));
  EXPECT_GT(nominator.generation(), added);
  EXPECT_TRUE(nominator.empty());
}

TEST(NominatorTest, TellsOnceWhichNominationsEnded) {
  Nominator nominator;
  const auto ended = [&nominator] {
    std::vector<std::string> told;
    for (const Nominator::Ended& end : nominator.TakeEnded()) {
      told.push_back(end.pod->pod->metadata.name + " " + end.node);
    }
    return told;
  };
  nominator.AddNominatedPod(MakeInfo(NamedPod("a").NominatedNode("n1").Ptr()));
  nominator.AddNominatedPod(MakeInfo(NamedPod("a").NominatedNode("n1").Ptr()));
  EXPECT_THAT(ended(), ElementsAre());
  nominator.AddNominatedPod(MakeInfo(NamedPod("a").NominatedNode("n2").Ptr()));
  nominator.AddNominatedPod(MakeInfo(NamedPod("b").NominatedNode("n2").Ptr()));
  nominator.DeleteNominatedPodIfExists(NamedPod("b"));
  EXPECT_THAT(ended(), ElementsAre("a n1", "b n2"));
  EXPECT_THAT(ended(), ElementsAre());
  nominator.DeleteNominatedPodIfExists(NamedPod("a"));
  nominator.ForgetEnded("uid-a");
  EXPECT_THAT(ended(), ElementsAre());
}

TEST(NominatorTest, WhatIsSetAsideCountsForNoPodUntilTheNextCall) {
  Nominator nominator;
  const PodInfoPtr asker = MakeInfo(NamedPod("asker").Ptr());
  const PodInfoPtr aside = MakeInfo(NamedPod("aside").NominatedNode("n1").Ptr());
  nominator.AddNominatedPod(aside);
  EXPECT_TRUE(nominator.Counts(*asker, *aside));
  const auto before = nominator.generation();
  nominator.SetAside({aside->pod->metadata.uid, "unknown"});
  EXPECT_FALSE(nominator.Counts(*asker, *aside));
  EXPECT_FALSE(nominator.Matter(*asker));
  EXPECT_GT(nominator.generation(), before);
  const auto during = nominator.generation();
  nominator.SetAside({});
  EXPECT_TRUE(nominator.Counts(*asker, *aside));
  EXPECT_GT(nominator.generation(), during);
}

TEST(NominatorTest, ForEachGoesByNodeName) {
  Nominator nominator;
  nominator.AddNominatedPod(MakeInfo(NamedPod("a").NominatedNode("n2").Ptr()));
  nominator.AddNominatedPod(MakeInfo(NamedPod("b").NominatedNode("n1").Ptr()));
  nominator.AddNominatedPod(MakeInfo(NamedPod("c").NominatedNode("n2").Ptr()));
  std::vector<std::string> seen;
  nominator.ForEach([&](std::string_view node, const PodInfoPtr& pod) {
    seen.push_back(std::string(node) + "/" + pod->pod->metadata.name);
  });
  EXPECT_THAT(seen, ElementsAre("n1/b", "n2/a", "n2/c"));
}

}  // namespace
}  // namespace berth::cache
