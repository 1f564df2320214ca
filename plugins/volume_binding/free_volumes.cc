// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/free_volumes.h"

#include <algorithm>
#include <string>

#include "berth/field_errors.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";
// Each node is asked for all of them.
constexpr size_t kMaxLabels = 4;

using Requirement = api::NodeSelectorRequirement;
using Terms = std::vector<api::NodeSelectorTerm>;

const Requirement* FindIn(const api::NodeSelectorTerm& term, std::string_view key) {
  const auto& expressions = term.match_expressions;
  const auto found = std::ranges::find_if(expressions, [&](const Requirement& expression) {
    return expression.operator_ == "In" && expression.key == key;
  });
  return found == expressions.end() ? nullptr : &*found;
}

// The label by whose value each of the terms names nodes, the host's before others; "": none.
std::string_view LabelOf(const Terms& terms) {
  const bool by_fields = std::ranges::any_of(
      terms, [](const api::NodeSelectorTerm& term) { return !term.match_fields.empty(); });
  if (terms.empty() || by_fields) return "";
  const auto all_name = [&](std::string_view key) {
    return std::ranges::all_of(
        terms, [&](const api::NodeSelectorTerm& term) { return FindIn(term, key) != nullptr; });
  };
  if (all_name(kHostname)) return kHostname;
  for (const Requirement& expression : terms.front().match_expressions) {
    if (expression.operator_ == "In" && all_name(expression.key)) return expression.key;
  }
  return "";
}

// Whether the host's name is all that counts, as for most local volumes.
bool ByHostAlone(const Terms& terms) {
  return terms.size() == 1 && terms.front().match_expressions.size() == 1 &&
         std::ranges::all_of(
             terms.front().match_expressions.front().values,
             [](const std::string& value) { return LabelValueProblems(value).empty(); });
}

}  // namespace

std::unordered_map<std::string_view, std::vector<uint32_t>>* FreeVolumes::VolumesBy(
    std::string_view key) {
  const auto known = std::ranges::find(by_label_, key, &ByLabel::key);
  if (known != by_label_.end()) return &known->volumes;
  if (by_label_.size() == kMaxLabels) return nullptr;
  return &by_label_.emplace_back(ByLabel{key, {}}).volumes;
}

void FreeVolumes::Add(const api::PersistentVolume& volume) {
  const auto index = static_cast<uint32_t>(volumes_.size());
  Free& free = volumes_.emplace_back(Free{.volume = &volume});
  const auto& affinity = volume.spec.node_affinity;
  if (!affinity || !affinity->required) {
    by_no_label_.push_back(index);
    return;
  }
  const Terms& terms = affinity->required->node_selector_terms;
  const std::string_view key = LabelOf(terms);
  auto* named = key.empty() ? nullptr : VolumesBy(key);
  free.by_label_alone = named != nullptr && key == kHostname && ByHostAlone(terms);
  if (!free.by_label_alone) free.affinity = VolumeAffinity(affinity);
  if (named == nullptr) {
    by_no_label_.push_back(index);
    return;
  }
  for (const api::NodeSelectorTerm& term : terms) {
    for (const std::string& value : FindIn(term, key)->values) {
      std::vector<uint32_t>& volumes = (*named)[value];
      if (volumes.empty() || volumes.back() != index) volumes.push_back(index);
    }
  }
}

}  // namespace berth::plugins
