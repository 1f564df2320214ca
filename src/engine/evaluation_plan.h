// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "berth/in_tree/inputs.h"
#include "berth/in_tree/points.h"
#include "src/framework/profile.h"

namespace berth::engine {

// What a plugin's declared inputs mean: which changes of the cluster can change its verdict on,
// or raw score of, which nodes.
struct InputScope {
  PodParts pod = 0;            // what of the pod it reads
  bool usage = false;          // pods on a node matter for that node
  bool measured = false;       // what a node is measured to use matters for that node
  bool all_nodes = false;      // a node object matters for other nodes
  bool all_usage = false;      // pods on a node matter for other nodes
  bool other_objects = false;  // neither pods nor nodes

  // Nothing matters for a node but what is on it: such a plugin's answers for a pod hold for every
  // pod that is alike in `pod`.
  bool local() const { return !all_nodes && !all_usage && !other_objects; }

  static InputScope Of(const Inputs& inputs);
};

// A plugin as PreFilter and Filter ask it; either may be missing.
struct FilterStep {
  std::string_view name;
  size_t index = 0;
  InputScope scope;
  bool each_pod = false;
  PreFilterPlugin* pre_filter = nullptr;
  UpdatablePreFilterPlugin* updatable = nullptr;  // the same plugin, if it is
  PreFilterExtensions* extensions = nullptr;      // the same plugin, if it has them
  const framework::FilterEntry* filter = nullptr;
};

// A plugin as PreScore and Score ask it; PreScore may be missing.
struct ScoreStep {
  std::string_view name;
  size_t index = 0;
  InputScope scope;
  bool each_pod = false;
  PreScorePlugin* pre_score = nullptr;
  UpdatablePreScorePlugin* updatable = nullptr;  // the same plugin, if it is
  const framework::ScoreEntry* score = nullptr;
  bool normalises = false;
};

// A profile's filters and scores, by plugin, for answers that outlive the cycle.
//
// Thread safety: immutable.
class EvaluationPlan {
 public:
  // `profile` must outlive the plan.
  explicit EvaluationPlan(const framework::Profile& profile);

  // Whether answers may be kept at all. Not so where a plugin does not declare its inputs, or works
  // at Reserve or later, too, and so may look for what it left in the pod's own state; those that
  // are asked about each pod find it there.
  bool keepable() const { return keepable_; }
  // The same of what makes a refusal: PreFilter, Filter and PostFilter.
  bool keeps_refusals() const { return keeps_refusals_; }
  // Whether a filter, or a score, reads what nodes are measured to use.
  bool filters_read_measured() const { return filters_read_measured_; }
  bool scores_read_measured() const { return scores_read_measured_; }
  // Whether a PostFilter reads more of the cluster than preemption does.
  bool post_filter_reads_cluster() const { return post_filter_reads_cluster_; }
  const framework::Profile& profile() const { return profile_; }
  // Whether the filters that are asked about each pod have nothing to say about this one.
  bool SkipsOwnFilters(const PodInfo& pod, const Snapshot& snapshot) const;
  // In profile order.
  const std::vector<FilterStep>& filters() const { return filters_; }
  const std::vector<ScoreStep>& scores() const { return scores_; }
  // What filter and score plugins say that they keep, in bytes.
  size_t PluginBytes() const;

 private:
  FilterStep& FilterAt(const Plugin& plugin, size_t index);
  void NoteMemory(const Plugin& plugin);
  // Whether a plugin with one of these also works at Reserve or later.
  template <typename Step>
  bool AnyWorksLater(const std::vector<Step>& steps) const;

  const framework::Profile& profile_;
  bool keepable_ = true;
  bool keeps_refusals_ = true;
  bool post_filter_reads_cluster_ = false;
  bool filters_read_measured_ = false;
  bool scores_read_measured_ = false;
  std::vector<FilterStep> filters_;
  std::vector<ScoreStep> scores_;
  std::vector<const MemoryPlugin*> memory_;
};

}  // namespace berth::engine
