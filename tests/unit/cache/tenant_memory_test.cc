// SPDX-License-Identifier: Apache-2.0
// What the specs of pods name, in any number, must not stay in memory when the pods have gone, nor
// cost more than the pods themselves while they are there.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/cache/cache.h"
#include "tests/support/builders.h"
#include "tests/support/heap_bytes.h"

namespace berth::cache {
namespace {

constexpr size_t kNodes = 5000;
constexpr size_t kMiB = size_t{1} << 20;

std::string Numbered(std::string_view text, size_t number) {
  return std::string(text) + std::to_string(number);
}

class TenantMemoryTest : public testing::Test {
 protected:
  TenantMemoryTest() {
    cache_.SetSignatureParts(pod_part::kRequests | pod_part::kPodAffinity |
                             pod_part::kNodeAffinity);
    for (size_t i = 0; i < kNodes; ++i) {
      cache_.SetNode(test::MakeNode(Numbered("n", i))
                         .Label("kubernetes.io/hostname", Numbered("n", i))
                         .Allocatable({{"cpu", "8"}, {"memory", "16Gi"}, {"pods", "110"}})
                         .Ptr());
    }
    before_ = test::HeapBytes();
  }

  static api::Pod Pod(size_t number) {
    return test::MakePod()
        .Name(Numbered("p", number))
        .Uid(Numbered("u", number))
        .OnNode(Numbered("n", number % kNodes))
        .Req({{"cpu", "1m"}});
  }
  void Place(api::Pod pod) {
    uids_.push_back(pod.metadata.uid);
    const PodInfoPtr info = cache_.MakePodInfo(std::make_shared<const api::Pod>(std::move(pod)));
    ASSERT_TRUE(cache_.AddPod(info).has_value());
  }
  void RemoveAll() {
    for (const std::string& uid : uids_) cache_.RemovePod(uid);
    uids_.clear();
  }
  // Above what the nodes take.
  size_t Taken() const {
    const size_t now = test::HeapBytes();
    return now > before_ ? now - before_ : 0;
  }
  void Print(const char* what, size_t with_pods) const {
    std::cout << what << ": " << with_pods / kMiB << " MiB with the pods, " << Taken() / kMiB
              << " MiB after them\n";
  }

  Cache cache_;

 private:
  size_t before_ = 0;
  std::vector<std::string> uids_;
};

TEST_F(TenantMemoryTest, ResourceNamesOfPlacedPodsTakeRoomForThosePodsAlone) {
  constexpr size_t kPods = 200;
  constexpr size_t kNamesEach = 100;
  for (size_t i = 0; i < kPods; ++i) {
    api::Pod pod = Pod(i);
    api::ResourceList& requests = pod.spec.containers.front().resources.requests;
    for (size_t j = 0; j < kNamesEach; ++j) {
      requests.emplace_back(Numbered("tenant.io/r", i * kNamesEach + j),
                            api::Quantity::FromUnits(1));
    }
    std::ranges::sort(requests, {}, &api::ResourceList::value_type::first);
    Place(std::move(pod));
  }
  EXPECT_EQ(cache_.sizes().scalar_columns, kPods * kNamesEach);
  EXPECT_EQ(cache_.ResourcesOn(0).size(), 3 + kNamesEach);
  const size_t with_pods = Taken();
  EXPECT_LT(with_pods, 64 * kMiB);
  RemoveAll();
  EXPECT_EQ(cache_.sizes().scalar_columns, 0u);
  // The names go when as many others have come, which is what looks for those that nothing holds.
  cache_.mutable_resource_names().Sweep();
  EXPECT_EQ(cache_.sizes().resource_names, 3u);
  EXPECT_LT(Taken(), 8 * kMiB);
  Print("20,000 resource names of placed pods", with_pods);
}

TEST_F(TenantMemoryTest, ResourceNamesOfPodsThatComeAndGoDoNotPileUp) {
  for (size_t i = 0; i < 20'000; ++i) {
    api::Pod pod = Pod(i);
    if (i % 2 == 0) pod.spec.node_name.clear();
    auto& requests = pod.spec.containers.front().resources.requests;
    requests.emplace_back(Numbered("tenant.io/r", i), api::Quantity::FromUnits(1));
    (void)cache_.MakePodInfo(std::make_shared<const api::Pod>(std::move(pod)));
  }
  // A class keeps the names of its pods until it is swept itself.
  EXPECT_LT(cache_.sizes().resource_names, 8000u);
  EXPECT_LT(Taken(), 16 * kMiB);
}

TEST_F(TenantMemoryTest, ANameKeepsItsIdWhileAPodItsClassOrANodeHasIt) {
  const auto info = [this](const char* node, std::string_view resource) {
    api::Pod pod = Pod(1);
    pod.spec.node_name = node;
    pod.spec.containers.front().resources.requests.emplace_back(resource,
                                                                api::Quantity::FromUnits(1));
    return cache_.MakePodInfo(std::make_shared<const api::Pod>(std::move(pod)));
  };
  ResourceTable& names = cache_.mutable_resource_names();
  const auto id_of = [](const PodInfoPtr& pod) { return pod->requests.scalars.front().first; };
  const PodInfoPtr placed = info("n1", "tenant.io/placed");
  PodInfoPtr pending = info("", "tenant.io/pending");
  PodInfoPtr passing = info("n1", "tenant.io/passing");
  const ResourceId pending_id = id_of(pending);
  const ResourceId passing_id = id_of(passing);
  cache_.SetNode(test::MakeNode("n1").Allocatable({{"tenant.io/node", "1"}}).Ptr());
  const ResourceId interned = names.Intern("tenant.io/configured");
  pending.reset();
  passing.reset();
  names.Sweep();
  EXPECT_EQ(names.Name(id_of(placed)), "tenant.io/placed");
  EXPECT_EQ(names.Name(interned), "tenant.io/configured");
  EXPECT_EQ(names.Name(pending_id), "tenant.io/pending")
      << "its class may be asked about, and verdicts are kept of it";
  EXPECT_EQ(cache_.ResourcesOn(cache_.FindNode("n1")).size(), 4u);
  EXPECT_NE(id_of(info("n1", "tenant.io/passing")), passing_id)
      << "a name that was dropped gets an id that nothing remembers";
  EXPECT_EQ(id_of(info("", "tenant.io/pending")), pending_id);
}

TEST_F(TenantMemoryTest, AnInternedResourceComesAsAnArrayHoweverFewRowsHaveIt) {
  cache_.SetNode(test::MakeNode("n1").Allocatable({{"nvidia.com/gpu", "8"}}).Ptr());
  const ResourceId gpu = cache_.mutable_resource_names().InternPassing("nvidia.com/gpu");
  const NodeRow row = cache_.FindNode("n1");
  EXPECT_EQ(cache_.allocatable(gpu).few.size(), 1u);
  EXPECT_EQ(cache_.allocatable(gpu)[row], 8);
  EXPECT_EQ(cache_.mutable_resource_names().Intern("nvidia.com/gpu"), gpu);
  EXPECT_EQ(cache_.allocatable(gpu).values.size(), kNodes);
  EXPECT_EQ(cache_.allocatable(gpu)[row], 8);
  EXPECT_TRUE(cache_.requested(gpu).zero());
}

TEST_F(TenantMemoryTest, TopologyKeysThatNoNodeHasTakeNoArrayEach) {
  constexpr size_t kPods = 2000;
  for (size_t i = 0; i < kPods; ++i) {
    Place(test::PodBuilder(test::MakePod()
                               .Name(Numbered("p", i))
                               .Uid(Numbered("u", i))
                               .OnNode(Numbered("n", i % kNodes))
                               .PodAntiAffinity(Numbered("tenant.io/k", i), {{"app", "web"}})));
  }
  EXPECT_EQ(cache_.sizes().topologies, kPods);
  EXPECT_LT(cache_.sizes().topology_bytes, 4 * kMiB);
  const size_t with_pods = Taken();
  EXPECT_LT(with_pods, 16 * kMiB);

  // A key is one like any other once a node has it.
  const auto key = cache_.GetTopology("tenant.io/k7");
  EXPECT_EQ(key->num_domains, 0u);
  cache_.SetNode(test::MakeNode("n7").Label("tenant.io/k7", "here").Ptr());
  std::vector<AffinityTermCounts> terms;
  cache_.MatchingAffinityTerms(test::MakePod().Label("app", "web"), {}, 0xf, terms);
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].topology, key.get());
  EXPECT_EQ(terms[0].by_domain->Get(key->domain_of[cache_.FindNode("n7")]), 1);

  RemoveAll();
  // The terms go with the next pod that is placed.
  Place(Pod(0));
  RemoveAll();
  EXPECT_LT(cache_.sizes().topologies, 400u);
  EXPECT_LT(cache_.sizes().topology_bytes, 4 * kMiB);
  EXPECT_LT(Taken(), 16 * kMiB);
  Print("2,000 topology keys of placed pods", with_pods);
}

TEST_F(TenantMemoryTest, LongTermsAndPartsOfPodsThatHaveGoneDoNotPileUp) {
  const std::string text(4096, 'x');
  for (size_t i = 0; i < 1000; ++i) {
    api::Pod pod = test::MakePod()
                       .Name(Numbered("p", i))
                       .Uid(Numbered("u", i))
                       .OnNode("n1")
                       .PodAntiAffinity("zone", {{"app", Numbered(text, i)}});
    Place(pod);
    RemoveAll();
    pod.spec.node_name.clear();
    (void)cache_.MakePodInfo(std::make_shared<const api::Pod>(std::move(pod)));
  }
  EXPECT_LT(cache_.sizes().fragment_bytes, 2 * kMiB);
  EXPECT_LT(Taken(), 8 * kMiB);
}

}  // namespace
}  // namespace berth::cache
