// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/volume_affinity.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "berth/volumes.h"
#include "plugins/shared/csi_migration.h"

namespace berth::plugins {
namespace {

using Affinity = std::optional<api::VolumeNodeAffinity>;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kRegion = "topology.kubernetes.io/region";
constexpr std::string_view kBetaZone = "failure-domain.beta.kubernetes.io/zone";
constexpr std::string_view kBetaRegion = "failure-domain.beta.kubernetes.io/region";
constexpr std::string_view kBlanks = " \t\n\v\f\r";
// Between the zones of a volume that is in several.
constexpr std::string_view kZoneDelimiter = "__";

std::vector<std::string> Split(std::string_view text, std::string_view delimiter) {
  std::vector<std::string> parts;
  for (size_t end = text.find(delimiter); end != std::string_view::npos;
       end = text.find(delimiter)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  parts.emplace_back(text);
  return parts;
}

std::string_view Trim(std::string_view text, std::string_view characters) {
  const size_t begin = text.find_first_not_of(characters);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(characters) - begin + 1);
}

template <typename Visit>
void ForEachExpression(Affinity& affinity, Visit visit) {
  if (!affinity || !affinity->required) return;
  for (api::NodeSelectorTerm& term : affinity->required->node_selector_terms) {
    for (api::NodeSelectorRequirement& expression : term.match_expressions) visit(expression);
  }
}

bool HasKey(Affinity& affinity, std::string_view key) {
  bool has = false;
  ForEachExpression(affinity, [&](const auto& expression) { has |= expression.key == key; });
  return has;
}

// False where no expression with the key has a value: then nothing is changed.
bool ReplaceKey(Affinity& affinity, std::string_view key, std::string_view by) {
  bool has_values = false;
  ForEachExpression(affinity, [&](const auto& expression) {
    has_values |= expression.key == key && !expression.values.empty();
  });
  if (!has_values) return false;
  ForEachExpression(affinity, [&](auto& expression) {
    if (expression.key == key) expression.key = by;
  });
  return true;
}

void AddZones(Affinity& affinity, std::string_view key, const std::string& label) {
  std::set<std::string> zones;
  for (const std::string& zone : Split(label, kZoneDelimiter)) {
    if (const std::string_view trimmed = Trim(zone, kBlanks); !trimmed.empty()) {
      zones.emplace(trimmed);
    }
  }
  if (zones.empty()) return;
  if (!affinity) affinity.emplace();
  if (!affinity->required) affinity->required.emplace();
  auto& terms = affinity->required->node_selector_terms;
  if (terms.empty()) terms.emplace_back();
  for (api::NodeSelectorTerm& term : terms) {
    term.match_expressions.push_back(
        {std::string(key), "In", std::vector<std::string>(zones.begin(), zones.end())});
  }
}

// Whether the volume's zone and region stand under their old names. Its affinity goes before its
// labels, and the present names before the old ones.
bool UsesBetaLabels(const api::PersistentVolume& volume, Affinity& affinity) {
  if (HasKey(affinity, kZone)) return false;
  if (HasKey(affinity, kBetaZone)) return true;
  return api::Find(volume.metadata.labels, kZone) == nullptr &&
         api::Find(volume.metadata.labels, kBetaZone) != nullptr;
}

Affinity TranslateTopology(const api::PersistentVolume& volume, std::string_view csi_key) {
  Affinity affinity = volume.spec.node_affinity;
  const bool beta = UsesBetaLabels(volume, affinity);
  const std::string_view zone_key = beta ? kBetaZone : kZone;
  if (!ReplaceKey(affinity, zone_key, csi_key)) {
    const std::string* label = api::Find(volume.metadata.labels, zone_key);
    if (label != nullptr) AddZones(affinity, csi_key, *label);
  }
  if (beta) ReplaceKey(affinity, kBetaRegion, kRegion);
  return affinity;
}

// Few rows are matched one by one: cheaper than building the set of all matching nodes.
constexpr size_t kFewRows = 8;

// What a term may say of a field; one that says anything else matches no node.
bool IsValid(const api::NodeSelectorRequirement& field) {
  return (field.operator_ == "In" || field.operator_ == "NotIn") && field.values.size() == 1;
}

}  // namespace

std::string_view MigratedPluginOf(const api::PersistentVolume& volume) {
  const std::string_view plugin = InTreePluginOf(volume);
  return IsMigrated(plugin) ? plugin : "";
}

Result<Affinity> MigratedAffinity(const api::PersistentVolume& volume) {
  if (const auto handle = CsiHandleOf(volume); !handle) {
    return Fail("could not translate pv: " + handle.error().message);
  }
  const std::string_view zone = CsiZoneLabelOf(InTreePluginOf(volume));
  return zone.empty() ? volume.spec.node_affinity : TranslateTopology(volume, zone);
}

VolumeAffinity::VolumeAffinity(const std::optional<api::VolumeNodeAffinity>& affinity) {
  if (!affinity || !affinity->required) return;
  api::NodeSelector by_labels;
  for (api::NodeSelectorTerm term : affinity->required->node_selector_terms) {
    if (!term.match_fields.empty()) {
      if (!std::ranges::all_of(term.match_fields, IsValid)) continue;
      if (term.match_expressions.empty()) return;
      term.match_fields.clear();
    }
    by_labels.node_selector_terms.push_back(std::move(term));
  }
  selector_ = NodeSelectorMatcher::Make(by_labels);
}

void VolumeAffinity::FilterNodes(const Snapshot& snapshot, NodeSet& nodes) const {
  if (everywhere()) return;
  if (nodes.Count() <= kFewRows) {
    nodes.Filter([&](NodeRow row) { return selector_->Matches(snapshot.node(row)); });
    return;
  }
  NodeSet matching(snapshot.num_rows());
  selector_->MatchNodes(snapshot, matching);
  nodes &= matching;
}

}  // namespace berth::plugins
