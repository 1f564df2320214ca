// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/random.h"
#include "src/cache/cache.h"
#include "tests/support/builders.h"
#include "tests/support/plain_snapshot.h"

// Random operations on a Cache and on a plain model of it; after each, every answer of the cache
// must be that of a snapshot made from scratch from the model.
namespace berth::cache {
namespace {

using test::MakeNode;
using test::MakePod;
using test::PlainResourceNames;
using test::PlainSnapshot;

const char* const kResources[] = {"cpu", "memory", "ephemeral-storage", "nvidia.com/gpu",
                                  "hugepages-2Mi"};
const char* const kLabelKeys[] = {"zone", "kubernetes.io/hostname", "disk", "absent"};
const char* const kImages[] = {"nginx:1", "redis:7", "postgres:16"};
const char* const kClaims[] = {"data-0", "data-1", "shared"};

struct Model {
  struct KnownPod {
    api::Pod pod;  // also an assumed one names its node here
    bool assumed = false;
  };
  std::map<std::string, api::Node> nodes;
  std::map<std::string, KnownPod> pods;       // by UID
  std::map<std::string, std::string> closed;  // pod key to node name
};

// All that a row shows, split into what its node and what its pods decide.
struct RowText {
  std::string node;
  std::string usage;
};

RowText TextOf(const Cache& cache, NodeRow row) {
  RowText text;
  text.node = std::string(cache.node_name(row)) + (cache.nodes().Test(row) ? "" : " absent") +
              (cache.unschedulable_nodes().Test(row) ? " unschedulable" : "");
  for (const api::Taint& taint : cache.taints(cache.taint_sets()[row]))
    text.node += " taint " + taint.key + "=" + taint.value + ":" + taint.effect;
  for (ResourceId id = 0; id < std::size(kResources); ++id) {
    text.node += " " + std::to_string(cache.allocatable(id)[row]);
    text.usage += " " + std::to_string(cache.requested(id)[row]);
  }
  text.node += " pods " + std::to_string(cache.allowed_pods()[row]);
  text.usage += " non-zero " + std::to_string(cache.non_zero_requested(kCpu)[row]) + " " +
                std::to_string(cache.non_zero_requested(kMemory)[row]) + " pods " +
                std::to_string(cache.pod_count()[row]);
  for (const PodInfo* pod : cache.pods(row)) text.usage += " " + pod->pod->metadata.uid;
  for (const HostPort& port : cache.host_ports(row))
    text.usage += " " + port.ip + ":" + port.protocol + ":" + std::to_string(port.port);
  return text;
}

// Everything, row numbers and order of pods included.
std::string TextOf(const Cache& cache) {
  std::string text = std::to_string(cache.num_pods()) + " " + std::to_string(cache.num_assumed());
  for (NodeRow row = 0; row < cache.num_rows(); ++row) {
    const RowText parts = TextOf(cache, row);
    text += "\n" + parts.node + " |" + parts.usage + " | " +
            std::to_string(cache.taint_sets()[row]) +
            (cache.nodes_with_host_ports().Test(row) ? " ports" : "") +
            (cache.closed_nodes().Test(row) ? " closed" : "");
  }
  cache.ForEachPod([&](const CachedPod& pod) {
    text += "\n" + pod.info->pod->metadata.uid + (pod.assumed ? " assumed" : "");
  });
  return text;
}

std::set<std::string> NamesOf(const Snapshot& snapshot, const NodeSet& rows) {
  std::set<std::string> names;
  rows.ForEach([&](NodeRow row) { names.insert(snapshot.node(row).metadata.name); });
  return names;
}

std::vector<std::string> PortsOf(const Snapshot& snapshot, NodeRow row) {
  std::set<std::string> ports;
  for (const HostPort& port : snapshot.host_ports(row))
    ports.insert(port.ip + "/" + port.protocol + "/" + std::to_string(port.port));
  return {ports.begin(), ports.end()};
}

std::multiset<std::string> PodsOf(const Snapshot& snapshot, NodeRow row) {
  std::multiset<std::string> uids;
  for (const PodInfo* pod : snapshot.pods(row)) uids.insert(pod->pod->metadata.uid);
  return uids;
}

class Walk {
 public:
  Walk(uint64_t seed, const Cache::Options& options) : random_(seed), cache_(options) {
    cache_.SetSignatureParts(pod_part::kLabels | pod_part::kRequests);
    // The same ids in cache and model, so that ids can be compared.
    for (const char* name : kResources) {
      cache_.mutable_resource_names().Intern(name);
      names_.Intern(name);
    }
  }

  void Step() {
    const uint64_t start = cache_.generation();
    std::vector<RowText> before;
    for (NodeRow row = 0; row < cache_.num_rows(); ++row) before.push_back(TextOf(cache_, row));
    switch (random_.Below(10)) {
      case 0:
      case 1:
        SetNode();
        break;
      case 2:
        RemoveNode();
        break;
      case 3:
        AddOrUpdatePod();
        break;
      case 4:
        ConfirmSomePod();
        break;
      case 5:
        CloseOrOpen();
        break;
      case 6:
        TrialThatIsRolledBack();
        break;
      case 7:
        TrialThatIsKept();
        break;
      default:
        ChangePods(nullptr);
        break;
    }
    CompareWithModel();
    CheckChanges(start, before);
  }

 private:
  bool Chance(uint64_t one_in) { return random_.Below(one_in) == 0; }
  std::string RandomNodeName() { return "node-" + std::to_string(random_.Below(9)); }
  std::string RandomUid() { return "uid-" + std::to_string(random_.Below(25)); }

  void SetNode() {
    const std::string name = RandomNodeName();
    auto node = MakeNode(name).Label("kubernetes.io/hostname", name);
    if (!Chance(4)) node.Label("zone", "zone-" + std::to_string(random_.Below(3)));
    if (Chance(2)) node.Label("disk", Chance(2) ? "ssd" : "hdd");
    if (Chance(3)) node.Taint("gpu", std::to_string(random_.Below(2)), "NoSchedule");
    if (Chance(6)) node.Taint("old", "", "PreferNoSchedule");
    if (Chance(5)) node.Unschedulable();
    node.Allocatable({{"cpu", std::to_string(1 + random_.Below(8))}, {"memory", "16Gi"}});
    if (Chance(3)) node.Allocatable({{"nvidia.com/gpu", "4"}, {"pods", "20"}});
    for (size_t i = 0; i < std::size(kImages); ++i)
      if (Chance(3)) node.Image({kImages[i]}, static_cast<int64_t>(1000 * (i + 1)));
    model_.nodes[name] = node.Obj();
    const NodeRow row = cache_.SetNode(node.Ptr());
    EXPECT_EQ(cache_.FindNode(name), row);
  }

  void RemoveNode() {
    const std::string name = RandomNodeName();
    model_.nodes.erase(name);
    cache_.RemoveNode(name);
    EXPECT_EQ(cache_.FindNode(name), kNoRow);
  }

  test::PodBuilder RandomPod(const std::string& uid) {
    auto pod = MakePod().Name("pod-" + uid).Uid(uid);
    pod.Req({{"cpu", std::to_string(random_.Below(900)) + "m"}});
    if (Chance(3)) pod.Req({{"memory", "1Gi"}, {"nvidia.com/gpu", "1"}});
    if (Chance(6)) pod.Req({{"hugepages-2Mi", "4Mi"}});
    if (Chance(3)) pod.HostPort(8080 + static_cast<int32_t>(random_.Below(2)));
    if (Chance(3)) pod.Label("app", std::to_string(random_.Below(2)));
    while (Chance(8)) pod.ClaimVolume(kClaims[random_.Below(std::size(kClaims))]);
    return pod;
  }

  void AddOrUpdatePod() {
    const std::string uid = RandomUid();
    auto pod = RandomPod(uid).OnNode(RandomNodeName());
    model_.pods[uid] = {pod.Obj(), false};
    ASSERT_TRUE(cache_.AddPod(cache_.MakePodInfo(pod.Ptr())).has_value());
  }

  // The API server shows a known pod as it is, mostly where it was assumed.
  void ConfirmSomePod() {
    const auto known = model_.pods.lower_bound(RandomUid());
    if (known == model_.pods.end()) return;
    known->second.assumed = false;
    api::Pod& pod = known->second.pod;
    if (Chance(5)) pod.spec.node_name = RandomNodeName();
    pod.metadata.resource_version = std::to_string(random_.Next());
    ASSERT_TRUE(
        cache_.AddPod(cache_.MakePodInfo(std::make_shared<const api::Pod>(pod))).has_value());
  }

  void CloseOrOpen() {
    const std::string key = "default/broken-" + std::to_string(random_.Below(4));
    if (Chance(2)) {
      model_.closed.erase(key);
      cache_.OpenNode(key);
    } else {
      const std::string name = RandomNodeName();
      model_.closed[key] = name;
      cache_.CloseNode(name, key);
    }
  }

  // Assumes, forgets or removes a pod, by `trial` where there is one.
  void ChangePods(Trial* trial) {
    const std::string uid = RandomUid();
    const bool known = model_.pods.contains(uid);
    switch (random_.Below(4)) {
      case 0: {
        const bool assumed = known && model_.pods[uid].assumed;
        if (assumed) model_.pods.erase(uid);
        EXPECT_EQ(trial != nullptr ? trial->Forget(uid) : cache_.ForgetPod(uid), assumed);
        break;
      }
      case 1:
        model_.pods.erase(uid);
        EXPECT_EQ(trial != nullptr ? trial->Remove(uid) : cache_.RemovePod(uid), known);
        break;
      default: {
        const std::string name = RandomNodeName();
        auto pod = RandomPod(uid);
        const NodeRow row = cache_.FindNode(name);
        if (row == kNoRow) break;
        const PodInfoPtr info = cache_.MakePodInfo(pod.Ptr());
        const auto assumed =
            trial != nullptr ? trial->Assume(info, row) : cache_.AssumePod(info, row);
        EXPECT_EQ(assumed.has_value(), !known);
        if (!known) model_.pods[uid] = {pod.OnNode(name).Obj(), true};
      }
    }
  }

  void RunTrial(Trial& trial, int depth) {
    for (uint64_t i = random_.Below(6); i > 0; --i) {
      ChangePods(&trial);
      if (Chance(3)) CompareWithModel();
      if (depth >= 3 || !Chance(3)) continue;
      const Model outer = model_;
      Trial inner = cache_.BeginTrial();
      RunTrial(inner, depth + 1);
      if (Chance(2)) {
        inner.Commit();
      } else {
        inner.Rollback();
        model_ = outer;
      }
      CompareWithModel();
    }
  }

  void TrialThatIsRolledBack() {
    const Model outer = model_;
    const std::string before = TextOf(cache_);
    {
      Trial trial = cache_.BeginTrial();
      RunTrial(trial, 1);
    }
    model_ = outer;
    EXPECT_EQ(TextOf(cache_), before);
  }

  void TrialThatIsKept() {
    Trial trial = cache_.BeginTrial();
    RunTrial(trial, 1);
    trial.Commit();
  }

  void CompareWithModel() {
    std::vector<api::Node> nodes;
    std::vector<api::Pod> pods;
    size_t assumed = 0;
    for (const auto& [name, node] : model_.nodes) nodes.push_back(node);
    for (const auto& [uid, known] : model_.pods) {
      pods.push_back(known.pod);
      if (known.assumed) ++assumed;
      const auto found = cache_.FindPod(uid);
      ASSERT_TRUE(found.has_value()) << uid;
      EXPECT_EQ(cache_.node_name(found->row), known.pod.spec.node_name) << uid;
      EXPECT_EQ(found->assumed, known.assumed) << uid;
      EXPECT_EQ(cache_.IsAssumed(uid), known.assumed) << uid;
    }
    EXPECT_EQ(cache_.num_pods(), pods.size());
    EXPECT_EQ(cache_.num_assumed(), assumed);
    const PlainSnapshot plain(names_, nodes, pods);
    CompareSets(plain);
    for (NodeRow row = 0; row < plain.num_rows(); ++row) CompareRow(plain, row);
    for (const char* claim : kClaims) {
      EXPECT_EQ(cache_.IsClaimUsed("default", claim), plain.IsClaimUsed("default", claim));
      EXPECT_FALSE(cache_.IsClaimUsed("other", claim));
    }
    for (const char* name : kImages) {
      const auto want = plain.FindImage(name);
      const auto got = cache_.FindImage(name);
      ASSERT_EQ(got.has_value(), want.has_value()) << name;
      if (!want) continue;
      EXPECT_EQ(got->size_bytes, want->size_bytes) << name;
      EXPECT_TRUE(std::ranges::is_sorted(got->rows));
      EXPECT_EQ(NamesOf(cache_, SetOf(cache_, got->rows)),
                NamesOf(plain, SetOf(plain, want->rows)));
    }
  }

  static NodeSet SetOf(const Snapshot& snapshot, std::span<const NodeRow> rows) {
    NodeSet set(snapshot.num_rows());
    for (const NodeRow row : rows) set.Set(row);
    return set;
  }

  void CompareSets(const PlainSnapshot& plain) {
    EXPECT_EQ(cache_.num_nodes(), plain.num_nodes());
    EXPECT_EQ(cache_.nodes().Count(), plain.num_nodes());
    for (const NodeSet* set :
         {&cache_.unschedulable_nodes(), &cache_.nodes_with_host_ports(), &cache_.closed_nodes()}) {
      ASSERT_EQ(set->size(), cache_.num_rows());
      NodeSet ghosts = *set;
      ghosts -= cache_.nodes();
      EXPECT_TRUE(ghosts.Empty());
    }
    ASSERT_EQ(cache_.taint_sets().size(), cache_.num_rows());
    EXPECT_EQ(NamesOf(cache_, cache_.nodes()), NamesOf(plain, plain.nodes()));
    EXPECT_EQ(NamesOf(cache_, cache_.unschedulable_nodes()),
              NamesOf(plain, plain.unschedulable_nodes()));
    EXPECT_EQ(NamesOf(cache_, cache_.nodes_with_host_ports()),
              NamesOf(plain, plain.nodes_with_host_ports()));
    std::set<std::string> closed;
    for (const auto& [key, name] : model_.closed)
      if (model_.nodes.contains(name)) closed.insert(name);
    EXPECT_EQ(NamesOf(cache_, cache_.closed_nodes()), closed);
    // Not every time: asking keeps a key in the index.
    const char* key = kLabelKeys[random_.Below(std::size(kLabelKeys))];
    for (const std::string value : {"zone-0", "zone-1", "ssd", "node-3", ""}) {
      NodeSet got(cache_.num_rows());
      NodeSet want(plain.num_rows());
      cache_.NodesWithLabel(key, value, got);
      plain.NodesWithLabel(key, value, want);
      EXPECT_EQ(NamesOf(cache_, got), NamesOf(plain, want)) << key << "=" << value;
    }
    NodeSet got(cache_.num_rows());
    NodeSet want(plain.num_rows());
    cache_.NodesWithLabelKey(key, got);
    plain.NodesWithLabelKey(key, want);
    EXPECT_EQ(NamesOf(cache_, got), NamesOf(plain, want)) << key;
  }

  void CompareRow(const PlainSnapshot& plain, NodeRow plain_row) {
    SCOPED_TRACE(plain.node(plain_row).metadata.name);
    const NodeRow row = cache_.FindNode(plain.node(plain_row).metadata.name);
    ASSERT_NE(row, kNoRow);
    EXPECT_EQ(cache_.node(row), plain.node(plain_row));
    for (ResourceId id = 0; id < std::size(kResources); ++id) {
      SCOPED_TRACE(kResources[id]);
      EXPECT_EQ(cache_.allocatable(id)[row], plain.allocatable(id)[plain_row]);
      EXPECT_EQ(cache_.requested(id)[row], plain.requested(id)[plain_row]);
    }
    for (const ResourceId id : {kCpu, kMemory})
      EXPECT_EQ(cache_.non_zero_requested(id)[row], plain.non_zero_requested(id)[plain_row]);
    EXPECT_EQ(cache_.allowed_pods()[row], plain.allowed_pods()[plain_row]);
    EXPECT_EQ(cache_.pod_count()[row], plain.pod_count()[plain_row]);
    EXPECT_EQ(PodsOf(cache_, row), PodsOf(plain, plain_row));
    EXPECT_EQ(PortsOf(cache_, row), PortsOf(plain, plain_row));
    const auto got = cache_.taints(cache_.taint_sets()[row]);
    const auto want = plain.taints(plain.taint_sets()[plain_row]);
    EXPECT_TRUE(std::ranges::equal(got, want));
    for (NodeRow other = 0; other < plain_row; ++other) {
      const NodeRow cached = cache_.FindNode(plain.node(other).metadata.name);
      EXPECT_EQ(cache_.taint_sets()[row] == cache_.taint_sets()[cached],
                plain.taint_sets()[plain_row] == plain.taint_sets()[other]);
    }
  }

  void CheckChanges(uint64_t start, const std::vector<RowText>& before) {
    std::vector<Change> changes;
    ASSERT_TRUE(cache_.ChangesSince(start, changes));
    EXPECT_EQ(changes.size(), cache_.generation() - start);
    std::set<NodeRow> changed;
    for (const Change& change : changes) changed.insert(change.row);
    for (NodeRow row = 0; row < before.size(); ++row) {
      if (changed.contains(row) || !cache_.nodes().Test(row)) continue;
      const RowText now = TextOf(cache_, row);
      EXPECT_EQ(now.node + now.usage, before[row].node + before[row].usage);
    }
  }

  Random random_;
  PlainResourceNames names_;
  Cache cache_;
  Model model_;
};

TEST(CachePropertyTest, EveryAnswerIsThatOfASnapshotMadeFromScratch) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    // Every other walk has an index so small that it forgets all the time.
    Walk walk(seed, seed % 2 == 0 ? Cache::Options{} : Cache::Options{.labels = {2, 4}});
    for (int step = 0; step < 150; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      walk.Step();
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace berth::cache
