// SPDX-License-Identifier: Apache-2.0
#include "src/engine/evaluation_plan.h"

#include <algorithm>

#include "src/framework/guarded.h"

namespace berth::engine {
namespace {

// Whether the plugin has a part in what follows the decision.
bool WorksLater(const framework::PluginLists& lists, size_t index) {
  const auto lists_it = [index](const auto& entries) {
    return std::ranges::any_of(entries,
                               [index](const auto& entry) { return entry.index == index; });
  };
  return lists_it(lists.reserve) || lists_it(lists.permit) || lists_it(lists.pre_bind) ||
         lists_it(lists.bind) || lists_it(lists.post_bind);
}

bool MayBeKept(const Inputs& inputs) { return inputs.declared || inputs.each_pod; }

}  // namespace

InputScope InputScope::Of(const Inputs& inputs) {
  InputScope scope;
  scope.pod = inputs.pod;
  for (const Input& input : inputs.inputs) {
    switch (input.reach) {
      case Reach::kNode:
        break;
      case Reach::kUsage:
        scope.usage = true;
        break;
      case Reach::kMeasured:
        scope.measured = true;
        break;
      case Reach::kAllNodes:
        scope.all_nodes = true;
        break;
      case Reach::kDomain:
      case Reach::kCluster:
        // Which domain a row is in, and which rows there are, the nodes say.
        scope.usage = scope.all_nodes = scope.all_usage = true;
        break;
      case Reach::kOtherObjects:
        scope.other_objects = true;
        break;
    }
  }
  return scope;
}

EvaluationPlan::EvaluationPlan(const framework::Profile& profile) : profile_(profile) {
  const framework::PluginLists& lists = profile.plugins();
  for (const framework::FilterEntry& entry : lists.filter) {
    FilterAt(*entry.instance, entry.index).filter = &entry;
  }
  for (const auto& entry : lists.pre_filter) {
    FilterStep& step = FilterAt(*entry.instance, entry.index);
    step.pre_filter = entry.plugin;
    step.updatable = entry.instance->update_pre_filter;
    step.extensions = entry.instance->pre_filter_extensions;
  }
  for (FilterStep& step : filters_) {
    // What it prepares for then is of the pod, and there is no Filter whose answers could be kept.
    if (step.filter == nullptr && WorksLater(lists, step.index)) step.each_pod = true;
  }
  keepable_ = keepable_ && !AnyWorksLater(filters_);
  keeps_refusals_ = keepable_;
  for (const auto& entry : lists.post_filter) {
    const Inputs& inputs = entry.instance->inputs;
    // A refusal is kept for pods that each_pod plugins skip, and tell nothing here either; one that
    // filters nothing skips no pod.
    const bool skips = inputs.each_pod && std::ranges::find(filters_, entry.index,
                                                            &FilterStep::index) != filters_.end();
    keeps_refusals_ = keeps_refusals_ && (inputs.declared || skips);
    if (entry.instance->preemption != nullptr) continue;
    post_filter_reads_cluster_ = post_filter_reads_cluster_ || !inputs.inputs.empty();
  }
  for (const framework::ScoreEntry& entry : lists.score) {
    scores_.push_back({.name = entry.name,
                       .index = entry.index,
                       .scope = InputScope::Of(entry.instance->inputs),
                       .each_pod = entry.instance->inputs.each_pod,
                       .score = &entry,
                       .normalises = entry.extensions != nullptr});
    scores_read_measured_ = scores_read_measured_ || scores_.back().scope.measured;
    NoteMemory(*entry.instance);
    keepable_ = keepable_ && MayBeKept(entry.instance->inputs);
  }
  for (const auto& entry : lists.pre_score) {
    const auto step = std::ranges::find(scores_, entry.index, &ScoreStep::index);
    if (step == scores_.end()) {
      keepable_ = false;  // nothing says what it is for
      continue;
    }
    step->pre_score = entry.plugin;
    step->updatable = entry.instance->update_pre_score;
  }
  keepable_ = keepable_ && !AnyWorksLater(scores_);
  // Without PreScore, nothing says that it leaves a pod alone.
  keepable_ = keepable_ && std::ranges::none_of(scores_, [](const ScoreStep& step) {
                return step.each_pod && step.pre_score == nullptr;
              });
}

bool EvaluationPlan::SkipsOwnFilters(const PodInfo& pod, const Snapshot& snapshot) const {
  CycleState state;
  return std::ranges::all_of(filters_, [&](const FilterStep& step) {
    if (!step.each_pod) return true;
    if (step.pre_filter == nullptr) return false;
    return framework::Guarded(
               state, [&] { return step.pre_filter->PreFilter(state, pod, snapshot).status; })
        .skip();
  });
}

size_t EvaluationPlan::PluginBytes() const {
  size_t bytes = 0;
  for (const MemoryPlugin* plugin : memory_) bytes += plugin->kept_bytes();
  return bytes;
}

FilterStep& EvaluationPlan::FilterAt(const Plugin& plugin, size_t index) {
  const auto known = std::ranges::find(filters_, index, &FilterStep::index);
  if (known != filters_.end()) return *known;
  keepable_ = keepable_ && MayBeKept(plugin.inputs);
  NoteMemory(plugin);
  const InputScope scope = InputScope::Of(plugin.inputs);
  filters_read_measured_ = filters_read_measured_ || scope.measured;
  return filters_.emplace_back(FilterStep{
      .name = plugin.name, .index = index, .scope = scope, .each_pod = plugin.inputs.each_pod});
}

// A plugin may be both.
void EvaluationPlan::NoteMemory(const Plugin& plugin) {
  if (plugin.memory == nullptr || std::ranges::find(memory_, plugin.memory) != memory_.end())
    return;
  memory_.push_back(plugin.memory);
}

template <typename Step>
bool EvaluationPlan::AnyWorksLater(const std::vector<Step>& steps) const {
  return std::ranges::any_of(steps, [this](const Step& step) {
    return !step.each_pod && WorksLater(profile_.plugins(), step.index);
  });
}

}  // namespace berth::engine
