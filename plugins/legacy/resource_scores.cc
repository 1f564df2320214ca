// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "plugins/legacy/library.h"
#include "plugins/shared/allocation_strategy.h"

namespace berth::legacy {
namespace {

using plugins::ScoringStrategyType;

struct Allocation {
  int64_t allocatable = 0;
  int64_t allocated = 0;
};

int64_t IntegerOf(const ConfigValue& map, std::string_view field) {
  const auto value = map.Find(field);
  return value ? value->integer() : 0;
}

std::vector<plugins::UtilizationShapePoint> ReadShape(const ConfigValue& args) {
  std::vector<plugins::UtilizationShapePoint> shape;
  const auto points = args.Find("shape");
  for (size_t i = 0; points && i < points->size(); ++i) {
    shape.push_back({static_cast<int32_t>(IntegerOf((*points)[i], "utilization")),
                     static_cast<int32_t>(IntegerOf((*points)[i], "score"))});
  }
  return shape;
}

// A scoring strategy of NodeResourcesFit as a plugin of its own, as Kubernetes had it up to 1.22.
// It scores what NodeResourcesFit with that strategy scores.
//
// Thread safety: immutable; every method may run concurrently.
class ResourceScore : public ColumnScorePlugin {
 public:
  // `args` are valid, their defaults set.
  ResourceScore(ScoringStrategyType type, const ConfigValue& args, Handle handle)
      : strategy_(type, ReadShape(args)) {
    const auto resources = args.Find("resources");
    for (size_t i = 0; resources && i < resources->size(); ++i) {
      const ConfigValue resource = (*resources)[i];
      const auto name = resource.Find("name");
      names_.emplace_back(name ? name->string() : std::string_view());
      resources_.push_back({handle.resource(names_.back()), IntegerOf(resource, "weight"),
                            Handle::IsScalarResource(names_.back())});
    }
  }

  // From 0 to 100; needs no normalising.
  ScoreResult Score(const CycleState&, const PodView& pod, const NodeView& node) const override {
    const std::vector<Term> terms = TermsFor(pod);
    return {strategy_.Score(terms, [&](size_t i) {
      const ResourceId id = terms[i].id;
      return Allocation{node.allocatable(id),
                        id <= kMemory ? node.non_zero_requested(id) : node.requested(id)};
    })};
  }
  void ScoreNodes(const CycleState&, const PodView& pod, const Snapshot& snapshot,
                  const uint32_t* rows, int64_t* scores, size_t n) const override {
    const std::vector<Term> terms = TermsFor(pod);
    std::vector<std::pair<Column, Column>> columns;
    columns.reserve(terms.size());
    for (const Term& term : terms) {
      columns.emplace_back(snapshot.allocatable(term.id), term.id <= kMemory
                                                              ? snapshot.non_zero_requested(term.id)
                                                              : snapshot.requested(term.id));
    }
    for (size_t i = 0; i < n; ++i) {
      scores[i] = strategy_.Score(terms, [&](size_t term) {
        return Allocation{columns[term].first[rows[i]], columns[term].second[rows[i]]};
      });
    }
  }

 private:
  struct Resource {
    ResourceId id = 0;
    int64_t weight = 0;
    bool scalar = false;
  };
  // A resource to score for one pod. Scalar resources that the pod does not ask for have none.
  struct Term {
    ResourceId id = 0;
    int64_t weight = 0;
    int64_t pod_request = 0;
  };

  std::vector<Term> TermsFor(const PodView& pod) const {
    const std::vector<int64_t> amounts = pod.ScoredRequests(names_);
    std::vector<Term> terms;
    terms.reserve(resources_.size());
    for (size_t i = 0; i < resources_.size(); ++i) {
      if (resources_[i].scalar && amounts[i] == 0) continue;
      terms.push_back({resources_[i].id, resources_[i].weight, amounts[i]});
    }
    return terms;
  }

  plugins::AllocationStrategy strategy_;
  std::vector<std::string> names_;
  std::vector<Resource> resources_;  // of the same length
};

template <ScoringStrategyType type>
class ScoreOf final : public ResourceScore {
 public:
  ScoreOf(const ConfigValue& args, Handle handle) : ResourceScore(type, args, handle) {}
};

constexpr PluginOptions kScoreOptions = {.declares_inputs = true,
                                         .pod_parts = BERTH_READS_POD_REQUESTS,
                                         .reach = BERTH_REACH_NODE | BERTH_REACH_USAGE};

}  // namespace

berth_plugin NodeResourcesLeastAllocatedPlugin() {
  return Define<ScoreOf<ScoringStrategyType::kLeastAllocated>>("NodeResourcesLeastAllocated",
                                                               kScoreOptions);
}
berth_plugin NodeResourcesMostAllocatedPlugin() {
  return Define<ScoreOf<ScoringStrategyType::kMostAllocated>>("NodeResourcesMostAllocated",
                                                              kScoreOptions);
}
berth_plugin RequestedToCapacityRatioPlugin() {
  return Define<ScoreOf<ScoringStrategyType::kRequestedToCapacityRatio>>("RequestedToCapacityRatio",
                                                                         kScoreOptions);
}

}  // namespace berth::legacy
