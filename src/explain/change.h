// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/pod.h"

// One change of a pod, or of the cluster, that is tried for what it would do (src/fixes); here is
// what it says. The name of a type is its name in documents.
namespace berth::explain {

// Changes of the pod.

// Less of a resource, over all its containers; both in what the pod asks for effectively.
struct LowerRequest {
  std::string resource;
  api::Quantity from;
  api::Quantity to;

  friend bool operator==(const LowerRequest&, const LowerRequest&) = default;
};
// A toleration for this taint.
struct Tolerate {
  api::Taint taint;

  friend bool operator==(const Tolerate&, const Tolerate&) = default;
};
// spec.nodeSelector without this label.
struct DropNodeSelector {
  std::string key;
  std::string value;

  friend bool operator==(const DropNodeSelector&, const DropNodeSelector&) = default;
};
// The required node affinity without this requirement, in whichever terms it stands. A term of
// which nothing is left takes any node.
struct DropNodeAffinity {
  api::NodeSelectorRequirement requirement;
  bool field = false;  // of matchFields

  friend bool operator==(const DropNodeAffinity&, const DropNodeAffinity&) = default;
};
// The required node affinity with one more value where it wants the label `key` in a list.
struct WidenNodeAffinity {
  std::string key;
  std::string value;

  friend bool operator==(const WidenNodeAffinity&, const WidenNodeAffinity&) = default;
};
// Without this required term of its pod affinity or, with `anti`, pod anti-affinity.
struct DropPodAffinity {
  api::PodAffinityTerm term;
  bool anti = false;
  // An anti-affinity that pods of one template have to each other: "shop/Deployment/web", and the
  // pods of it on nodes, by "namespace/name", whose term goes, too. "": it is this pod's alone.
  std::string owner{};
  std::vector<std::string> others{};

  friend bool operator==(const DropPodAffinity&, const DropPodAffinity&) = default;
};
// A maxSkew of at least `to` in all DoNotSchedule constraints over the topology key.
struct RelaxSpread {
  std::string topology_key;
  int32_t from = 0;  // the smallest
  int32_t to = 0;

  friend bool operator==(const RelaxSpread&, const RelaxSpread&) = default;
};
// These constraints say ScheduleAnyway.
struct SpreadAnyway {
  std::string topology_key;

  friend bool operator==(const SpreadAnyway&, const SpreadAnyway&) = default;
};
// These constraints count only domains of nodes whose taints the pod tolerates.
struct HonorTaints {
  std::string topology_key;

  friend bool operator==(const HonorTaints&, const HonorTaints&) = default;
};
// A minDomains of at most `to` in all constraints over the topology key.
struct LowerMinDomains {
  std::string topology_key;
  int32_t from = 0;  // the largest
  int32_t to = 0;

  friend bool operator==(const LowerMinDomains&, const LowerMinDomains&) = default;
};
// No container has this port of the host.
struct DropHostPort {
  int32_t port = 0;
  std::string protocol;  // "": TCP

  friend bool operator==(const DropHostPort&, const DropHostPort&) = default;
};

// Changes of the cluster.

// The claim, made again, asks for another class.
struct UseStorageClass {
  std::string claim;  // namespace/name
  std::string from;
  std::string to;

  friend bool operator==(const UseStorageClass&, const UseStorageClass&) = default;
};
// The class, made again, has no allowedTopologies.
struct AllowAnyTopology {
  std::string storage_class;

  friend bool operator==(const AllowAnyTopology&, const AllowAnyTopology&) = default;
};
// One more node with the shape of this one, with copies of its DaemonSets' pods and of what says
// which volumes and devices it has.
struct AddNode {
  std::string like;
  // A node whose allocatable resources it has instead; "": its own.
  std::string shape_of{};
  // What it has instead of or beside the labels of the other.
  api::StringMap labels{};

  friend bool operator==(const AddNode&, const AddNode&) = default;
};
// The node takes pods again.
struct Uncordon {
  std::string node;

  friend bool operator==(const Uncordon&, const Uncordon&) = default;
};
struct RemoveTaint {
  std::string node;
  api::Taint taint;

  friend bool operator==(const RemoveTaint&, const RemoveTaint&) = default;
};
struct SetLabel {
  std::string node;
  std::string key;
  std::string value;

  friend bool operator==(const SetLabel&, const SetLabel&) = default;
};
// These pods of lower priority are gone.
struct EvictPods {
  // A budget that selects some of them.
  struct Budget {
    std::string name;  // namespace/name
    int64_t evicted = 0;
    int64_t allowed = 0;

    friend bool operator==(const Budget&, const Budget&) = default;
  };
  std::string node;
  std::vector<std::string> pods;  // namespace/name, the most important first
  std::vector<Budget> budgets;

  friend bool operator==(const EvictPods&, const EvictPods&) = default;
};

// These pods, which their controllers make again, are on other nodes, moved in this order.
struct MovePods {
  struct Move {
    std::string pod;  // namespace/name
    std::string from;
    std::string to;

    friend bool operator==(const Move&, const Move&) = default;
  };
  std::string node;  // where the pod fits then
  std::vector<Move> moves;

  friend bool operator==(const MovePods&, const MovePods&) = default;
};

using Change =
    std::variant<LowerRequest, Tolerate, DropNodeSelector, DropNodeAffinity, WidenNodeAffinity,
                 DropPodAffinity, RelaxSpread, SpreadAnyway, HonorTaints, LowerMinDomains,
                 DropHostPort, UseStorageClass, AllowAnyTopology, AddNode, Uncordon, RemoveTaint,
                 SetLabel, EvictPods, MovePods>;

// "LowerRequest", the name of the variant's type.
std::string_view ChangeName(const Change& change);

// Whether the change is one of the pod, not of the cluster.
bool IsOfPod(const Change& change);

// What a change says to people: "pod: request cpu 3500m instead of 7".
std::string ToText(const Change& change);

// "key=value:effect", as kubectl writes it.
std::string ToText(const api::Taint& taint);

// How a change is made in the cluster that it was found for.
struct Application {
  // The object that is patched; "": none is. A change of a pod is one of what made it.
  std::string kind;
  std::string namespace_;  // "" of cluster-scoped objects
  std::string name;
  std::string patch;  // JSON, for a strategic merge
  // The API server lets no one change that: the object is deleted, and made again with the patch.
  bool recreate = false;
  // For a shell, with kubectl; what kubectl cannot do is a comment.
  std::vector<std::string> commands;
};

// Appends the object that stands for it in documents.
void AppendApplication(const Application& application, std::string& out);

// Appends the object that stands for a change in documents.
void AppendChange(const Change& change, std::string& out);

}  // namespace berth::explain
