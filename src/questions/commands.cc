// SPDX-License-Identifier: Apache-2.0
#include "src/questions/commands.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/json.h"
#include "src/explain/spec_json.h"
#include "src/questions/changes.h"
#include "src/questions/replicas.h"

namespace berth::questions {

// A change as a patch: for a strategic merge, which keeps what it does not name.
// Lists that have no keys, or not those that tell their elements apart here, are whole.
namespace {

using base::JsonList;
using base::JsonObject;
using explain::Application;
using explain::Change;
using informers::Kind;
using simulator::MemoryApi;

// Text as one word of a shell.
std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += R"('\'')";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string Namespace(const std::string& namespace_) {
  return namespace_.empty() ? "" : " -n " + namespace_;
}

std::string PatchCommand(const Application& of) {
  const std::string patch = "kubectl patch " + absl::AsciiStrToLower(of.kind) + " " + of.name +
                            Namespace(of.namespace_) + " -p " + ShellQuoted(of.patch);
  return of.recreate ? patch + " --dry-run=client -o json | kubectl replace --force -f -" : patch;
}

// Whether kubectl knows the kind, and a change of its template makes other pods.
bool HasTemplate(std::string_view kind) {
  return kind == "Deployment" || kind == "ReplicaSet" || kind == "StatefulSet" ||
         kind == "DaemonSet" || kind == "ReplicationController";
}

// The amounts of `after` that are others than before.
void AddAmounts(std::string_view name, const api::ResourceList& before,
                const api::ResourceList& after, JsonObject& out) {
  if (before == after) return;
  JsonObject list(out.Key(name));
  for (const auto& [resource, amount] : after) {
    const api::Quantity* was = api::Find(before, resource);
    if (was == nullptr || !(*was == amount)) list.Add(resource, amount.ToCanonicalString());
  }
}

void AddResources(const api::ResourceRequirements& before, const api::ResourceRequirements& after,
                  JsonObject& out) {
  JsonObject resources(out.Key("resources"));
  AddAmounts("limits", before.limits, after.limits, resources);
  AddAmounts("requests", before.requests, after.requests, resources);
}

// Host ports that are there no more; a port is known by its number in the container.
void AddPorts(const api::Container& before, const api::Container& after, JsonObject& out) {
  JsonList ports(out.Key("ports"));
  for (size_t i = 0; i < before.ports.size(); ++i) {
    if (before.ports[i] == after.ports[i]) continue;
    JsonObject port(ports.Next());
    port.Add("containerPort", before.ports[i].container_port);
    if (!before.ports[i].host_ip.empty()) port.AddNull("hostIP");
    port.AddNull("hostPort");
    port.Add("protocol", before.ports[i].protocol.empty() ? "TCP" : before.ports[i].protocol);
  }
}

void AddContainers(std::string_view name, const std::vector<api::Container>& before,
                   const std::vector<api::Container>& after, JsonObject& out) {
  if (before == after) return;
  JsonList list(out.Key(name));
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    JsonObject container(list.Next());
    container.Add("name", before[i].name);
    if (before[i].ports != after[i].ports) AddPorts(before[i], after[i], container);
    if (before[i].resources != after[i].resources)
      AddResources(before[i].resources, after[i].resources, container);
  }
}

void AddNodeSelector(const api::StringMap& before, const api::StringMap& after, JsonObject& out) {
  if (before == after) return;
  JsonObject map(out.Key("nodeSelector"));
  for (const auto& [key, value] : before) {
    if (api::Find(after, key) == nullptr) map.AddNull(key);
  }
}

// What admission adds to every pod.
bool IsOfAdmission(const api::Toleration& toleration) {
  return (toleration.key == "node.kubernetes.io/not-ready" ||
          toleration.key == "node.kubernetes.io/unreachable") &&
         toleration.effect == "NoExecute" && toleration.toleration_seconds == 300;
}

void AddTolerations(const std::vector<api::Toleration>& before,
                    const std::vector<api::Toleration>& after, JsonObject& out) {
  if (before == after) return;
  JsonList list(out.Key("tolerations"));
  for (const api::Toleration& toleration : after) {
    if (!IsOfAdmission(toleration)) explain::AppendToleration(toleration, list.Next());
  }
}

void AddPodTerms(std::string_view name, const std::optional<api::PodAffinity>& before,
                 const std::optional<api::PodAffinity>& after, JsonObject& out) {
  if (before == after || !after) return;
  JsonObject affinity(out.Key(name));
  JsonList terms(affinity.Key("requiredDuringSchedulingIgnoredDuringExecution"));
  for (const auto& term : after->required_during_scheduling_ignored_during_execution) {
    explain::AppendTerm(term, terms.Next());
  }
}

void AddNodeTerms(const std::optional<api::NodeAffinity>& before,
                  const std::optional<api::NodeAffinity>& after, JsonObject& out) {
  if (before == after || !after) return;
  JsonObject affinity(out.Key("nodeAffinity"));
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  if (const auto& required = after->required_during_scheduling_ignored_during_execution) {
    JsonObject selector(affinity.Key(kRequired));
    explain::AppendTerms(*required, selector.Key("nodeSelectorTerms"));
  } else {
    affinity.AddNull(kRequired);
  }
}

void AddAffinity(const api::Boxed<api::Affinity>& before, const api::Boxed<api::Affinity>& after,
                 JsonObject& out) {
  if (before == after || !before || !after) return;
  JsonObject affinity(out.Key("affinity"));
  AddNodeTerms(before->node_affinity, after->node_affinity, affinity);
  AddPodTerms("podAffinity", before->pod_affinity, after->pod_affinity, affinity);
  AddPodTerms("podAntiAffinity", before->pod_anti_affinity, after->pod_anti_affinity, affinity);
}

void AddConstraints(const std::vector<api::TopologySpreadConstraint>& before,
                    const std::vector<api::TopologySpreadConstraint>& after, JsonObject& out) {
  if (before == after) return;
  JsonList list(out.Key("topologySpreadConstraints"));
  for (const auto& constraint : after) explain::AppendConstraint(constraint, list.Next());
  // Two may be over one topology key, which is that of the list.
  list.Next() += R"({"$patch":"replace"})";
}

// The members of a pod's spec that a change made others.
std::string SpecPatch(const api::PodSpec& before, const api::PodSpec& after) {
  std::string out;
  JsonObject spec(out);
  AddAffinity(before.affinity, after.affinity, spec);
  AddContainers("containers", before.containers, after.containers, spec);
  AddContainers("initContainers", before.init_containers, after.init_containers, spec);
  AddNodeSelector(before.node_selector, after.node_selector, spec);
  if (before.resources && after.resources && !(*before.resources == *after.resources))
    AddResources(*before.resources, *after.resources, spec);
  AddTolerations(before.tolerations, after.tolerations, spec);
  AddConstraints(before.topology_spread_constraints, after.topology_spread_constraints, spec);
  spec.Close();
  return out;
}

Application OfPodChange(const api::Pod& before, const api::Pod& after, const MemoryApi& objects) {
  Application application = MakerOf(before, objects);
  const std::string spec = SpecPatch(before.spec, after.spec);
  if (application.kind == "Pod") {
    application.patch = R"({"spec":)" + spec + "}";
  } else {
    application.patch = R"({"spec":{"template":{"spec":)" + spec + "}}}";
  }
  if (application.kind == "Pod" || HasTemplate(application.kind)) {
    application.commands.push_back(PatchCommand(application));
  } else {
    application.commands.push_back("# make " + application.kind + " " +
                                   api::NamespacedKey(application.namespace_, application.name) +
                                   " again, with this in the spec of its pods: " + spec);
  }
  return application;
}

template <typename T>
void AddHint(const T&, Application&) {}
// A rollout may wait for good: it ends old pods only once new ones are ready.
void AddHint(const explain::DropPodAffinity& change, Application& application) {
  if (change.others.empty()) return;
  application.commands.push_back(
      "# its pods of the old template keep the new ones off their nodes for as long as they run: "
      "where the rollout waits for that, delete them");
}

// Of `object`, which is of the cluster.
Application Patched(std::string kind, std::string name, std::string patch) {
  Application application;
  application.kind = std::move(kind);
  application.name = std::move(name);
  application.patch = std::move(patch);
  return application;
}

// The taints that are left of a node's when those of its changes up to `last` are gone.
std::string TaintsPatch(const std::string& name, const std::vector<Change>& changes, size_t last,
                        const MemoryApi& objects) {
  std::string out = R"({"spec":{"taints":)";
  JsonList list(out);
  const auto node = simulator::FindIn<api::Node>(objects, Kind::kNode, name);
  for (const api::Taint& taint : node == nullptr ? std::vector<api::Taint>() : node->spec.taints) {
    const bool gone = std::ranges::any_of(
        changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(last) + 1,
        [&](const Change& change) {
          const auto* removed = std::get_if<explain::RemoveTaint>(&change);
          return removed != nullptr && removed->node == name && removed->taint == taint;
        });
    if (!gone) explain::AppendTaintValue(taint, list.Next());
  }
  list.Close();
  return out + "}}";
}

Application Of(const explain::Uncordon& change) {
  Application application = Patched("Node", change.node, R"({"spec":{"unschedulable":null}})");
  application.commands.push_back("kubectl uncordon " + change.node);
  return application;
}

Application Of(const explain::SetLabel& change) {
  std::string patch = R"({"metadata":{"labels":)";
  explain::AppendStringMap({{change.key, change.value}}, patch);
  Application application = Patched("Node", change.node, patch + "}}");
  application.commands.push_back("kubectl label node " + change.node + " " + change.key + "=" +
                                 change.value + " --overwrite");
  return application;
}

Application Of(const explain::UseStorageClass& change) {
  const size_t slash = change.claim.find('/');
  std::string patch = R"({"spec":{"storageClassName":)";
  base::AppendJson(change.to, patch);
  Application application =
      Patched("PersistentVolumeClaim", change.claim.substr(slash + 1), patch + "}}");
  application.namespace_ = change.claim.substr(0, slash);
  application.recreate = true;
  application.commands.push_back(PatchCommand(application));
  return application;
}

Application Of(const explain::AllowAnyTopology& change) {
  Application application =
      Patched("StorageClass", change.storage_class, R"({"allowedTopologies":null})");
  application.recreate = true;
  application.commands.push_back(PatchCommand(application));
  return application;
}

Application Of(const explain::AddNode& change) {
  Application application;
  application.commands.push_back("# no command of kubectl: add" +
                                 ToText(Change(change)).substr(std::string("cluster:").size()));
  return application;
}

Application Of(const explain::EvictPods& change) {
  Application application;
  for (const explain::EvictPods::Budget& budget : change.budgets) {
    if (budget.evicted <= budget.allowed) continue;
    application.commands.push_back("# breaks budget " + budget.name);
  }
  std::map<std::string, std::vector<std::string>> by_namespace;
  for (const std::string& pod : change.pods) {
    const size_t slash = pod.find('/');
    by_namespace[pod.substr(0, slash)].push_back(pod.substr(slash + 1));
  }
  for (const auto& [namespace_, names] : by_namespace) {
    application.commands.push_back("kubectl delete pod -n " + namespace_ + " " +
                                   absl::StrJoin(names, " "));
  }
  return application;
}

// The plan is searched for once more: it is to be of the cluster as it is then.
Application Of(const explain::MovePods& /*change*/, const api::Pod& pod) {
  Application application;
  application.commands.push_back("kubectl berth plan --goal fit=" + pod.metadata.Key() +
                                 " -o yaml > plan.yaml");
  application.commands.emplace_back("kubectl berth plan --apply plan.yaml");
  return application;
}

}  // namespace

Application MakerOf(const api::Pod& pod, const MemoryApi& objects) {
  Application maker;
  maker.kind = "Pod";
  maker.namespace_ = pod.metadata.namespace_;
  maker.name = pod.metadata.name;
  const api::OwnerReference* owner = ControllerOf(pod.metadata);
  if (owner == nullptr) {
    maker.recreate = true;
    return maker;
  }
  maker.kind = owner->kind;
  maker.name = owner->name;
  if (owner->kind != "ReplicaSet") return maker;
  const auto set = simulator::FindIn<api::ReplicaSet>(
      objects, Kind::kReplicaSet, api::NamespacedKey(maker.namespace_, owner->name));
  const api::OwnerReference* above = set == nullptr ? nullptr : ControllerOf(set->metadata);
  if (above != nullptr && above->kind == "Deployment") {
    maker.kind = above->kind;
    maker.name = above->name;
  }
  return maker;
}

void SetApplications(const api::Pod& pod, const MemoryApi& objects, explain::Fixes& fixes) {
  for (explain::Fix& fix : fixes.fixes) {
    fix.applications.clear();
    api::Pod before = pod;
    for (size_t i = 0; i < fix.changes.size(); ++i) {
      fix.applications.push_back(std::visit(
          [&](const auto& held) -> Application {
            if constexpr (requires(api::Pod& changed) { ChangePod(held, changed); }) {
              api::Pod after = before;
              ChangePod(held, after);
              Application application = OfPodChange(before, after, objects);
              AddHint(held, application);
              before = std::move(after);
              return application;
            } else if constexpr (requires { Of(held); }) {
              return Of(held);
            } else if constexpr (requires { Of(held, pod); }) {
              return Of(held, pod);
            } else {
              Application application =
                  Patched("Node", held.node, TaintsPatch(held.node, fix.changes, i, objects));
              application.commands.push_back("kubectl taint node " + held.node + " " +
                                             explain::ToText(held.taint) + "-");
              return application;
            }
          },
          fix.changes[i]));
    }
  }
}

}  // namespace berth::questions
