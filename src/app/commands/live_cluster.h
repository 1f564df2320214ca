// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/in_tree/handle.h"
#include "berth/result.h"
#include "berth/time.h"
#include "src/client/kubeconfig.h"
#include "src/informers/informer_event.h"
#include "src/questions/replicas.h"
#include "src/simulator/admission.h"
#include "src/simulator/pod_controllers.h"
#include "src/ui/api.h"

namespace berth::app {

// How long is waited.
struct Patience {
  Duration time{};
  std::function<bool()> interrupted = nullptr;  // says yes: no longer
};

// Lists every kind that the daemon watches with these gates, or with `all_kinds` those of all gates
// and plugins, and returns what the informers reported up to the moment when all of them had
// synced. Only reads. Errors: within two seconds where waiting is in vain (IsFinal), in kubectl's
// words and with all rights that are missing; else not all lists came while there was `patience`.
Result<std::vector<informers::InformerEvent>> ReadLiveCluster(const client::ServerConfig& server,
                                                              const Features& features,
                                                              uint64_t seed,
                                                              const Patience& patience,
                                                              bool all_kinds = false);

// Appends the cluster's objects of a kind that admission goes by and no scheduler watches. Errors:
// in kubectl's words, also where the user may not list them.
Result<void> ReadAdmissionObjects(const client::ServerConfig& server,
                                  const simulator::AdmissionKind& kind, Duration patience,
                                  simulator::AdmissionObjects& out);

// A kind of workloads that have a number of replicas, and where an API server has its objects.
struct WorkloadKind {
  std::string_view api_version;
  std::string_view kind;
  std::string_view root;
  std::string_view resource;
};
inline constexpr std::array<WorkloadKind, 4> kWorkloadKinds = {{
    {"apps/v1", "Deployment", "/apis/apps/v1", "deployments"},
    {"apps/v1", "ReplicaSet", "/apis/apps/v1", "replicasets"},
    {"apps/v1", "StatefulSet", "/apis/apps/v1", "statefulsets"},
    {"v1", "ReplicationController", "/api/v1", "replicationcontrollers"},
}};

// Appends the cluster's workloads of the kind that are to have no pods. Errors: as
// ReadAdmissionObjects().
Result<void> ReadIdleWorkloads(const client::ServerConfig& server, const WorkloadKind& kind,
                               Duration patience, std::vector<simulator::PodController>& out);
// A workload, of whose template pods are to be made. nullopt: there is none, or it is of another
// kind. Errors: what the API server says, also where the user may not get it.
Result<std::optional<simulator::PodController>> FindWorkload(const client::ServerConfig& server,
                                                             const questions::Scale& scale,
                                                             Duration patience);

// The phase of a pod that has ended, of which the lists say nothing: "Succeeded" or "Failed". "":
// it has not ended, or the server does not say. `key` is "namespace/name".
std::string PhaseOfEndedPod(const client::ServerConfig& server, std::string_view key,
                            Duration patience);

// The same cluster, kept up by watches from then on.
//
// Thread safety: any thread, but for the ends.
class LiveCluster {
 public:
  // What to do with a line for people, on a thread of the cluster's own.
  using Say = std::function<void(const std::string& line)>;

  // Returns once all lists are in. From then on `say` is called where the server goes, with the
  // reason, and where it is back, not for each watch and retry. Errors: as ReadLiveCluster().
  static Result<std::unique_ptr<LiveCluster>> Open(const client::ServerConfig& server,
                                                   const Features& features, uint64_t seed,
                                                   const Patience& patience, Say say);
  ~LiveCluster();
  LiveCluster(const LiveCluster&) = delete;
  LiveCluster& operator=(const LiveCluster&) = delete;

  // How many changes have come since then that say something new of an object, and whether pods and
  // nodes are being watched.
  ui::Following following() const;
  // All objects, by kind and key; pods last, and by their creation.
  std::vector<api::ObjectPtr> Objects() const;
  // Of the objects whose newest version cannot be decoded, why, each by its key.
  std::vector<std::string> Undecodable() const;
  // Returns once something new has come of an object, or after so long.
  void AwaitChange(Duration longest) const;
  // The pods of a namespace, by name.
  std::vector<std::shared_ptr<const api::Pod>> PodsOf(std::string_view pod_namespace) const;

 private:
  struct Impl;
  explicit LiveCluster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::app
