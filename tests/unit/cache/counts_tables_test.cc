// SPDX-License-Identifier: Apache-2.0
// What the tables behind the cache's counts keep, forget and look at.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "berth/random.h"
#include "src/cache/affinity_term_table.h"
#include "src/cache/labelled_pods.h"
#include "src/cache/pod_counts_table.h"
#include "src/cache/selector_index.h"
#include "src/cache/topology_table.h"
#include "tests/support/builders.h"
#include "tests/support/plain_resource_names.h"
#include "tests/support/random_cluster.h"

namespace berth::cache {
namespace {

using test::MakeLabels;
using test::MakePod;
using test::PlainResourceNames;

// Rows 0 to 2 are in zones a, b and a.
void ThreeNodes(std::string_view,
                const std::function<void(NodeRow, const api::StringMap&)>& visit) {
  visit(0, MakeLabels({{"zone", "a"}, {"host", "0"}}));
  visit(1, MakeLabels({{"zone", "b"}, {"host", "1"}}));
  visit(2, MakeLabels({{"zone", "a"}, {"host", "2"}}));
}

PodQuery QueryFor(std::string_view app) {
  PodQuery query;
  PodTerm& term = query.all_of.emplace_back();
  term.namespaces = {"default"};
  term.selector = LabelSelectorMatcher::OfLabels(MakeLabels({{"app", app}}));
  return query;
}

TEST(TopologyTableTest, IdsOfDomainsAreDenseAndUsedAgain) {
  TopologyTable table(8, ThreeNodes);
  table.Grow(4);
  const auto zones = table.Get("zone");
  EXPECT_EQ(std::vector<DomainId>(zones->domain_of.begin(), zones->domain_of.end()),
            (std::vector<DomainId>{0, 1, 0, kNoDomain}));
  EXPECT_EQ(zones->num_nodes, (std::vector<uint32_t>{2, 1}));
  table.Update(1, MakeLabels({{"zone", "b"}}), {});
  EXPECT_EQ(zones->num_domains, 1u);
  EXPECT_EQ(zones->Find("b"), kNoDomain);
  table.Update(3, {}, MakeLabels({{"zone", "c"}}));
  EXPECT_EQ(zones->Find("c"), 1u);
  EXPECT_EQ(zones->values, (std::vector<std::string>{"a", "c"}));
  // The only node of a domain takes the id along to its new one.
  table.Update(3, MakeLabels({{"zone", "c"}}), MakeLabels({{"zone", "d"}}));
  EXPECT_EQ(zones->domain_of[3], 1u);
  EXPECT_EQ(zones->num_domains, 2u);
}

TEST(TopologyTableTest, DropsWhatWasAskedForLongestAgoUnlessSomebodyHoldsIt) {
  TopologyTable table(2, ThreeNodes);
  table.Grow(3);
  const auto held = table.Get("zone");
  table.Get("host");
  table.Get("absent");
  table.Get("absent too");
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.Get("zone"), held);
  EXPECT_EQ(table.Share(*held), held);
  table.Update(0, MakeLabels({{"zone", "a"}}), {});
  EXPECT_EQ(held->domain_of[0], kNoDomain);
}

TEST(TopologyTableTest, ANodeMovesWhenItsValueOfAKeyInTheTableChanges) {
  TopologyTable table(8, ThreeNodes);
  table.Grow(3);
  table.Get("zone");
  const auto labels = MakeLabels({{"zone", "a"}});
  EXPECT_FALSE(table.Moves(labels, MakeLabels({{"zone", "a"}, {"host", "1"}})));
  EXPECT_TRUE(table.Moves(labels, MakeLabels({{"zone", "b"}})));
  EXPECT_TRUE(table.Moves(labels, {}));
  EXPECT_TRUE(table.Moves({}, labels));
}

TEST(PodCountsTableTest, DropsWhatWasAskedForLongestAgoUnlessSomebodyHoldsIt) {
  TopologyTable topologies(8, ThreeNodes);
  PodCountsTable table(topologies, 1, [](const auto&) {});
  const auto held = table.Get(QueryFor("a"));
  table.Get(QueryFor("b"));
  table.Get(QueryFor("c"));
  EXPECT_EQ(table.size(), 2u) << "the one held, and the last one";
  EXPECT_EQ(table.Get(QueryFor("a")), held);
  table.Count(0, MakePod().Label("app", "a").Ptr(), 1);
  table.Count(2, MakePod().Label("app", "a").Namespace("other").Ptr(), 1);
  EXPECT_EQ(held->by_row().total(), 1);
}

TEST(PodCountsTableTest, WalksOverAllPodsOnlyForTheFirstQuery) {
  TopologyTable topologies(8, ThreeNodes);
  PlainResourceNames names;
  const PodInfoPtr pod = MakePod().Label("app", "b").Info(names);
  size_t walks = 0;
  PodCountsTable table(topologies, 1u << 20, [&](const auto& visit) {
    ++walks;
    visit(2, *pod);
  });
  for (int i = 0; i < 3; ++i) {
    for (const char* app : {"a", "b", "c"}) {
      EXPECT_EQ(table.Get(QueryFor(app))->by_row().Get(2), app == std::string("b") ? 1 : 0);
    }
  }
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(walks, 1u);
}

TEST(LabelledPodsTableTest, APodOfAKnownGroupAddsNoneAndEmptyGroupsDoNotPileUp) {
  LabelledPodsTable groups;
  const auto pod = MakePod().Label("app", "a");
  EXPECT_TRUE(groups.Count(0, pod.Ptr(), 1).added);
  EXPECT_FALSE(groups.Count(1, test::PodBuilder(pod).Name("other").Ptr(), 1).added);
  EXPECT_TRUE(groups.Count(1, test::PodBuilder(pod).Namespace("other").Ptr(), 1).added);
  EXPECT_TRUE(groups.Count(1, test::PodBuilder(pod).Label("tier", "b").Ptr(), 1).added);
  EXPECT_TRUE(groups.Count(1, test::PodBuilder(pod).DeletedAt(Time()).Ptr(), 1).added);
  EXPECT_EQ(groups.size(), 4u);
  for (int i = 0; i < 1000; ++i) {
    const auto passing = MakePod().Label("app", std::to_string(i)).Ptr();
    groups.Count(0, passing, 1);
    groups.Count(0, passing, -1);
  }
  EXPECT_LT(groups.size(), 100u);
  EXPECT_EQ(groups.Count(2, pod.Ptr(), 1).group.by_row.total(), 3);
}

TEST(AffinityTermTableTest, TermsComeInTheOrderOfTheirFirstPodAndStayUntilSwept) {
  TopologyTable topologies(8, ThreeNodes);
  topologies.Grow(3);
  AffinityTermTable table(topologies, 1);
  const auto terms = [](std::string_view key, int32_t weight) {
    return PodAffinityTerms::Make(MakePod().PreferPodAffinity(weight, key, {{"app", "web"}}));
  };
  table.Count(0, *terms("zone", 3), 1);
  table.Count(1, *terms("host", 2), 1);
  table.Count(2, *terms("host", 1), 1);
  table.Count(2, *terms("zone", 3), 1);
  EXPECT_EQ(table.size(), 3u);

  const auto weights = [&] {
    std::vector<AffinityTermCounts> found;
    table.AddMatching(MakePod().Label("app", "web"), {}, 0xf, found);
    std::vector<int32_t> list;
    for (const AffinityTermCounts& term : found) list.push_back(term.term->weight);
    return list;
  };
  EXPECT_EQ(weights(), (std::vector<int32_t>{3, 2, 1}));
  table.Count(1, *terms("host", 2), -1);
  table.Sweep();
  EXPECT_EQ(weights(), (std::vector<int32_t>{3, 1}));
  EXPECT_EQ(table.num_unused(), 1u) << "no more than allowed";
  table.Count(2, *terms("host", 1), -1);
  table.Sweep();
  EXPECT_EQ(table.num_unused(), 0u);
  EXPECT_EQ(table.size(), 1u);
  table.Count(1, *terms("host", 2), 1);
  EXPECT_EQ(weights().size(), 2u);
}

TEST(AffinityTermTableTest, APodThatHasATermTwiceCountsTwice) {
  TopologyTable topologies(8, ThreeNodes);
  topologies.Grow(3);
  AffinityTermTable table(topologies, 0);
  const auto twice = PodAffinityTerms::Make(MakePod()
                                                .PodAntiAffinity("zone", {{"app", "web"}})
                                                .PodAntiAffinity("zone", {{"app", "web"}}));
  table.Count(1, *twice, 1);
  std::vector<AffinityTermCounts> found;
  table.AddMatching(MakePod().Label("app", "web"), {}, 0xf, found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].by_domain->Get(found[0].topology->Find("b")), 2);
  table.Count(1, *twice, -1);
  EXPECT_EQ(table.size(), 0u);
}

PodScope ScopeOf(const PodTerm& term) {
  return {term.namespaces, term.all_namespaces, term.selector};
}

TEST(SelectorIndexTest, FindsEveryScopeThatAPodIsInOnceAndLeavesMostOthersOut) {
  Random random(1);
  SelectorIndex index;
  std::vector<PodTerm> terms(60);
  std::set<uint32_t> there;
  size_t found_in_vain = 0;
  size_t looked_at = 0;
  const std::string many[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                              "j", "k", "l", "m", "n", "o", "p", "q", "r"};
  for (int step = 0; step < 5000; ++step) {
    const auto id = static_cast<uint32_t>(random.Below(terms.size()));
    if (there.erase(id) > 0) {
      index.Remove(id, ScopeOf(terms[id]));
    } else {
      terms[id] = test::RandomPodQuery(random).all_of[0];
      if (random.Below(20) == 0) terms[id].namespaces.assign(std::begin(many), std::end(many));
      index.Add(id, ScopeOf(terms[id]));
      there.insert(id);
    }
    ASSERT_EQ(index.size(), there.size());
    api::Pod pod = MakePod().Name("pod");
    test::AddRandomAffinity(random, pod);
    if (random.Below(20) == 0) pod.metadata.namespace_ = many[random.Below(std::size(many))];
    std::set<uint32_t> candidates;
    index.ForEachCandidate(pod.metadata.namespace_, pod.metadata.labels, [&](uint32_t candidate) {
      EXPECT_TRUE(candidates.insert(candidate).second) << "visited twice";
    });
    for (const uint32_t candidate : there) {
      const bool in = terms[candidate].Matches(pod);
      const bool found = candidates.contains(candidate);
      ASSERT_TRUE(found || !in) << "step " << step;
      if (found && !in) ++found_in_vain;
      ++looked_at;
    }
    for (const uint32_t candidate : candidates) ASSERT_TRUE(there.contains(candidate));
  }
  EXPECT_LT(found_in_vain, looked_at / 5);
}

TEST(SelectorIndexTest, AScopeStandsUnderThePairThatFewestOthersShare) {
  SelectorIndex index;
  std::vector<PodTerm> terms(100);
  for (uint32_t id = 0; id < terms.size(); ++id) {
    terms[id].namespaces = {"default"};
    terms[id].selector = LabelSelectorMatcher::OfLabels(
        MakeLabels({{"app", "app-" + std::to_string(id)}, {"a tier", "web"}}));
    index.Add(id, ScopeOf(terms[id]));
  }
  const auto candidates = [&](std::string_view namespace_, std::string_view app) {
    size_t count = 0;
    index.ForEachCandidate(namespace_, MakeLabels({{"a tier", "web"}, {"app", app}}),
                           [&](uint32_t) { ++count; });
    return count;
  };
  EXPECT_LE(candidates("default", "app-50"), 2u);
  EXPECT_EQ(candidates("other", "app-50"), 0u);
}

TEST(SelectorIndexTest, ASelectorOfNothingIsFoundByNoPod) {
  SelectorIndex index;
  PodTerm nothing;
  nothing.all_namespaces = true;
  index.Add(0, ScopeOf(nothing));
  index.ForEachCandidate("default", {}, [](uint32_t) { ADD_FAILURE(); });
  index.Remove(0, ScopeOf(nothing));
  EXPECT_EQ(index.size(), 0u);
}

}  // namespace
}  // namespace berth::cache
