// SPDX-License-Identifier: Apache-2.0
#include "src/engine/evaluation_plan.h"

#include <algorithm>

namespace berth::engine {

Span Span::Of(const Inputs& inputs) {
  Span span;
  span.pod = inputs.pod;
  for (const Input& input : inputs.inputs) {
    switch (input.reach) {
      case Reach::kNode:
        break;
      case Reach::kUsage:
        span.usage = true;
        break;
      case Reach::kAllNodes:
        span.all_nodes = true;
        break;
      case Reach::kDomain:
      case Reach::kCluster:
        // Which domain a row is in, and which rows there are, the nodes say.
        span.usage = span.all_nodes = span.all_usage = true;
        break;
      case Reach::kOtherObjects:
        span.other_objects = true;
        break;
    }
  }
  return span;
}

EvaluationPlan::EvaluationPlan(const framework::Profile& profile) : profile_(profile) {
  const framework::PluginLists& lists = profile.plugins();
  for (const framework::FilterEntry& entry : lists.filter) {
    FilterAt(*entry.plugin, entry.name, entry.index).filter = &entry;
  }
  for (const auto& entry : lists.pre_filter) {
    FilterStep& step = FilterAt(*entry.plugin, entry.name, entry.index);
    step.pre_filter = entry.plugin;
    step.updatable = dynamic_cast<UpdatablePreFilterPlugin*>(entry.plugin);
  }
  for (const framework::ScoreEntry& entry : lists.score) {
    scores_.push_back({.name = entry.name,
                       .index = entry.index,
                       .span = Span::Of(entry.plugin->DeclaredInputs()),
                       .score = &entry,
                       .normalises = entry.plugin->Normalizes()});
    keepable_ = keepable_ && entry.plugin->DeclaredInputs().declared;
  }
  for (const auto& entry : lists.pre_score) {
    const auto step = std::ranges::find(scores_, entry.index, &ScoreStep::index);
    if (step == scores_.end()) {
      keepable_ = false;  // nothing says what it is for
      continue;
    }
    step->pre_score = entry.plugin;
    step->updatable = dynamic_cast<UpdatablePreScorePlugin*>(entry.plugin);
  }
  FindUnkeepable();
}

FilterStep& EvaluationPlan::FilterAt(Plugin& plugin, std::string_view name, size_t index) {
  const auto known = std::ranges::find(filters_, index, &FilterStep::index);
  if (known != filters_.end()) return *known;
  const Inputs inputs = plugin.DeclaredInputs();
  keepable_ = keepable_ && inputs.declared;
  return filters_.emplace_back(FilterStep{.name = name, .index = index, .span = Span::Of(inputs)});
}

void EvaluationPlan::FindUnkeepable() {
  const framework::PluginLists& lists = profile_.plugins();
  const auto evaluates = [this](size_t index) {
    return std::ranges::find(filters_, index, &FilterStep::index) != filters_.end() ||
           std::ranges::find(scores_, index, &ScoreStep::index) != scores_.end();
  };
  const auto check = [&](const auto& entries) {
    for (const auto& entry : entries) keepable_ = keepable_ && !evaluates(entry.index);
  };
  check(lists.reserve);
  check(lists.permit);
  check(lists.pre_bind);
  check(lists.bind);
  check(lists.post_bind);
}

}  // namespace berth::engine
