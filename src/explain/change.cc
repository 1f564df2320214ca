// SPDX-License-Identifier: Apache-2.0
#include "src/explain/change.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "src/base/json.h"
#include "src/explain/spec_json.h"

// Selectors as kubectl writes them: "app=web,tier in (a,b),!old".

namespace berth::explain {
namespace {

std::string SelectorText(const std::string& key, std::string_view op,
                         const std::vector<std::string>& values) {
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  if (op == "Gt" || op == "Lt") return key + (op == "Gt" ? ">" : "<") + absl::StrJoin(values, ",");
  return key + (op == "NotIn" ? " notin (" : " in (") + absl::StrJoin(values, ",") + ")";
}

// "<none>" selects nothing, "<all>" everything.
std::string SelectorText(const std::optional<api::LabelSelector>& selector) {
  if (!selector) return "<none>";
  std::vector<std::string> parts;
  for (const auto& [key, value] : selector->match_labels) parts.push_back(key + "=" + value);
  for (const api::LabelSelectorRequirement& requirement : selector->match_expressions) {
    parts.push_back(SelectorText(requirement.key, requirement.operator_, requirement.values));
  }
  return parts.empty() ? "<all>" : absl::StrJoin(parts, ",");
}

std::string SelectorText(const api::NodeSelectorRequirement& requirement) {
  return SelectorText(requirement.key, requirement.operator_, requirement.values);
}

using base::JsonObject;

std::string TermText(const DropPodAffinity& change) {
  return SelectorText(change.term.label_selector) + " per " + change.term.topology_key;
}

std::string BudgetsText(const EvictPods& change) {
  std::string text;
  for (const EvictPods::Budget& budget : change.budgets) {
    text += (text.empty() ? " (budgets: " : ", ") + budget.name + " allows " +
            std::to_string(budget.allowed) + " of " + std::to_string(budget.evicted);
  }
  return text.empty() ? text : text + ")";
}

// By the place in the variant.
constexpr std::string_view kNames[] = {
    "LowerRequest",      "Tolerate",        "DropNodeSelector", "DropNodeAffinity",
    "WidenNodeAffinity", "DropPodAffinity", "RelaxSpread",      "SpreadAnyway",
    "HonorTaints",       "LowerMinDomains", "DropHostPort",     "UseStorageClass",
    "AllowAnyTopology",  "AddNode",         "Uncordon",         "RemoveTaint",
    "SetLabel",          "EvictPods",       "MovePods"};
static_assert(std::size(kNames) == std::variant_size_v<Change>);

// For each type its members in documents, and its text.

// Of the types that have some of these alone.
template <typename T>
  requires(
      requires(const T& c) { c.key; } || requires(const T& c) { c.topology_key; })
void Members(const T& c, JsonObject& out) {
  if constexpr (requires { c.from; }) out.Add("from", c.from);
  if constexpr (requires { c.key; }) out.Add("key", c.key);
  if constexpr (requires { c.to; }) out.Add("to", c.to);
  if constexpr (requires { c.topology_key; }) out.Add("topologyKey", c.topology_key);
  if constexpr (requires { c.value; }) out.Add("value", c.value);
}

void Members(const LowerRequest& c, JsonObject& out) {
  out.Add("from", c.from.ToCanonicalString());
  out.Add("resource", c.resource);
  out.Add("to", c.to.ToCanonicalString());
}
std::string Text(const LowerRequest& c) {
  return "pod: request " + c.resource + " " + c.to.ToCanonicalString() + " instead of " +
         c.from.ToCanonicalString();
}

void Members(const Tolerate& c, JsonObject& out) { AppendTaintValue(c.taint, out.Key("taint")); }
std::string Text(const Tolerate& c) { return "pod: tolerate " + ToText(c.taint); }

std::string Text(const DropNodeSelector& c) {
  return "pod: drop node selector " + c.key + "=" + c.value;
}

void Members(const DropNodeAffinity& c, JsonObject& out) {
  AppendRequirement(c.requirement, out.Key(c.field ? "matchField" : "matchExpression"));
}
std::string Text(const DropNodeAffinity& c) {
  return "pod: drop node affinity for " + SelectorText(c.requirement);
}

std::string Text(const WidenNodeAffinity& c) {
  return "pod: node affinity also for " + c.key + "=" + c.value;
}

void Members(const DropPodAffinity& c, JsonObject& out) {
  out.Add("anti", c.anti);
  if (c.term.label_selector) AppendSelector(*c.term.label_selector, {}, out.Key("labelSelector"));
  if (!c.others.empty()) base::AppendJsonList(c.others, out.Key("others"));
  out.AddIfNotEmpty("owner", c.owner);
  out.Add("topologyKey", c.term.topology_key);
}
std::string Text(const DropPodAffinity& c) {
  if (!c.owner.empty()) {
    return "pod, and " + std::to_string(c.others.size()) + " more of " + c.owner +
           " on nodes: drop pod anti-affinity to " + TermText(c);
  }
  return (c.anti ? "pod: drop pod anti-affinity to " : "pod: drop pod affinity to ") + TermText(c);
}

std::string Text(const RelaxSpread& c) {
  return "pod: spread with maxSkew " + std::to_string(c.to) + " instead of " +
         std::to_string(c.from) + " per " + c.topology_key;
}

std::string Text(const SpreadAnyway& c) {
  return "pod: spread with ScheduleAnyway per " + c.topology_key;
}

std::string Text(const HonorTaints& c) {
  return "pod: spread with nodeTaintsPolicy Honor per " + c.topology_key;
}

std::string Text(const LowerMinDomains& c) {
  return "pod: spread with minDomains " + std::to_string(c.to) + " instead of " +
         std::to_string(c.from) + " per " + c.topology_key;
}

void Members(const DropHostPort& c, JsonObject& out) {
  out.Add("port", c.port);
  out.Add("protocol", c.protocol.empty() ? "TCP" : c.protocol);
}
std::string Text(const DropHostPort& c) {
  return "pod: no host port " + std::to_string(c.port) + "/" +
         (c.protocol.empty() ? "TCP" : c.protocol);
}

void Members(const UseStorageClass& c, JsonObject& out) {
  out.Add("claim", c.claim);
  out.Add("from", c.from);
  out.Add("to", c.to);
}
std::string Text(const UseStorageClass& c) {
  return "claim " + c.claim + ": storage class " + c.to + " instead of " +
         (c.from.empty() ? "none" : c.from);
}

void Members(const AllowAnyTopology& c, JsonObject& out) {
  out.Add("storageClass", c.storage_class);
}
std::string Text(const AllowAnyTopology& c) {
  return "cluster: storage class " + c.storage_class + " without allowedTopologies";
}

void Members(const AddNode& c, JsonObject& out) {
  if (!c.labels.empty()) AppendStringMap(c.labels, out.Key("labels"));
  out.Add("like", c.like);
  out.AddIfNotEmpty("shapeOf", c.shape_of);
}
std::string Text(const AddNode& c) {
  std::string text = "cluster: one more node like " + c.like;
  if (!c.shape_of.empty()) text += " with the shape of " + c.shape_of;
  for (const auto& [key, value] : c.labels) {
    text += (&key == &c.labels.front().first ? " with " : ", ") + key + "=" + value;
  }
  return text;
}

void Members(const Uncordon& c, JsonObject& out) { out.Add("node", c.node); }
std::string Text(const Uncordon& c) { return "cluster: uncordon " + c.node; }

void Members(const RemoveTaint& c, JsonObject& out) {
  out.Add("node", c.node);
  AppendTaintValue(c.taint, out.Key("taint"));
}
std::string Text(const RemoveTaint& c) {
  return "cluster: " + c.node + " without taint " + ToText(c.taint);
}

void Members(const SetLabel& c, JsonObject& out) {
  out.Add("key", c.key);
  out.Add("node", c.node);
  out.Add("value", c.value);
}
std::string Text(const SetLabel& c) {
  return "cluster: label " + c.node + " " + c.key + "=" + c.value;
}

void Members(const EvictPods& c, JsonObject& out) {
  if (!c.budgets.empty()) {
    base::JsonList budgets(out.Key("budgets"));
    for (const EvictPods::Budget& budget : c.budgets) {
      JsonObject object(budgets.Next());
      object.Add("allowed", budget.allowed);
      object.Add("budget", budget.name);
      object.Add("evicted", budget.evicted);
    }
  }
  out.Add("node", c.node);
  base::AppendJsonList(c.pods, out.Key("pods"));
}
std::string Text(const EvictPods& c) {
  constexpr size_t kMost = 5;
  const std::vector<std::string> shown(
      c.pods.begin(), c.pods.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, c.pods.size())));
  std::string text = "cluster: " + c.node + " without " + absl::StrJoin(shown, ", ");
  if (c.pods.size() > kMost) text += " and " + std::to_string(c.pods.size() - kMost) + " more";
  return text + BudgetsText(c);
}

void Members(const MovePods& c, JsonObject& out) {
  base::JsonList moves(out.Key("moves"));
  for (const MovePods::Move& move : c.moves) {
    JsonObject object(moves.Next());
    object.Add("from", move.from);
    object.Add("pod", move.pod);
    object.Add("to", move.to);
  }
  moves.Close();
  out.Add("node", c.node);
}
std::string Text(const MovePods& c) {
  constexpr size_t kMost = 3;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(kMost, c.moves.size()); ++i) {
    const MovePods::Move& move = c.moves[i];
    shown.push_back("move " + move.pod + " from " + move.from + " to " + move.to);
  }
  std::string text = "cluster: " + absl::StrJoin(shown, ", ");
  if (c.moves.size() > kMost) text += " and " + std::to_string(c.moves.size() - kMost) + " more";
  return text;
}

}  // namespace

std::string_view ChangeName(const Change& change) { return kNames[change.index()]; }

bool IsOfPod(const Change& change) { return change.index() <= Change(DropHostPort()).index(); }

std::string ToText(const Change& change) {
  return std::visit([](const auto& held) { return Text(held); }, change);
}

std::string ToText(const api::Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect;
}

void AppendApplication(const Application& application, std::string& out) {
  JsonObject object(out);
  base::AppendJsonList(application.commands, object.Key("commands"));
  object.AddIfNotEmpty("kind", application.kind);
  object.AddIfNotEmpty("name", application.name);
  object.AddIfNotEmpty("namespace", application.namespace_);
  if (!application.patch.empty()) object.Key("patch") += application.patch;
  if (application.recreate) object.Add("recreate", true);
}

void AppendChange(const Change& change, std::string& out) {
  JsonObject object(out);
  object.Add("change", ChangeName(change));
  std::visit([&](const auto& held) { Members(held, object); }, change);
}

}  // namespace berth::explain
