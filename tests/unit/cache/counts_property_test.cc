// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/random.h"
#include "src/cache/cache.h"
#include "tests/support/builders.h"
#include "tests/support/plain_snapshot.h"
#include "tests/support/random_cluster.h"

// Random changes of a Cache and of a plain model of it: what the cache counts across nodes must
// always be what a snapshot made from scratch from the model counts.
namespace berth::cache {
namespace {

using test::MakeNode;
using test::MakePod;
using test::PlainResourceNames;
using test::PlainSnapshot;

constexpr AffinityTermKinds kAllKinds = 0xf;

struct KnownPod {
  api::Pod pod;  // also an assumed one names its node here
  bool assumed = false;
};

struct Model {
  std::map<std::string, api::Node> nodes;
  std::map<std::string, KnownPod> pods;  // by UID
};

struct HeldCounts {
  PodQuery query;
  std::shared_ptr<const PodCounts> counts;
};

// How a topology splits the nodes: value to names of nodes.
using Split = std::map<std::string, std::set<std::string>>;

Split SplitOf(const Snapshot& snapshot, const Topology& topology) {
  Split split;
  EXPECT_EQ(topology.domain_of.size(), snapshot.num_rows());
  NodeSet with_domain(snapshot.num_rows());
  std::vector<uint32_t> num_nodes(topology.values.size());
  for (NodeRow row = 0; row < topology.domain_of.size(); ++row) {
    const DomainId domain = topology.domain_of[row];
    if (domain == kNoDomain) continue;
    with_domain.Set(row);
    ++num_nodes[domain];
    EXPECT_TRUE(snapshot.nodes().Test(row));
    split[topology.values[domain]].insert(snapshot.node(row).metadata.name);
    EXPECT_EQ(topology.Find(topology.values[domain]), domain);
  }
  if (topology.num_domains == 0) {
    EXPECT_TRUE(topology.nodes.Empty());
  } else {
    EXPECT_EQ(topology.nodes, with_domain);
  }
  EXPECT_EQ(topology.num_nodes, num_nodes);
  EXPECT_EQ(topology.num_domains, split.size());
  EXPECT_EQ(topology.by_value.size(), split.size());
  EXPECT_EQ(topology.Find("no such value"), kNoDomain);
  return split;
}

std::map<std::string, int> ByValue(const Topology& topology, const Counts& counts) {
  std::map<std::string, int> by_value;
  int64_t total = 0;
  counts.ForEach([&](DomainId domain, int32_t count) {
    EXPECT_GT(topology.num_nodes[domain], 0u);
    by_value[topology.values[domain]] += count;
    total += count;
  });
  EXPECT_EQ(counts.size(), by_value.size());
  EXPECT_EQ(counts.total(), total);
  return by_value;
}

// Terms by identity; what each counts, by value.
std::map<std::string, std::map<std::string, int>> TermsOf(const Snapshot& snapshot,
                                                          const api::Pod& pod,
                                                          const api::StringMap& namespace_labels,
                                                          AffinityTermKinds kinds) {
  std::vector<AffinityTermCounts> found;
  snapshot.MatchingAffinityTerms(pod, namespace_labels, kinds, found);
  std::map<std::string, std::map<std::string, int>> terms;
  for (const AffinityTermCounts& term : found) {
    EXPECT_EQ(term.topology->key, term.term->topology_key);
    const bool added =
        terms.emplace(term.term->Identity(), ByValue(*term.topology, *term.by_domain)).second;
    EXPECT_TRUE(added) << "term found twice";
  }
  return terms;
}

class Walk {
 public:
  Walk(uint64_t seed, const Cache::Options& options) : random_(seed), cache_(options) {
    cache_.SetSignatureParts(pod_part::kLabels | pod_part::kRequests);
  }

  void Step() {
    switch (random_.Below(12)) {
      case 0:
      case 1:
        SetNode();
        break;
      case 2:
        RemoveNode();
        break;
      case 3:
      case 4:
        AddPod();
        break;
      case 5:
      case 6:
        UpdatePod();
        break;
      case 7:
        Ask();
        break;
      case 8:
        LetGo();
        break;
      case 9:
        RunTrial();
        break;
      default:
        ChangePods(nullptr);
        break;
    }
    if (Chance(4)) Compare();
  }

  size_t num_counted() const { return num_counted_; }
  size_t num_terms() const { return num_terms_; }

 private:
  bool Chance(uint64_t one_in) { return random_.Below(one_in) == 0; }
  std::string RandomNodeName() { return "node-" + std::to_string(random_.Below(8)); }
  std::string RandomUid() { return "uid-" + std::to_string(random_.Below(20)); }

  api::Pod RandomPod(const std::string& uid) {
    api::Pod pod = MakePod().Name("pod-" + uid).Uid(uid);
    test::AddRandomAffinity(random_, pod);
    if (Chance(5)) pod.metadata.deletion_timestamp = Time();
    return pod;
  }

  PodInfoPtr InfoOf(const api::Pod& pod) {
    return cache_.MakePodInfo(std::make_shared<const api::Pod>(pod));
  }

  void SetNode() {
    const std::string name = RandomNodeName();
    auto node = MakeNode(name);
    if (!Chance(5)) node.Label("kubernetes.io/hostname", name);
    if (!Chance(4)) node.Label("zone", "zone-" + std::to_string(random_.Below(4)));
    if (Chance(2)) node.Label("ssd", Chance(2) ? "" : "fast");
    model_.nodes[name] = node;
    cache_.SetNode(node.Ptr());
  }

  void RemoveNode() {
    const std::string name = RandomNodeName();
    model_.nodes.erase(name);
    cache_.RemoveNode(name);
  }

  void Put(api::Pod pod) {
    ASSERT_TRUE(cache_.AddPod(InfoOf(pod)).has_value());
    const std::string uid = pod.metadata.uid;
    model_.pods[uid] = {std::move(pod), false};
  }

  void AddPod() {
    api::Pod pod = RandomPod(RandomUid());
    pod.spec.node_name = RandomNodeName();
    Put(std::move(pod));
  }

  // Another version of a known pod: other labels, or it is being deleted, or nothing that counts;
  // confirms an assumed one.
  void UpdatePod() {
    const auto known = model_.pods.lower_bound(RandomUid());
    if (known == model_.pods.end()) return;
    api::Pod pod = known->second.pod;
    pod.metadata.resource_version = std::to_string(random_.Next());
    switch (random_.Below(3)) {
      case 0:
        pod.metadata.labels = RandomPod("other").metadata.labels;
        break;
      case 1:
        pod.metadata.deletion_timestamp = Time();
        break;
      default:
        break;
    }
    Put(std::move(pod));
  }

  // Assumes, forgets or removes a pod, by `trial` where there is one.
  void ChangePods(Trial* trial) {
    const std::string uid = RandomUid();
    const auto known = model_.pods.find(uid);
    switch (random_.Below(4)) {
      case 0: {
        if (trial != nullptr ? trial->Forget(uid) : cache_.ForgetPod(uid)) model_.pods.erase(known);
        break;
      }
      case 1:
        if (trial != nullptr ? trial->Remove(uid) : cache_.RemovePod(uid)) model_.pods.erase(known);
        break;
      default: {
        api::Pod pod = RandomPod(uid);
        const std::string name = RandomNodeName();
        const NodeRow row = cache_.FindNode(name);
        if (row == kNoRow || known != model_.pods.end()) return;
        const PodInfoPtr info = InfoOf(pod);
        ASSERT_TRUE(trial != nullptr ? trial->Assume(info, row) : cache_.AssumePod(info, row));
        pod.spec.node_name = name;
        model_.pods[uid] = {std::move(pod), true};
      }
    }
  }

  // A rollback must restore what was counted before, in the form it had.
  void RunTrial(int depth = 1) {
    const Model before = model_;
    const std::vector<HeldCounts> held = held_;
    std::vector<Counts> counts;
    for (const HeldCounts& h : held) counts.push_back(h.counts->by_row());
    Trial trial = cache_.BeginTrial();
    for (uint64_t i = random_.Below(8); i > 0; --i) {
      ChangePods(&trial);
      if (Chance(4)) Ask();
      if (Chance(8)) Compare();
      if (depth < 3 && Chance(4)) RunTrial(depth + 1);
    }
    if (Chance(3)) return trial.Commit();
    trial.Rollback();
    model_ = before;
    for (size_t i = 0; i < held.size(); ++i) EXPECT_EQ(held[i].counts->by_row(), counts[i]);
  }

  // Holds some counts or a topology from now on.
  void Ask() {
    if (Chance(3)) {
      held_topologies_.push_back(cache_.GetTopology(test::RandomTopologyKey(random_)));
      return;
    }
    const PodQuery query = held_.empty() || !Chance(4) ? test::RandomPodQuery(random_)
                                                       : held_[random_.Below(held_.size())].query;
    held_.push_back({query, cache_.CountPods(query)});
    if (Chance(2)) {
      const auto topology = cache_.GetTopology(test::RandomTopologyKey(random_));
      held_.back().counts->by_domain(*topology);
    }
  }

  void LetGo() {
    while (held_.size() > 6) held_.erase(held_.begin());
    if (!held_.empty() && Chance(2)) held_.erase(held_.begin());
    while (held_topologies_.size() > 2) held_topologies_.erase(held_topologies_.begin());
  }

  void Compare() {
    std::vector<api::Node> nodes;
    std::vector<api::Pod> pods;
    for (const auto& [name, node] : model_.nodes) nodes.push_back(node);
    for (const auto& [uid, known] : model_.pods) pods.push_back(known.pod);
    const PlainSnapshot plain(names_, nodes, pods);

    for (const auto& topology : held_topologies_) {
      EXPECT_EQ(cache_.GetTopology(topology->key), topology);
      EXPECT_EQ(SplitOf(cache_, *topology), SplitOf(plain, *plain.GetTopology(topology->key)));
    }
    const PodQuery query = test::RandomPodQuery(random_);
    CompareCounts(plain, query, *cache_.CountPods(query));
    for (const HeldCounts& held : held_) {
      EXPECT_EQ(cache_.CountPods(held.query), held.counts);
      CompareCounts(plain, held.query, *held.counts);
    }
    for (int i = 0; i < 3; ++i) CompareTerms(plain);
  }

  void CompareCounts(const PlainSnapshot& plain, const PodQuery& query, const PodCounts& counts) {
    // Those on ghost rows, too.
    std::map<std::string, int> want;
    for (const auto& [uid, known] : model_.pods) {
      if (query.Matches(known.pod)) ++want[known.pod.spec.node_name];
    }
    std::map<std::string, int> got;
    counts.by_row().ForEach([&](NodeRow row, int32_t count) {
      got[std::string(cache_.node_name(row))] = count;
      num_counted_ += static_cast<size_t>(count);
    });
    EXPECT_EQ(got, want);

    const std::string key = test::RandomTopologyKey(random_);
    const auto topology = cache_.GetTopology(key);
    const auto plain_topology = plain.GetTopology(key);
    EXPECT_EQ(SplitOf(cache_, *topology), SplitOf(plain, *plain_topology));
    EXPECT_EQ(ByValue(*topology, counts.by_domain(*topology)),
              ByValue(*plain_topology, plain.CountPods(query)->by_domain(*plain_topology)));
  }

  void CompareTerms(const PlainSnapshot& plain) {
    const api::Pod pod = RandomPod("incoming");
    api::StringMap namespace_labels;
    for (const api::Namespace& n : test::RandomNamespaces(random_)) {
      if (n.metadata.name == pod.metadata.namespace_) namespace_labels = n.metadata.labels;
    }
    const auto kinds =
        Chance(2) ? kAllKinds : static_cast<AffinityTermKinds>(random_.Below(kAllKinds + 1));
    const auto want = TermsOf(plain, pod, namespace_labels, kinds);
    EXPECT_EQ(TermsOf(cache_, pod, namespace_labels, kinds), want);
    num_terms_ += want.size();
  }

  Random random_;
  PlainResourceNames names_;
  Cache cache_;
  Model model_;
  std::vector<HeldCounts> held_;
  std::vector<std::shared_ptr<const Topology>> held_topologies_;
  size_t num_counted_ = 0;
  size_t num_terms_ = 0;
};

TEST(CountsPropertyTest, WhatIsCountedAcrossNodesIsWhatASnapshotMadeFromScratchCounts) {
  size_t num_counted = 0;
  size_t num_terms = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Cache::Options options;
    // Every other walk forgets all that it may.
    if (seed % 2 == 1) {
      options.max_topologies = 1;
      options.max_pod_counts_bytes = 1000;
      options.max_unused_affinity_terms = 0;
    }
    Walk walk(seed, options);
    for (int step = 0; step < 500; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      walk.Step();
      if (testing::Test::HasFailure()) return;
    }
    num_counted += walk.num_counted();
    num_terms += walk.num_terms();
  }
  EXPECT_GT(num_counted, 10'000u);
  EXPECT_GT(num_terms, 10'000u);
}

}  // namespace
}  // namespace berth::cache
