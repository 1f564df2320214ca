// SPDX-License-Identifier: Apache-2.0
// An engine that keeps what plugins answered decides as one that evaluates every pod by itself,
// whatever happens to the cluster in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/in_tree_registry.h"
#include "src/cache/cache.h"
#include "src/engine/engine.h"
#include "src/engine/kept_evaluations.h"
#include "tests/support/builders.h"
#include "tests/support/default_plugins.h"
#include "tests/support/fake_handle.h"
#include "tests/support/random_cluster.h"

namespace berth::engine {
namespace {

constexpr uint64_t kStepsEach = 500;
constexpr size_t kTemplates = 12;

// BERTH_KEPT_EVENTS asks for a long run.
uint64_t NumEvents() {
  const char* events = std::getenv("BERTH_KEPT_EVENTS");
  return events == nullptr ? 40'000 : std::strtoull(events, nullptr, 10);
}

class NoNominations final : public NominatedPods {
 public:
  void ForEach(const std::function<void(std::string_view, const PodInfo&)>&) const override {}
  bool empty() const override { return true; }
};

// Resources and topology keys that some pods name, and few nodes have.
constexpr uint64_t kTenantNames = 20;
std::string TenantName(uint64_t number) { return "tenant.io/r" + std::to_string(number); }

// A label by which pods of one template differ.
constexpr const char* kIndex = "apps.kubernetes.io/pod-index";

struct Tally {
  uint64_t events = 0;
  uint64_t decisions = 0;
  uint64_t scheduled = 0;
  uint64_t kept = 0;
};

// Pods that are all alike but for their names come from one template.
class Walk {
 public:
  explicit Walk(uint64_t seed)
      : random_(seed),
        num_nodes_(random_.Below(8) == 0 ? 140 : 3 + random_.Below(30)),
        plain_(Random(seed)),
        max_kept_bytes_(random_.Below(4) == 0 ? 40'000 : 64u << 20),
        kept_(Random(seed), cache_, max_kept_bytes_) {
    for (const std::string_view name : {"nvidia.com/gpu", "vendor.io/fpga"}) {
      EXPECT_EQ(handle_.names.Intern(name), cache_.mutable_resource_names().Intern(name));
    }
    for (uint64_t i = 0; i < kTenantNames; ++i) {
      const std::string name = TenantName(i);
      EXPECT_EQ(handle_.names.Intern(name), cache_.mutable_resource_names().InternPassing(name));
    }
    handle_.current_snapshot = &cache_;
    config::Profile config;
    config.scheduler_name = "default-scheduler";
    config.plugins.multi_point.enabled = test::DefaultPlugins();
    auto made = framework::Profile::Make(config, plugins::InTreeRegistry(), handle_);
    EXPECT_TRUE(made.has_value());
    profile_ = std::move(*made);
    cache_.SetSignatureParts(profile_->signature_parts());
    for (const api::Namespace& known : test::RandomNamespaces(random_)) {
      handle_.plain_listers.Set(known);
    }
    for (size_t i = 0; i < num_nodes_; ++i) SetNode(i);
    for (size_t i = 0; i < kTemplates; ++i) {
      api::Pod pod = test::RandomPod(random_, i, num_nodes_);
      pod.spec.node_name.clear();
      // Most of what is required at random no node has.
      if (random_.Below(2) == 0) {
        pod.spec.node_selector.clear();
        if (pod.spec.affinity && pod.spec.affinity->node_affinity) {
          pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution
              .reset();
        }
      }
      if (random_.Below(4) == 0) pod.spec.affinity = std::nullopt;
      if (random_.Below(4) == 0) AddTenantNames(pod);
      templates_.push_back(std::move(pod));
    }
  }

  void Run(Tally& tally) {
    for (uint64_t step = 0; step < kStepsEach && !testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      ++tally.events;
      late_ = step > kStepsEach / 2;
      Step(tally);
    }
    tally.kept += kept_.kept()->num_decided();
  }

 private:
  void Step(Tally& tally) {
    const uint64_t what = random_.Below(100);
    if (what < 60) {
      // Runs of one class, and classes in turn.
      if (random_.Below(3) == 0) last_template_ = random_.Below(kTemplates);
      Decide(last_template_, tally);
    } else if (what < 75) {
      RemoveSomePod();
    } else if (what < 80) {
      PlaceSomePod();
    } else if (what < 86) {
      SetNode(random_.Below(num_nodes_));
    } else if (what < 89) {
      cache_.RemoveNode("node-" + std::to_string(random_.Below(num_nodes_)));
    } else if (what < 92) {
      ChangeObjects();
    } else if (what < 95) {
      const std::string node = "node-" + std::to_string(random_.Below(num_nodes_));
      random_.Below(2) == 0 ? cache_.CloseNode(node, "default/unreadable")
                            : cache_.OpenNode("default/unreadable");
    } else {
      Trial(tally);
    }
  }

  void SetNode(size_t index) {
    api::Node node = std::move(test::RandomNodes(random_, 1).front());
    const std::string name = "node-" + std::to_string(index);
    node.metadata.name = name;
    for (auto& [key, value] : node.metadata.labels) {
      if (key == "kubernetes.io/hostname") value = name;
    }
    if (random_.Below(3) != 0) {
      node.spec.taints.clear();
      node.spec.unschedulable = false;
    }
    if (random_.Below(3) != 0) {
      node.status.allocatable = test::MakeResources({{"cpu", "32"},
                                                     {"ephemeral-storage", "30Gi"},
                                                     {"memory", "64Gi"},
                                                     {"nvidia.com/gpu", "8"},
                                                     {"pods", "30"}});
    }
    if (random_.Below(8) == 0) {
      const std::string rare = TenantName(random_.Below(kTenantNames));
      node.metadata.labels.emplace_back(rare, std::to_string(random_.Below(2)));
      std::ranges::sort(node.metadata.labels);
      node.status.allocatable.emplace_back(rare, api::Quantity::FromUnits(4));
      std::ranges::sort(node.status.allocatable, {}, &api::ResourceList::value_type::first);
    }
    cache_.SetNode(std::make_shared<const api::Node>(std::move(node)));
  }

  // A pod may ask for resources, and name keys, that no node or hardly any has.
  void AddTenantNames(api::Pod& pod) {
    if (random_.Below(2) == 0) {
      api::PodAffinityTerm term;
      term.topology_key = TenantName(random_.Below(kTenantNames));
      term.label_selector = api::LabelSelector{pod.metadata.labels, {}};
      if (!pod.spec.affinity) pod.spec.affinity.emplace();
      auto& anti = pod.spec.affinity->pod_anti_affinity;
      if (!anti) anti.emplace();
      anti->required_during_scheduling_ignored_during_execution.push_back(std::move(term));
    }
    if (pod.spec.containers.empty()) return;
    api::ResourceList& requests = pod.spec.containers.front().resources.requests;
    for (uint64_t i = random_.Below(3); i > 0; --i) {
      const std::string name = TenantName(random_.Below(kTenantNames));
      if (api::Find(requests, name) != nullptr) continue;
      requests.emplace_back(name, api::Quantity::FromUnits(static_cast<int64_t>(random_.Below(3))));
    }
    std::ranges::sort(requests, {}, &api::ResourceList::value_type::first);
  }

  PodInfoPtr NewPod(size_t which) {
    api::Pod pod = templates_[which];
    const std::string number = std::to_string(num_pods_++);
    pod.metadata.name = "pod-" + number;
    pod.metadata.uid = "uid-" + number;
    api::StringMap& labels = pod.metadata.labels;
    const std::pair<std::string, std::string> index{kIndex, number.substr(number.size() - 1)};
    labels.insert(std::lower_bound(labels.begin(), labels.end(), index), index);
    return cache_.MakePodInfo(std::make_shared<const api::Pod>(std::move(pod)));
  }

  void Decide(size_t which, Tally& tally) {
    const PodInfoPtr pod = NewPod(which);
    const World world{cache_, nominations_, handle_.plain_listers.generation()};
    framework::Cycle plain_cycle;
    framework::Cycle kept_cycle;
    const Decision plain = plain_.Schedule(*profile_, plain_cycle, *pod, world, 0);
    const Decision kept = kept_.Schedule(*profile_, kept_cycle, *pod, world, 0);
    ASSERT_EQ(plain.kind, kept.kind) << plain.error << " " << kept.error;
    ASSERT_EQ(plain.node, kept.node) << "template " << which;
    ASSERT_EQ(plain.feasible_nodes, kept.feasible_nodes);
    if (plain.kind == Decision::Kind::kUnfit) {
      ASSERT_EQ(FitErrorMessage(plain_.diagnosis()), FitErrorMessage(kept_.diagnosis()));
    }
    ASSERT_TRUE(kept_.kept()->bytes() <= max_kept_bytes_ || kept_.kept()->num_classes() == 1);
    ++tally.decisions;
    if (plain.kind != Decision::Kind::kScheduled) return;
    ++tally.scheduled;
    // As if Reserve rejected it: the next pod of its class finds nothing changed.
    if (random_.Below(6) == 0) return;
    ASSERT_TRUE(cache_.AssumePod(pod, plain.node).has_value());
    if (!in_trial_) placed_.push_back(pod);
  }

  void RemoveSomePod() {
    if (placed_.empty()) return;
    const size_t at = random_.Below(placed_.size());
    cache_.RemovePod(placed_[at]->pod->metadata.uid);
    placed_.erase(placed_.begin() + static_cast<ptrdiff_t>(at));
  }

  // Another scheduler's pod; its node may not be there.
  void PlaceSomePod() {
    api::Pod pod = test::RandomPlacedPods(random_, 1, num_nodes_).front();
    const std::string number = std::to_string(num_pods_++);
    pod.metadata.name = "pod-" + number;
    pod.metadata.uid = "uid-" + number;
    if (random_.Below(3) == 0) AddTenantNames(pod);
    if (late_ && random_.Below(4) == 0) {
      // Sooner or later somebody wants no pod of that number near.
      api::PodAffinityTerm term;
      term.topology_key = "kubernetes.io/hostname";
      term.namespaces = {templates_[random_.Below(kTemplates)].metadata.namespace_};
      term.label_selector = api::LabelSelector{{{kIndex, std::to_string(random_.Below(10))}}, {}};
      if (!pod.spec.affinity) pod.spec.affinity.emplace();
      auto& terms = pod.spec.affinity->pod_anti_affinity.emplace();
      terms.required_during_scheduling_ignored_during_execution.push_back(std::move(term));
    }
    const PodInfoPtr info = cache_.MakePodInfo(std::make_shared<const api::Pod>(std::move(pod)));
    ASSERT_TRUE(cache_.AddPod(info).has_value());
    placed_.push_back(info);
  }

  void ChangeObjects() {
    if (random_.Below(2) == 0) {
      for (const api::Namespace& known : test::RandomNamespaces(random_)) {
        handle_.plain_listers.Set(known);
      }
      return;
    }
    const api::Pod& pod = templates_[random_.Below(kTemplates)];
    api::Service service;
    service.metadata.name = "service-" + std::to_string(random_.Below(3));
    service.metadata.namespace_ = pod.metadata.namespace_;
    if (random_.Below(3) != 0) service.spec.selector = pod.metadata.labels;
    if (late_ && random_.Below(4) == 0) service.spec.selector = {{kIndex, "3"}};
    cache_.TestSelectorOf(std::make_shared<const api::Service>(service));
    handle_.plain_listers.Set(std::move(service));
  }

  // What is decided on trial must not be taken for true later.
  void Trial(Tally& tally) {
    cache::Trial trial = cache_.BeginTrial();
    in_trial_ = true;
    for (uint64_t i = random_.Below(4); i > 0; --i) {
      if (random_.Below(2) == 0 && !placed_.empty()) {
        cache_.RemovePod(placed_[random_.Below(placed_.size())]->pod->metadata.uid);
      } else {
        Decide(random_.Below(kTemplates), tally);
      }
    }
    in_trial_ = false;
    trial.Rollback();
  }

  Random random_;
  const size_t num_nodes_;
  test::FakeHandle handle_;
  cache::Cache cache_;
  std::unique_ptr<framework::Profile> profile_;
  NoNominations nominations_;
  Engine plain_;
  const size_t max_kept_bytes_;
  Engine kept_;
  std::vector<api::Pod> templates_;
  std::vector<PodInfoPtr> placed_;
  size_t num_pods_ = 0;
  size_t last_template_ = 0;
  bool in_trial_ = false;
  bool late_ = false;
};

TEST(KeptEvaluationsPropertyTest, KeepingAnswersChangesNoDecision) {
  Tally tally;
  for (uint64_t seed = 1; tally.events < NumEvents() && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Walk(seed).Run(tally);
  }
  EXPECT_GT(tally.kept, tally.scheduled / 2) << "little was kept, so little was compared";
  EXPECT_GT(tally.scheduled, tally.decisions / 3);
  RecordProperty("decisions", std::to_string(tally.decisions));
  RecordProperty("kept", std::to_string(tally.kept));
}

}  // namespace
}  // namespace berth::engine
