// SPDX-License-Identifier: Apache-2.0
// Verdicts that are kept are those that searches give.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dynamic_resources/allocator/kept_verdicts.h"
#include "tests/support/plain_resource_names.h"
#include "tests/support/plain_snapshot.h"
#include "tests/unit/plugins/dynamic_resources/allocator_fixture.h"

namespace berth::plugins::dra {
namespace {

constexpr KeptVerdicts::Steps kPlenty{.each_node = 100'000, .all_nodes = 10'000'000};

// A cluster of nodes with slices of their own, and one slice that all of them see.
struct Nodes {
  explicit Nodes(uint32_t count) {
    for (uint32_t i = 1; i <= count; ++i)
      nodes.push_back(AllocatorFixture::MakeNode("node-" + std::to_string(i)));
    snapshot.emplace(names, nodes, std::vector<api::Pod>());
  }

  // Verdicts of searches on all nodes.
  NodeVerdicts SearchAll(AllocatorFixture& f, const ClaimsToAllocate& claims) const {
    NodeVerdicts verdicts;
    verdicts.allocated.Assign(nodes.size(), false);
    verdicts.failed.Assign(nodes.size(), false);
    verdicts.scores.assign(nodes.size(), 0);
    for (NodeRow row = 0; row < nodes.size(); ++row) {
      f.allocator.Allocate(claims, row, nodes[row], kPlenty.each_node, f.found);
      if (f.found.outcome == AllocationOutcome::kAllocated) {
        verdicts.allocated.Set(row);
        verdicts.scores[row] = static_cast<uint32_t>(f.found.score);
      } else if (f.found.outcome != AllocationOutcome::kNone &&
                 f.found.outcome != AllocationOutcome::kInvalidPools) {
        verdicts.failed.Set(row);
      }
    }
    return verdicts;
  }

  test::PlainResourceNames names;
  std::vector<api::Node> nodes;
  std::optional<test::PlainSnapshot> snapshot;
};

ClaimsToAllocate Prepare(AllocatorFixture& f, const std::vector<api::ResourceClaim>& claims) {
  std::vector<const api::ResourceClaim*> pointers;
  for (const api::ResourceClaim& claim : claims) pointers.push_back(&claim);
  return f.allocator.Prepare(pointers, [&f](std::string_view name) {
    const api::DeviceClass* of_name = nullptr;
    for (const api::DeviceClass& device_class : f.classes)
      if (device_class.metadata.name == name) of_name = &device_class;
    return of_name;
  });
}

// The pod takes what was found on the node.
std::vector<api::AllocationResult> TakeFound(AllocatorFixture& f, const ClaimsToAllocate& claims,
                                             const api::Node& node) {
  auto results = MakeAllocationResults(claims, node, f.found, f.features, f.random);
  for (const api::AllocationResult& result : *results) f.inventory.AddAllocation(result);
  return *std::move(results);
}

// The claims of a pod made from one of a few templates; their names are the pod's own.
std::vector<api::ResourceClaim> ClaimsOfPod(uint32_t of_template, int pod) {
  const std::string name = "pod-" + std::to_string(pod) + "-claim";
  switch (of_template) {
    case 0:
      return {ClaimBuilder(name).Request({"r", "a"}).claim};
    case 1:
      return {ClaimBuilder(name).Request({"r", "a", 2}).Match("driver-a/numa").claim};
    case 2:
      return {ClaimBuilder(name)
                  .Request(FirstOf("r", {RequestBuilder("x", "a").Selector("model=x"),
                                         RequestBuilder("y", "a")}))
                  .claim};
    case 3:
      return {ClaimBuilder(name).Request(RequestBuilder("r", "a").Tolerates("t")).claim,
              ClaimBuilder(name + "-2").Request(RequestBuilder("r", "a").All().Admin()).claim};
    case 4:
      return {ClaimBuilder(name).Request(RequestBuilder("r", "a").Capacity("memory", "1")).claim};
    case 5:
      return {ClaimBuilder(name).Request(RequestBuilder("r", "a").Selector("runtime!d2")).claim};
    default:
      return {ClaimBuilder(name).Request({"r", "gone"}).claim};
  }
}

SliceBuilder RandomSlice(std::mt19937& random, const std::string& name, const std::string& pool) {
  SliceBuilder slice(name, "driver-a", pool);
  slice.Of(random() % 8 == 0 ? 2 : 1, random() % 6 == 0 ? 2 : 1);
  for (uint32_t i = 0; i < 1 + random() % 4; ++i) {
    DeviceBuilder device("d" + std::to_string(i));
    device.Int("numa", random() % 2).String("model", random() % 2 == 0 ? "x" : "y");
    device.Capacity("memory", "3");
    if (random() % 3 == 0) device.Shared();
    if (random() % 4 == 0) device.Taint("t");
    slice.Device(device);
  }
  return slice;
}

TEST(KeptVerdictsPropertyTest, AreWhatSearchesGive) {
  constexpr uint32_t kNodes = 6;
  uint64_t found = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    AllocatorFixture f;
    Nodes cluster(kNodes);
    KeptVerdicts kept(f.inventory, f.allocator);
    std::vector<api::AllocationResult> held;
    for (int step = 0; step < 120; ++step) {
      const uint32_t change = step < 8 ? 0 : static_cast<uint32_t>(random() % 12);
      const std::string node = "node-" + std::to_string(1 + random() % kNodes);
      if (change == 0) {
        if (random() % 8 == 0) {
          f.inventory.RemoveSlice("s-" + node);
        } else {
          // A pool may have slices of several nodes.
          const std::string pool = random() % 5 == 0 ? "several" : node;
          f.Add(RandomSlice(random, "s-" + node, pool).Node(node));
        }
      } else if (change == 1) {
        if (random() % 4 == 0) {
          f.inventory.RemoveSlice("shared");
        } else {
          const std::string pool = random() % 3 == 0 ? "several" : "shared";
          f.Add(RandomSlice(random, "shared", pool).Label("name", node));
        }
      } else if (change == 2) {
        f.classes[0] = MakeClass("a", {random() % 2 == 0 ? "driver:driver-a" : "model=x"});
      } else if (change == 3) {
        // Other nodes: a label is another.
        cluster.nodes[random() % kNodes].metadata.labels[0].second = node;
        cluster.snapshot.emplace(cluster.names, cluster.nodes, std::vector<api::Pod>());
      } else if (change < 6 && !held.empty()) {
        f.inventory.RemoveAllocation(held.back());
        held.pop_back();
      }
      const auto claims = ClaimsOfPod(static_cast<uint32_t>(random() % 7), step);
      const ClaimsToAllocate prepared = Prepare(f, claims);
      const NodeVerdicts verdicts = kept.Find(prepared, *cluster.snapshot, kPlenty);
      ASSERT_EQ(verdicts, cluster.SearchAll(f, prepared)) << step;
      // The pod takes what one of the nodes has.
      const NodeRow row = static_cast<NodeRow>(random() % kNodes);
      if (!verdicts.allocated.Test(row) || change == 7) continue;
      ++found;
      f.allocator.Allocate(prepared, row, cluster.nodes[row], kPlenty.each_node, f.found);
      for (const api::AllocationResult& result : TakeFound(f, prepared, cluster.nodes[row]))
        held.push_back(result);
    }
  }
  EXPECT_GT(found, 300u);  // else nothing is tested
}

TEST(KeptVerdictsTest, OnlyTheNodesWhoseDevicesWereTakenAreSearchedAgain) {
  AllocatorFixture f;
  Nodes cluster(6);
  KeptVerdicts kept(f.inventory, f.allocator);
  for (const api::Node& node : cluster.nodes) {
    const std::string& name = node.metadata.name;
    f.Add(SliceBuilder("s-" + name, "driver-a", name).Node(name).Devices({"d1", "d2"}));
  }
  for (int pod = 0; pod < 12; ++pod) {
    const auto claims = ClaimsOfPod(0, pod);
    const ClaimsToAllocate prepared = Prepare(f, claims);
    const NodeVerdicts& verdicts = kept.Find(prepared, *cluster.snapshot, kPlenty);
    EXPECT_EQ(kept.num_searches(), 6u + static_cast<uint64_t>(pod));
    ASSERT_FALSE(verdicts.allocated.Empty());
    const auto row = static_cast<NodeRow>(pod % 6);
    ASSERT_TRUE(verdicts.allocated.Test(row));
    f.allocator.Allocate(prepared, row, cluster.nodes[row], 1000, f.found);
    TakeFound(f, prepared, cluster.nodes[row]);
  }
  const auto claims = ClaimsOfPod(0, 12);
  EXPECT_TRUE(kept.Find(Prepare(f, claims), *cluster.snapshot, kPlenty).allocated.Empty());
}

// One snapshot that changes, as the cache does.
class ChangingSnapshot : public test::PlainSnapshot {
 public:
  using PlainSnapshot::PlainSnapshot;

  void MovePod() { ++changes_; }
  void ChangeNode(NodeRow row) {
    ++changes_;
    changed_nodes_.push_back(row);
  }

  uint64_t generation() const override { return changes_; }
  bool RowsChangedSince(uint64_t, std::vector<NodeRow>& rows) const override {
    nodes().ForEach([&](NodeRow row) { rows.push_back(row); });
    return true;
  }
  bool NodesChangedSince(uint64_t, std::vector<NodeRow>& rows) const override {
    rows.insert(rows.end(), changed_nodes_.begin(), changed_nodes_.end());
    return true;
  }

 private:
  uint64_t changes_ = 0;
  std::vector<NodeRow> changed_nodes_;
};

TEST(KeptVerdictsTest, PodsThatComeAndGoSearchNoNodeAgain) {
  AllocatorFixture f;
  const Nodes cluster(4);
  test::PlainResourceNames names;
  ChangingSnapshot snapshot(names, cluster.nodes);
  KeptVerdicts kept(f.inventory, f.allocator);
  f.Add(SliceBuilder("s-1", "driver-a", "node-1").Node("node-1").Devices({"d1"}));
  const auto claims = ClaimsOfPod(0, 0);
  const ClaimsToAllocate prepared = Prepare(f, claims);
  kept.Find(prepared, snapshot, kPlenty);
  EXPECT_EQ(kept.num_searches(), 4u);
  snapshot.MovePod();
  EXPECT_EQ(kept.Find(prepared, snapshot, kPlenty), cluster.SearchAll(f, prepared));
  EXPECT_EQ(kept.num_searches(), 4u);
  snapshot.ChangeNode(2);
  kept.Find(prepared, snapshot, kPlenty);
  EXPECT_EQ(kept.num_searches(), 5u);
}

TEST(KeptVerdictsTest, ASliceLetsOnlyTheNodesOfItsPoolBeSearchedAgain) {
  AllocatorFixture f;
  Nodes cluster(6);
  KeptVerdicts kept(f.inventory, f.allocator);
  const auto claims = ClaimsOfPod(0, 0);
  const ClaimsToAllocate prepared = Prepare(f, claims);
  uint64_t before = 0;
  // How many nodes were searched since the last call, with the verdicts as they should be.
  const auto searched = [&] {
    EXPECT_EQ(kept.Find(prepared, *cluster.snapshot, kPlenty), cluster.SearchAll(f, prepared));
    return kept.num_searches() - std::exchange(before, kept.num_searches());
  };
  const auto slice = [](const std::string& name, const std::string& pool) {
    return SliceBuilder(name, "driver-a", pool).Devices({"d1"});
  };
  EXPECT_EQ(searched(), 6u);
  f.Add(slice("s-1", "own").Node("node-1"));
  EXPECT_EQ(searched(), 1u);
  EXPECT_EQ(searched(), 0u);
  f.Add(slice("s-2", "several").Node("node-2"));
  f.Add(slice("s-3", "several").Node("node-3").Of(1, 2));
  EXPECT_EQ(searched(), 2u);
  // The slice of node 2 is of the newest generation again.
  f.inventory.RemoveSlice("s-3");
  EXPECT_EQ(searched(), 2u);
  f.Add(slice("s-9", "elsewhere").Node("node-9"));
  EXPECT_EQ(searched(), 0u) << "there is no such node";
  f.Add(slice("shared", "shared").AllNodes());
  EXPECT_EQ(searched(), 6u);
  f.inventory.RemoveSlice("shared");
  EXPECT_EQ(searched(), 6u);
  for (int i = 0; i < 10'000; ++i) f.Add(slice("s-1", "own").Node("node-1"));
  EXPECT_EQ(searched(), 6u) << "more changes than are remembered";
}

TEST(KeptVerdictsTest, WhereStepsEndNothingIsKept) {
  AllocatorFixture f;
  Nodes cluster(3);
  KeptVerdicts kept(f.inventory, f.allocator);
  for (const api::Node& node : cluster.nodes) {
    const std::string& name = node.metadata.name;
    f.Add(SliceBuilder("s-" + name, "driver-a", name).Node(name).Devices({"d1"}));
  }
  const auto claims = ClaimsOfPod(0, 0);
  const ClaimsToAllocate prepared = Prepare(f, claims);
  const NodeVerdicts few =
      kept.Find(prepared, *cluster.snapshot, {.each_node = 1000, .all_nodes = 6});
  EXPECT_TRUE(few.allocated.Test(0));
  EXPECT_TRUE(few.failed.Test(2));
  const NodeVerdicts all = kept.Find(prepared, *cluster.snapshot, kPlenty);
  EXPECT_EQ(all.allocated.Count(), 3u);
  EXPECT_TRUE(all.failed.Empty());
}

}  // namespace
}  // namespace berth::plugins::dra
