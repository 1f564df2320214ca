// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "berth/in_tree/points.h"
#include "berth/node_set.h"
#include "berth/pod_info.h"
#include "berth/random.h"
#include "src/cache/pod_classes.h"
#include "src/engine/changes.h"
#include "src/engine/counted_bytes.h"
#include "src/engine/decision.h"
#include "src/engine/diagnosis.h"
#include "src/engine/evaluation_plan.h"
#include "src/engine/kept_class.h"
#include "src/engine/kept_rejections.h"
#include "src/engine/sample.h"
#include "src/framework/runtime.h"

namespace berth::engine {

// Decides pods from what is kept of earlier pods of their class, and keeps it.
//
// A class is kept from its second pod on (that no node takes it, and why: from the first), until
// one of these drops it, which costs time, never correctness: none of its pods was decided for
// kMaxAge calls of Age(), or what is kept takes more memory than allowed and all other classes were
// decided later.
//
// Thread safety: the scheduling thread.
class KeptEvaluations {
 public:
  // `cache` must outlive this.
  KeptEvaluations(const cache::Cache& cache, size_t max_bytes)
      : cache_(cache), changes_(cache), max_bytes_(max_bytes) {}

  // What Engine::Schedule would decide, without its diagnosis: nullopt where the pod must be
  // evaluated by itself, be it only to tell why no node takes it. Of the plugins, those that are
  // asked about each pod leave their data in `cycle`. `sample`: nullptr where all nodes are scored.
  std::optional<Decision> Decide(const framework::Profile& profile, framework::Cycle& cycle,
                                 const PodInfo& pod, const ClusterState& cluster,
                                 const Sample* sample, Random& random);

  // What is kept of why no node takes the pods of the class; nullptr: nothing is.
  KeptRejections* FindRejections(const framework::Profile& profile, const PodInfo& pod);
  // Keeps what an evaluation of the pod in `cycle`, in which no extender was asked, has just found;
  // nullptr where it cannot be kept. Good until the next call.
  KeptRejections* KeepRejections(const framework::Profile& profile, const framework::Cycle& cycle,
                                 const PodInfo& pod, const ClusterState& cluster,
                                 const Diagnosis& diagnosis);
  void DropRejections(const framework::Profile& profile, const PodInfo& pod);

  // Drops classes until the rest has room, but for the one that was asked about last.
  void Evict();
  // To be called at even intervals: a class that is not decided any more, as that of a Deployment
  // that was rolled over, goes in the end. Why it was rejected goes earlier, however many pods were
  // refused by that: what should have ended it may have been missed.
  void Age();
  static constexpr uint32_t kMaxAge = 10;
  static constexpr uint32_t kMaxRejectionsAge = 5;

  // Forgets everything; to be called before a profile ends.
  void Clear();

  // What is kept: verdicts, scores, what plugins derived for them or keep by themselves, and the
  // boards; about.
  size_t bytes() const { return bytes_; }
  size_t num_classes() const { return by_use_.size(); }
  // Decisions that needed no evaluation of their own.
  uint64_t num_decided() const { return num_decided_; }

 private:
  struct Entry {
    PodClassId pod_class = kNoPodClass;
    const framework::Profile* profile = nullptr;
    uint32_t wait = 1;      // pods to go by before it is kept
    uint32_t failures = 0;  // to keep it, one after the other
    uint32_t decided = 0;   // age_ when one of its pods was decided last
    uint32_t rejected = 0;  // age_ when the rejections were found
    std::unique_ptr<KeptRejections> rejections;
    std::unique_ptr<KeptClass> kept;
  };
  struct Plan {
    Plan(const framework::Profile& profile, size_t& kept_bytes)
        : plan(profile), plugin_bytes(kept_bytes) {}
    EvaluationPlan plan;
    CountedBytes plugin_bytes;
  };
  using List = std::list<Entry>;
  using Key = std::pair<const framework::Profile*, PodClassId>;
  // A plugin's place in a plan and the parts of the pod it reads.
  using AnswerKey = std::pair<const void*, cache::Fragments>;

  const EvaluationPlan& PlanOf(const framework::Profile& profile);
  Entry& Find(const framework::Profile& profile, PodClassId pod_class);
  std::unique_ptr<KeptClass> MakeClass(const EvaluationPlan& plan,
                                       const cache::Fragments& fragments, size_t pod_bytes);
  void DropLast();

  const cache::Cache& cache_;
  Changes changes_;
  RefreshRoom room_;
  SearchOrder order_;
  const size_t max_bytes_;
  size_t bytes_ = 0;  // above all that adds to it
  uint32_t age_ = 0;
  absl::flat_hash_map<const framework::Profile*, std::unique_ptr<Plan>> plans_;
  List by_use_;  // decided last first
  absl::flat_hash_map<Key, List::iterator> by_class_;
  absl::flat_hash_map<AnswerKey, std::weak_ptr<KeptVerdicts>> verdicts_;
  absl::flat_hash_map<AnswerKey, std::weak_ptr<KeptScores>> scores_;
  size_t sweep_at_ = 1024;
  uint64_t num_decided_ = 0;
};

}  // namespace berth::engine
