// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/node.h"
#include "berth/api/pod.h"
#include "berth/pod_info.h"

// Fluent builders of API objects for tests: MakePod().Name("a").Req({{"cpu", "1"}}).
// A builder converts to the object it builds. Text that is no quantity aborts.
namespace berth::test {

// Resource name to quantity text, in any order.
using ResourceText = std::initializer_list<std::pair<std::string_view, std::string_view>>;
// Label key to value, in any order.
using LabelText = std::initializer_list<std::pair<std::string_view, std::string_view>>;

api::ResourceList MakeResources(ResourceText resources);
api::StringMap MakeLabels(LabelText labels);
// A selector with match_labels only.
api::LabelSelector MakeSelector(LabelText labels);
api::NodeSelectorRequirement MakeRequirement(std::string_view key, std::string_view op,
                                             std::vector<std::string> values = {});
// A container with these requests.
api::Container MakeContainer(ResourceText requests);
// An init container; `sidecar` makes it restartable.
api::Container MakeInitContainer(ResourceText requests, bool sidecar);

// A pod named default/pod, with no container, unless told otherwise. The uid is namespace/name
// when none is given.
class PodBuilder {
 public:
  PodBuilder();

  // metadata
  PodBuilder& Name(std::string_view name);
  PodBuilder& Namespace(std::string_view name);
  PodBuilder& Uid(std::string_view uid);
  PodBuilder& Label(std::string_view key, std::string_view value);
  PodBuilder& Annotation(std::string_view key, std::string_view value);
  PodBuilder& Generation(int64_t generation);
  PodBuilder& ResourceVersion(std::string_view version);
  PodBuilder& CreatedAt(Time time);
  PodBuilder& DeletedAt(Time time);
  PodBuilder& Owner(std::string_view kind, std::string_view name, std::string_view uid);

  // spec
  PodBuilder& OnNode(std::string_view node_name);
  PodBuilder& SchedulerName(std::string_view name);
  PodBuilder& Priority(int32_t priority);
  PodBuilder& PreemptionPolicy(std::string_view policy);
  PodBuilder& Gate(std::string_view name);
  PodBuilder& HostNetwork();
  PodBuilder& HostUsers(bool host_users);
  PodBuilder& Tolerate(std::string_view key, std::string_view op, std::string_view value,
                       std::string_view effect);
  PodBuilder& NodeSelector(std::string_view key, std::string_view value);
  // Each call adds a term: required ones are ORed.
  PodBuilder& RequireNode(std::vector<api::NodeSelectorRequirement> expressions,
                          std::vector<api::NodeSelectorRequirement> fields = {});
  PodBuilder& PreferNode(int32_t weight, std::vector<api::NodeSelectorRequirement> expressions,
                         std::vector<api::NodeSelectorRequirement> fields = {});
  PodBuilder& PodAffinity(std::string_view topology_key, LabelText selector);
  PodBuilder& PodAntiAffinity(std::string_view topology_key, LabelText selector);
  PodBuilder& PreferPodAffinity(int32_t weight, std::string_view topology_key, LabelText selector);
  PodBuilder& PreferPodAntiAffinity(int32_t weight, std::string_view topology_key,
                                    LabelText selector);
  PodBuilder& Spread(int32_t max_skew, std::string_view topology_key, std::string_view when,
                     LabelText selector);

  // Each call adds a container.
  PodBuilder& Req(ResourceText requests);
  PodBuilder& InitReq(ResourceText requests);
  PodBuilder& SidecarReq(ResourceText requests);
  PodBuilder& HostPort(int32_t port, std::string_view protocol = "TCP", std::string_view ip = "");
  PodBuilder& Image(std::string_view image);
  PodBuilder& Container(api::Container container);
  PodBuilder& InitContainer(api::Container container);

  PodBuilder& PodLevelReq(ResourceText requests);
  PodBuilder& Overhead(ResourceText overhead);
  PodBuilder& ImageVolume(std::string_view reference);
  PodBuilder& ClaimVolume(std::string_view claim_name);
  PodBuilder& EphemeralVolume(std::string_view name);
  PodBuilder& Volume(api::Volume volume);
  PodBuilder& ResourceClaim(std::string_view claim_name);
  PodBuilder& SchedulingGroup(std::string_view pod_group_name);

  // status
  PodBuilder& Phase(std::string_view phase);
  PodBuilder& NominatedNode(std::string_view node_name);
  PodBuilder& StartedAt(Time time);
  PodBuilder& Condition(std::string_view type, std::string_view status,
                        std::string_view reason = "", std::string_view message = "");

  api::Pod Obj() const;
  operator api::Pod() const { return Obj(); }
  std::shared_ptr<const api::Pod> Ptr() const;
  PodInfoPtr Info(ResourceNames& names) const;

 private:
  api::PodAffinity& Affinity();
  api::PodAffinity& AntiAffinity();

  api::Pod pod_;
};

// A node without labels or taints that allows 110 pods and has nothing else to give.
class NodeBuilder {
 public:
  explicit NodeBuilder(std::string_view name);

  NodeBuilder& Name(std::string_view name);
  NodeBuilder& Label(std::string_view key, std::string_view value);
  NodeBuilder& Annotation(std::string_view key, std::string_view value);
  NodeBuilder& Unschedulable(bool unschedulable = true);
  NodeBuilder& Taint(std::string_view key, std::string_view value, std::string_view effect);
  // Sets these resources in status.allocatable; `pods` stays at 110 unless named.
  NodeBuilder& Allocatable(ResourceText resources);
  NodeBuilder& Image(std::vector<std::string> names, int64_t size_bytes);
  NodeBuilder& Condition(std::string_view type, std::string_view status);
  NodeBuilder& DeclaredFeature(std::string_view name);

  api::Node Obj() const { return node_; }
  operator api::Node() const { return node_; }
  std::shared_ptr<const api::Node> Ptr() const { return std::make_shared<const api::Node>(node_); }

 private:
  api::Node node_;
};

inline PodBuilder MakePod() { return PodBuilder(); }
inline NodeBuilder MakeNode(std::string_view name = "node") { return NodeBuilder(name); }

}  // namespace berth::test
