// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/object.h"
#include "berth/config_value.h"
#include "berth/result.h"
#include "src/api/kinds.h"

// Manifests of workloads, and the pods that their controllers would make of them.
namespace berth::simulator {

// More are no question any more: pods of all controllers of a question or a cluster.
inline constexpr size_t kMostMadePods = 100'000;

// Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob or ReplicationController.
struct PodController {
  std::string api_version;
  std::string kind;
  api::ObjectMeta metadata;
  std::string generate_name;  // of one without a name, until PodMaker::Name() gives it one
  // What each pod is like, with the API server's defaults; without a name.
  std::shared_ptr<const api::Pod> pod;
  // How many run at once; one a node of a DaemonSet. Of a CronJob: those of one run.
  int64_t pods = 1;
  int64_t first_ordinal = 0;  // of a StatefulSet
  bool indexed = false;       // a Job whose pods have an index each
  std::optional<api::LabelSelector> selector;
  std::vector<api::PersistentVolumeClaim> claims;  // templates of a StatefulSet's claims
  ConfigValue stored_spec;                         // what ReadStored() read
};

// Whether objects of that type make pods.
bool IsPodController(const api::TypeMeta& type);

// Reads a controller's manifest; nullopt: it has no template with containers, so it makes nothing.
// Errors: with the field's path, which begins with `path`; also what no API server would take.
//
// Thread safety: any thread.
Result<std::optional<PodController>> ReadPodController(const ConfigValue& value,
                                                       const api::TypeMeta& type,
                                                       std::string_view path);

// A stored workload, of whose template pods may be made where it has none. nullopt: it cannot be
// read, or has an owner, which answers for it.
std::optional<PodController> ReadStored(const ConfigValue& object, const api::TypeMeta& type);
// Whether a workload is to have no pods.
bool HasNoReplicas(const ConfigValue& object);
// Appends what ReadStored() read as JSON, each behind the separator, which is ",\n" from then on:
// without the environment and the arguments of containers.
void AppendJson(const std::vector<PodController>& stored, std::string_view& separator,
                std::string& out);

// Why a manifest of which ReadPodController() makes nothing would be refused: "Deployment shop/web:
// spec.template.spec.containers: Required value".
std::string MissingContainers(const ConfigValue& value, const api::TypeMeta& type);

// Makes what controllers would make in a cluster, at once: the pods that are missing, without a
// node; a Deployment's ReplicaSet, with the label pod-template-hash; a StatefulSet's claims. The
// pods of a controller that are there already count, whatever they are like. A DaemonSet's pods are
// those of the nodes that its controller would choose. Names are those of Kubernetes where they are
// fixed, else "web-new-0" and "agent-NODE".
//
// Thread safety: one owner.
class PodMaker {
 public:
  // Takes in what is there: nodes, ReplicaSets and claims before pods; other kinds are passed over.
  void See(const api::ObjectPtr& object);

  // Gives each that has none the first name of its form that is free ("run-1"): among these, and
  // among the controllers whose pods are there.
  void Name(std::vector<PodController>& controllers) const;

  // What the controller, which has a name, makes, pods last; it counts as there then. Errors: too
  // many pods.
  Result<std::vector<api::ObjectPtr>> Make(const PodController& controller);

 private:
  using Names = std::set<std::string, std::less<>>;

  void SeePod(const api::Pod& pod);
  Result<void> Count(size_t pods);
  // `prefix` with the first number that is free.
  std::string NewName(const std::string& namespace_, const std::string& prefix);
  api::Pod MakePod(const PodController& controller, const api::OwnerReference& owner,
                   std::string name) const;
  void MakeAlike(const PodController& controller, std::vector<api::ObjectPtr>& out);
  void MakeOrdinals(const PodController& controller, std::vector<api::ObjectPtr>& out);
  void MakeDaemons(const PodController& controller, std::vector<api::ObjectPtr>& out);

  std::vector<std::shared_ptr<const api::Node>> nodes_;
  // "namespace/name" of a ReplicaSet, and of the Deployment that controls it.
  std::map<std::string, std::string, std::less<>> deployment_of_;
  std::map<std::string, size_t, std::less<>> pods_of_;  // by "Kind/namespace/name"
  Names daemons_on_;                                    // "Kind/namespace/name@node"
  Names pod_keys_;
  Names claim_keys_;
  std::map<std::string, size_t, std::less<>> next_;  // by "namespace/prefix"
  size_t made_ = 0;
};

}  // namespace berth::simulator
