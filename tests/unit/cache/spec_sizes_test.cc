// SPDX-License-Identifier: Apache-2.0
// What a pod's spec sizes costs in proportion to it: counted in looks, for a size and for its
// fourfold.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/random.h"
#include "src/cache/affinity_term_table.h"
#include "src/cache/cache.h"
#include "src/cache/pod_counts_table.h"
#include "src/cache/topology_table.h"
#include "tests/support/builders.h"
#include "tests/support/heap_bytes.h"
#include "tests/support/plain_resource_names.h"
#include "tests/support/random_cluster.h"

namespace berth::cache {
namespace {

using Visit = std::function<void(NodeRow, const api::StringMap&)>;

std::string WithNumber(std::string_view text, size_t number) {
  return std::string(text) + std::to_string(number);
}

// A selector that each pod matches, and no other selector is.
PodQuery ForAllBut(size_t number) {
  api::LabelSelector selector;
  selector.match_expressions.push_back({"app", "NotIn", {WithNumber("none-", number)}});
  PodQuery query;
  query.all_of.push_back({{"default"}, false, *LabelSelectorMatcher::Make(selector)});
  return query;
}

PodQuery ForApp(size_t number) {
  PodQuery query;
  query.all_of.push_back(
      {{"default"},
       false,
       LabelSelectorMatcher::OfLabels(test::MakeLabels({{"app", WithNumber("app-", number)}}))});
  return query;
}

api::Pod OfApp(size_t number) { return test::MakePod().Label("app", WithNumber("app-", number)); }

TEST(SpecSizesTest, TopologyKeysThatAReaderHolds) {
  const auto looks = [](size_t keys) {
    TopologyTable table(64, [](std::string_view, const Visit&) {});
    table.Grow(100);
    std::vector<std::shared_ptr<const Topology>> held;
    for (size_t i = 0; i < keys; ++i) held.push_back(table.Get(WithNumber("key-", i)));
    EXPECT_EQ(table.size(), keys);
    held.clear();
    table.Evict();
    EXPECT_EQ(table.size(), 64u);
    return table.num_looks();
  };
  EXPECT_LE(looks(20'000), 5 * looks(5'000));
  EXPECT_LE(looks(20'000), 8u * 20'000u);
}

TEST(SpecSizesTest, ANodeThatChangesCostsByItsLabelsNotByTheKeysThatPodsName) {
  TopologyTable table(64, [](std::string_view, const Visit&) {});
  table.Grow(4);
  std::vector<std::shared_ptr<const Topology>> held;
  for (size_t i = 0; i < 1000; ++i) held.push_back(table.Get(WithNumber("key-", i)));
  const auto labels = test::MakeLabels({{"key-7", "a"}, {"other", "b"}});
  EXPECT_TRUE(table.Moves({}, labels));
  table.Update(2, {}, labels);
  EXPECT_EQ(held[7]->num_domains, 1u);
  EXPECT_TRUE(held[7]->nodes.Test(2));
  EXPECT_EQ(held[8]->num_domains, 0u);
  table.Update(2, labels, test::MakeLabels({{"key-8", "a"}}));
  EXPECT_EQ(held[7]->num_domains, 0u);
  EXPECT_EQ(held[7]->domain_of[2], kNoDomain);
  EXPECT_EQ(held[8]->domain_of[2], 0u);
}

class CountedPods {
 public:
  explicit CountedPods(size_t groups, size_t max_bytes = size_t{1} << 30)
      : table(topologies_, max_bytes, [groups](const auto& visit) {
          test::PlainResourceNames names;
          for (size_t i = 0; i < groups; ++i) {
            visit(static_cast<NodeRow>(i % 8),
                  *PodInfo::Make(std::make_shared<api::Pod>(OfApp(i)), names));
          }
        }) {}

 private:
  TopologyTable topologies_{8, [](std::string_view, const Visit&) {}};

 public:
  PodCountsTable table;
};

TEST(SpecSizesTest, QueriesThatAReaderHolds) {
  const auto looks = [](size_t queries) {
    CountedPods pods(50, /*max_bytes=*/1);
    std::vector<std::shared_ptr<const PodCounts>> held;
    for (size_t i = 0; i < queries; ++i) {
      held.push_back(pods.table.Get(ForAllBut(i)));
      EXPECT_EQ(held.back()->by_row().total(), 50);
    }
    EXPECT_EQ(pods.table.size(), queries);
    held.clear();
    pods.table.Get(ForAllBut(queries));
    for (size_t i = 0; pods.table.size() > 1; ++i) {
      if (i > queries) {
        ADD_FAILURE() << "queries that nothing holds stay";
        break;
      }
      pods.table.Get(ForAllBut(queries + 1 + i));
    }
    return pods.table.num_looks();
  };
  EXPECT_LE(looks(4'000), 5 * looks(1'000));
}

TEST(SpecSizesTest, AQueryLooksAtTheGroupsWithALabelThatItDemands) {
  CountedPods pods(2'000);
  for (size_t i = 0; i < 1'000; ++i) {
    EXPECT_LE(pods.table.StepsToCount(ForApp(i)), 2u);
    EXPECT_EQ(pods.table.Get(ForApp(i))->by_row().total(), 1);
    EXPECT_EQ(pods.table.StepsToCount(ForApp(i)), 1u) << "it is counted";
  }
  EXPECT_LE(pods.table.num_looks(), 1'000u);
  EXPECT_EQ(pods.table.StepsToCount(ForAllBut(0)), 2'001u);
  PodQuery both = ForAllBut(0);
  both.all_of.push_back(ForApp(5).all_of[0]);
  EXPECT_EQ(pods.table.StepsToCount(both), 3u);
}

TEST(SpecSizesTest, ListsOfQueriesAreBoundedHoweverManyMatchHowMany) {
  constexpr size_t kGroups = 600;
  constexpr size_t kQueries = 3'000;
  CountedPods pods(kGroups);
  std::vector<std::shared_ptr<const PodCounts>> held;
  for (size_t i = 0; i < kQueries; ++i) held.push_back(pods.table.Get(ForAllBut(i)));
  // Each group's pods match all queries.
  for (size_t i = 0; i < kGroups; ++i) {
    pods.table.Count(0, std::make_shared<api::Pod>(OfApp(i)), 1);
    EXPECT_LE(pods.table.listed_bytes(), (size_t{1} << 22) + kQueries * sizeof(uint32_t));
  }
  for (const auto& counts : held) {
    ASSERT_EQ(counts->by_row().total(), static_cast<int64_t>(2 * kGroups));
  }
}

// However queries are dropped and found again, they count what there is.
TEST(SpecSizesTest, CountsAreRightWhateverIsDropped) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    TopologyTable topologies(8, [](std::string_view, const Visit&) {});
    topologies.Grow(8);
    PodCountsTable table(topologies, seed % 2 == 0 ? 1 : 4096, [](const auto&) {});
    // From now on pods are counted as they come.
    table.Get(ForApp(0));
    std::vector<std::pair<NodeRow, std::shared_ptr<const api::Pod>>> placed;
    std::vector<std::pair<PodQuery, std::shared_ptr<const PodCounts>>> held;
    const auto expect = [&](const PodQuery& query, const PodCounts& counts) {
      std::map<NodeRow, int32_t> want;
      for (const auto& [row, pod] : placed) want[row] += query.Matches(*pod) ? 1 : 0;
      for (const auto& [row, count] : want) ASSERT_EQ(counts.by_row().Get(row), count) << seed;
    };
    for (int step = 0; step < 400; ++step) {
      const uint64_t dice = random.Below(10);
      if (dice < 4) {
        api::Pod pod = test::MakePod().Name(WithNumber("p", static_cast<size_t>(step)));
        test::AddRandomAffinity(random, pod);
        const auto row = static_cast<NodeRow>(random.Below(8));
        placed.emplace_back(row, std::make_shared<const api::Pod>(std::move(pod)));
        table.Count(row, placed.back().second, 1);
      } else if (dice < 6 && !placed.empty()) {
        const size_t at = random.Below(placed.size());
        table.Count(placed[at].first, placed[at].second, -1);
        placed.erase(placed.begin() + static_cast<std::ptrdiff_t>(at));
      } else if (dice < 9) {
        PodQuery query = test::RandomPodQuery(random);
        auto counts = table.Get(query);
        expect(query, *counts);
        if (random.Below(3) == 0) held.emplace_back(std::move(query), std::move(counts));
      } else if (!held.empty()) {
        held.erase(held.begin());
      }
      for (const auto& [query, counts] : held) expect(query, *counts);
    }
  }
}

TEST(SpecSizesTest, EqualTermsOfAPodAreThereOnce) {
  constexpr size_t kTerms = 100'000;
  api::Pod pod = test::PodBuilder(test::MakePod().PodAntiAffinity("zone", {{"app", "web"}}));
  auto& terms =
      pod.spec.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution;
  terms.resize(kTerms, api::PodAffinityTerm(terms.front()));
  const size_t before = test::HeapBytes();
  const auto made = PodAffinityTerms::Make(pod);
  const size_t taken = test::HeapBytes() - before;
  ASSERT_EQ(made->required_anti_affinity.size(), kTerms);
  EXPECT_EQ(&made->required_anti_affinity[0], &made->required_anti_affinity[kTerms - 1]);
  EXPECT_LT(taken, size_t{4} << 20);
}

}  // namespace
}  // namespace berth::cache
