// SPDX-License-Identifier: Apache-2.0
// The figures that a survey takes from columns, in steps, are those of docs/packing.md computed
// plainly from the objects; whatever came and went before, and during a survey that was given up.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "src/packing/survey.h"
#include "tests/support/plain_resource_names.h"
#include "tests/support/random_cluster.h"
#include "tests/unit/simulator/simulator_fixture.h"

namespace berth::packing {
namespace {

__extension__ typedef __int128 Wide;

constexpr uint64_t kClusters = 150;
constexpr size_t kNodes = 12;

using ByName = std::map<std::string, int64_t>;
// Of the larger of two shapes that as many pods have, all this is larger.
using Shape = std::tuple<int64_t, int64_t, int64_t, std::vector<std::pair<std::string, int64_t>>>;

int64_t At(const ByName& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

struct PlainNode {
  std::string pool;
  bool open = false;
  ByName allocatable;
  ByName requested;
  ByName tied;
  int64_t allowed_pods = 0;
  int64_t pods = 0;
  int64_t tied_pods = 0;

  int64_t Free(const std::string& name) const {
    return At(allocatable, name) - At(requested, name);
  }
  int64_t slots() const { return allowed_pods - pods; }
  bool Fits(const ByName& shape) const {
    return slots() > 0 && std::ranges::all_of(shape, [this](const auto& asked) {
             return asked.second <= Free(asked.first);
           });
  }
};

// The twin.
class PlainFigures {
 public:
  explicit PlainFigures(const simulator::Simulation& simulation) {
    simulation.api().ForEach(informers::Kind::kNode, [this](const api::ObjectPtr& object) {
      AddNode(*api::As<api::Node>(object));
    });
    simulation.api().ForEach(informers::Kind::kPod, [this](const api::ObjectPtr& object) {
      AddPod(std::get<std::shared_ptr<const api::Pod>>(object));
    });
  }

  Figures Compute() {
    std::set<std::string> pools;
    for (const auto& [name, node] : nodes_) pools.insert(node.pool);
    for (const std::string& pool : pools) figures_.pools.push_back(ComputePool(pool));
    AddOvercommitted();
    return figures_;
  }

 private:
  ByName Named(const Resources& amounts) const {
    ByName named = {{"cpu", amounts.milli_cpu},
                    {"memory", amounts.memory},
                    {"ephemeral-storage", amounts.ephemeral_storage}};
    for (const auto& [id, amount] : amounts.scalars) named[std::string(names_.Name(id))] = amount;
    std::erase_if(named, [](const auto& entry) { return entry.second == 0; });
    return named;
  }

  void AddNode(const api::Node& object) {
    PlainNode& node = nodes_[object.metadata.name];
    node.pool = NodePoolOf(object);
    node.open = !object.spec.unschedulable;
    for (const api::Taint& taint : object.spec.taints) {
      if (taint.key.starts_with("node.kubernetes.io/") && taint.effect != "PreferNoSchedule") {
        node.open = false;
      }
    }
    node.allocatable = Named(ToResources(object.status.allocatable, names_));
    for (const auto& [name, amount] : node.allocatable) {
      if (IsScalarResourceName(name)) scalars_.insert(name);
    }
    for (const auto& [name, quantity] : object.status.allocatable) {
      if (name == "pods") node.allowed_pods = quantity.Value();
    }
  }

  void AddPod(const std::shared_ptr<const api::Pod>& object) {
    const auto info = PodInfo::Make(object, names_);
    const ByName requests = Named(info->requests);
    if (object->spec.node_name.empty()) {
      if (object->spec.scheduler_name != "default-scheduler") return;
      ++figures_.pending;
      if (!requests.empty()) ++pending_[requests];
      return;
    }
    const auto found = nodes_.find(object->spec.node_name);
    if (found == nodes_.end()) return;
    PlainNode& node = found->second;
    ++figures_.pods;
    ++node.pods;
    bool tied = false;
    for (const api::OwnerReference& owner : object->metadata.owner_references) {
      tied |= owner.controller && (owner.kind == "DaemonSet" || owner.kind == "Node");
    }
    for (const auto& [name, amount] : Named(info->placed)) {
      node.requested[name] += amount;
      if (tied) node.tied[name] += amount;
    }
    if (tied) {
      ++node.tied_pods;
    } else if (!requests.empty()) {
      ++shapes_[node.pool][requests];
      ++shapes_of_all_[requests];
    }
  }

  static Shape Order(const ByName& shape) {
    std::vector<std::pair<std::string, int64_t>> scalars;
    for (const auto& entry : shape) {
      if (IsScalarResourceName(entry.first)) scalars.push_back(entry);
    }
    return {At(shape, "cpu"), At(shape, "memory"), At(shape, "ephemeral-storage"), scalars};
  }

  static std::vector<ByName> MostFrequent(const std::map<ByName, size_t>& counts, size_t most) {
    std::vector<std::tuple<size_t, Shape, ByName>> sorted;
    size_t pods = 0;
    for (const auto& [shape, count] : counts) {
      sorted.emplace_back(count, Order(shape), shape);
      pods += count;
    }
    std::ranges::sort(sorted, std::greater<>());
    std::vector<ByName> chosen;
    size_t covered = 0;
    for (const auto& [count, order, shape] : sorted) {
      if (10 * covered >= 9 * pods || chosen.size() == most) break;
      chosen.push_back(shape);
      covered += count;
    }
    return chosen;
  }

  // Those that are told apart: random clusters have fewer than the most.
  std::vector<std::string> ResourceList() const {
    std::vector<std::string> resources = {"cpu", "memory", "ephemeral-storage"};
    resources.insert(resources.end(), scalars_.begin(), scalars_.end());
    return resources;
  }

  PoolFigures ComputePool(const std::string& name) {
    PoolFigures pool;
    pool.name = name;
    std::vector<const PlainNode*> nodes;
    for (const auto& [key, node] : nodes_) {
      if (node.pool == name) nodes.push_back(&node);
    }
    const auto& counts = shapes_[name].empty() ? shapes_of_all_ : shapes_[name];
    const std::vector<ByName> typical = MostFrequent(counts, 32);
    std::vector<ByName> shapes = MostFrequent(pending_, 64);
    shapes.insert(shapes.end(), typical.begin(), typical.end());
    if (!typical.empty()) pool.typical_pod = TypicalPod(typical.front());
    for (const std::string& resource : ResourceList()) {
      pool.resources.push_back(ComputeResource(resource, nodes, shapes));
    }
    ByName needs;
    int64_t pods = 0;
    int64_t largest_pods = 0;
    for (const PlainNode* node : nodes) {
      ++(node->open ? pool.open_nodes : pool.closed_nodes);
      if (node->pods > node->tied_pods) ++pool.used_nodes;
      for (const auto& [resource, amount] : node->requested) {
        needs[resource] += amount - At(node->tied, resource);
      }
      pods += node->pods - node->tied_pods;
      largest_pods = std::max(largest_pods, node->allowed_pods - node->tied_pods);
      if (node->open && node->slots() > 0 && !typical.empty()) {
        pool.largest_gang += CopiesOn(*node, typical.front());
      }
    }
    if (pods > 0 && largest_pods > 0) {
      pool.lower_bound = static_cast<size_t>((pods + largest_pods - 1) / largest_pods);
    }
    for (const std::string& resource : ResourceList()) {
      int64_t largest = 0;
      for (const PlainNode* node : nodes) {
        largest = std::max(largest, At(node->allocatable, resource) - At(node->tied, resource));
      }
      if (largest <= 0) continue;
      const int64_t least = (At(needs, resource) + largest - 1) / largest;
      pool.lower_bound = std::max(pool.lower_bound, static_cast<size_t>(least));
    }
    pool.largest_pod = LargestPod(At(needs, "cpu"), At(needs, "memory"), nodes);
    return pool;
  }

  static NamedAmounts TypicalPod(const ByName& shape) {
    NamedAmounts amounts;
    for (const char* first : {"cpu", "memory", "ephemeral-storage"}) {
      if (At(shape, first) > 0) amounts.emplace_back(first, At(shape, first));
    }
    for (const auto& entry : shape) {
      if (IsScalarResourceName(entry.first)) amounts.push_back(entry);
    }
    return amounts;
  }

  // One by one.
  static uint64_t CopiesOn(PlainNode node, const ByName& shape) {
    uint64_t copies = 0;
    for (; node.Fits(shape); ++copies, ++node.pods) {
      for (const auto& [resource, amount] : shape) node.requested[resource] += amount;
    }
    return copies;
  }

  static ResourceFigures ComputeResource(const std::string& resource,
                                         const std::vector<const PlainNode*>& nodes,
                                         const std::vector<ByName>& shapes) {
    ResourceFigures figures;
    figures.resource = resource;
    for (const PlainNode* node : nodes) {
      figures.allocatable += At(node->allocatable, resource);
      figures.requested += At(node->requested, resource);
      if (!node->open) continue;
      const int64_t free = node->Free(resource);
      if (node->slots() > 0) figures.largest_free = std::max(figures.largest_free, free);
      const bool asked = std::ranges::any_of(shapes, [&](const ByName& shape) {
        return At(shape, resource) > 0 && At(shape, resource) <= free;
      });
      const bool used = std::ranges::any_of(shapes, [&](const ByName& shape) {
        return At(shape, resource) > 0 && node->Fits(shape);
      });
      if (asked && !used) figures.stranded += free;
    }
    return figures;
  }

  // The largest number of milli-cores, tried from above.
  static std::optional<PoolFigures::Pod> LargestPod(int64_t cpu, int64_t memory,
                                                    const std::vector<const PlainNode*>& nodes) {
    if (cpu <= 0 || memory <= 0) return std::nullopt;
    int64_t largest = 0;
    for (const PlainNode* node : nodes) {
      if (!node->open || node->slots() <= 0) continue;
      for (int64_t milli = node->Free("cpu"); milli > largest; --milli) {
        if (Wide{milli} * memory <= Wide{node->Free("memory")} * cpu) largest = milli;
      }
    }
    if (largest == 0) return std::nullopt;
    return PoolFigures::Pod{largest, static_cast<int64_t>(Wide{largest} * memory / cpu)};
  }

  void AddOvercommitted() {
    std::map<std::string, size_t> by_resource;
    for (const auto& [name, node] : nodes_) {
      std::set<std::string> of;
      for (const auto& [resource, amount] : node.requested) {
        if (amount <= At(node.allocatable, resource)) continue;
        of.insert(IsScalarResourceName(resource) && !scalars_.contains(resource) ? "other"
                                                                                 : resource);
      }
      if (node.pods > node.allowed_pods) of.insert("pods");
      for (const std::string& resource : of) ++by_resource[resource];
      if (!of.empty()) ++figures_.overcommitted_nodes;
    }
    std::vector<std::string> resources = ResourceList();
    resources.insert(resources.end(), {"other", "pods"});
    for (const std::string& resource : resources) {
      figures_.overcommitted.emplace_back(resource, by_resource[resource]);
    }
  }

  test::PlainResourceNames names_;
  std::map<std::string, PlainNode> nodes_;
  std::map<std::string, std::map<ByName, size_t>> shapes_;  // by pool
  std::map<ByName, size_t> shapes_of_all_;
  std::map<ByName, size_t> pending_;
  std::set<std::string> scalars_;  // that nodes offer
  Figures figures_;
};

class SurveyPropertyTest : public test::SimulatorFixture {
 protected:
  void ApplyNode(Random& random, api::Node node) {
    if (random.Below(3) != 0) {
      node.metadata.labels.emplace_back("karpenter.sh/nodepool",
                                        "pool-" + std::to_string(random.Below(3)));
      std::ranges::sort(node.metadata.labels);
    }
    simulation_->Apply(std::make_shared<const api::Node>(std::move(node)));
  }
  void ApplyPod(Random& random, api::Pod pod) {
    // Few shapes, so that some are frequent.
    if (random.Below(3) != 0) {
      const api::Pod like = test::RandomPod(shapes_, 0, kNodes);
      pod.spec.containers = like.spec.containers;
      pod.spec.init_containers.clear();
      pod.spec.resources = {};
      if (random.Below(3) == 0) shapes_ = Random(7);
    }
    if (random.Below(6) == 0) {
      api::OwnerReference owner;
      owner.kind = random.Below(2) == 0 ? "DaemonSet" : "ReplicaSet";
      owner.controller = true;
      pod.metadata.owner_references = {owner};
    }
    simulation_->Apply(std::make_shared<const api::Pod>(std::move(pod)));
  }
  // Anything comes, goes or changes.
  void ChangeSomething(Random& random) {
    const size_t index = random.Below(60);
    const std::string node = "node-" + std::to_string(random.Below(kNodes));
    switch (random.Below(8)) {
      case 0:
        simulation_->Delete(informers::Kind::kNode, node);
        break;
      case 1:
        ApplyNode(random, std::move(test::RandomNodes(random, kNodes)[random.Below(kNodes)]));
        break;
      case 2:
        if (!pods_.empty()) {
          Forget(std::next(pods_.begin(), static_cast<std::ptrdiff_t>(random.Below(pods_.size())))
                     ->first);
        }
        break;
      default: {
        api::Pod pod = test::RandomPod(random, index, kNodes);
        Forget(pod.metadata.name);
        pod.spec.scheduler_name = random.Below(5) == 0 ? "another" : "default-scheduler";
        pod.spec.node_name = random.Below(3) == 0 ? "" : node;
        pods_[pod.metadata.name] = pod.metadata.Key();
        ApplyPod(random, std::move(pod));
        break;
      }
    }
    simulation_->RunDue();
  }
  void Forget(const std::string& name) {
    const auto known = pods_.find(name);
    if (known == pods_.end()) return;
    simulation_->Delete(informers::Kind::kPod, known->second);
    pods_.erase(known);
  }
  bool Step(Survey& survey) {
    return survey.Step(simulation_->scheduler().cache(), simulation_->scheduler().pending_pods());
  }

  Random shapes_{7};
  std::map<std::string, std::string> pods_;  // keys by name
};

TEST_F(SurveyPropertyTest, AreThoseOfThePlainFormulas) {
  size_t stranded = 0;
  size_t overcommitted = 0;
  size_t gangs = 0;
  for (uint64_t seed = 1; seed <= kClusters; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Restart();
    pods_.clear();
    for (api::Node& node : test::RandomNodes(random, kNodes)) ApplyNode(random, std::move(node));
    for (size_t i = random.Below(120); i > 0; --i) ChangeSomething(random);
    Survey given_up;
    for (size_t steps = 0; steps < 200 && Step(given_up); ++steps) {
      if (random.Below(3) == 0) ChangeSomething(random);
    }
    Survey survey;
    while (Step(survey)) {
    }
    const Figures figures = survey.Take();
    const Figures plain = PlainFigures(*simulation_).Compute();
    ASSERT_EQ(figures.pools, plain.pools);
    ASSERT_EQ(figures, plain);
    for (const PoolFigures& pool : figures.pools) {
      for (const ResourceFigures& of : pool.resources) stranded += of.stranded > 0 ? 1 : 0;
      gangs += pool.largest_gang > 0 ? 1 : 0;
    }
    overcommitted += figures.overcommitted_nodes;
    for (const char* resource : {"cpu", "memory", "nvidia.com/gpu"}) {
      const auto stranding = MeasureStranding(simulation_->scheduler().cache(),
                                              simulation_->scheduler().pending_pods(), resource);
      int64_t of_pools = 0;
      bool has_figures = false;
      for (const PoolFigures& pool : figures.pools) {
        for (const ResourceFigures& of : pool.resources) {
          if (of.resource != resource) continue;
          of_pools += of.stranded;
          has_figures = true;
        }
      }
      ASSERT_TRUE(stranding || !has_figures);
      if (!stranding) continue;
      int64_t of_nodes = 0;
      for (const StrandedNode& node : stranding->nodes) {
        of_nodes += node.amount;
        EXPECT_FALSE(node.shapes.empty());
      }
      EXPECT_EQ(stranding->amount, of_pools);
      EXPECT_EQ(of_nodes, of_pools);
      EXPECT_EQ(stranding->pools, figures.pools.size());
    }
  }
  EXPECT_GT(stranded, 20u);
  EXPECT_GT(gangs, 50u);
  EXPECT_GT(overcommitted, 50u);
}

}  // namespace
}  // namespace berth::packing
