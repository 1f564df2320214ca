// SPDX-License-Identifier: Apache-2.0
#include "src/ui/object_facts.h"

#include <chrono>
#include <string_view>
#include <vector>

#include "src/explain/spec_json.h"

namespace berth::ui {
namespace {

using base::JsonList;
using base::JsonObject;

// A list that is left out where it is empty.
template <typename T>
void AddList(std::string_view name, const std::vector<T>& values,
             void (*append)(const T&, std::string&), JsonObject& out) {
  if (values.empty()) return;
  JsonList list(out.Key(name));
  for (const T& value : values) append(value, list.Next());
}

void AddTerms(std::string_view name, const std::optional<api::PodAffinity>& affinity,
              JsonObject& out) {
  if (!affinity) return;
  AddList(name, affinity->required_during_scheduling_ignored_during_execution, explain::AppendTerm,
          out);
}

void AppendSelectors(const api::PodSpec& spec, std::string& out) {
  JsonObject object(out);
  if (spec.affinity && spec.affinity->node_affinity) {
    const auto& required =
        spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
    if (required) explain::AppendTerms(*required, object.Key("nodeAffinity"));
  }
  if (!spec.node_selector.empty()) {
    explain::AppendStringMap(spec.node_selector, object.Key("nodeSelector"));
  }
  if (spec.affinity) {
    AddTerms("podAffinity", spec.affinity->pod_affinity, object);
    AddTerms("podAntiAffinity", spec.affinity->pod_anti_affinity, object);
  }
  AddList("tolerations", spec.tolerations, explain::AppendToleration, object);
  AddList("topologySpreadConstraints", spec.topology_spread_constraints, explain::AppendConstraint,
          object);
}

void AppendCondition(const api::NodeCondition& condition, std::string& out) {
  JsonObject object(out);
  object.Add("status", condition.status);
  object.Add("type", condition.type);
}

}  // namespace

int64_t CreatedAt(const std::optional<Time>& creation_timestamp) {
  if (!creation_timestamp) return 0;
  return std::chrono::duration_cast<std::chrono::seconds>(creation_timestamp->time_since_epoch())
      .count();
}

void AppendNodeFacts(const api::Node& node, std::string& out) {
  JsonObject object(out);
  JsonList conditions(object.Key("conditions"));
  for (const api::NodeCondition& condition : node.status.conditions) {
    AppendCondition(condition, conditions.Next());
  }
  conditions.Close();
  object.Add("created", CreatedAt(node.metadata.creation_timestamp));
  explain::AppendStringMap(node.metadata.labels, object.Key("labels"));
  object.Add("name", node.metadata.name);
  JsonList taints(object.Key("taints"));
  for (const api::Taint& taint : node.spec.taints) explain::AppendTaintValue(taint, taints.Next());
}

void AppendPodFacts(const api::Pod& pod, std::string& out) {
  JsonObject object(out);
  object.Add("created", CreatedAt(pod.metadata.creation_timestamp));
  explain::AppendStringMap(pod.metadata.labels, object.Key("labels"));
  AppendSelectors(pod.spec, object.Key("selectors"));
}

}  // namespace berth::ui
