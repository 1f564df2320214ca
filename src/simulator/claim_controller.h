// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "src/base/executor.h"
#include "src/informers/informer_event.h"
#include "src/simulator/memory_api.h"

namespace berth::simulator {

// What kube-controller-manager does about ResourceClaims, over an API server in memory, at once and
// without fail:
//
//   a pod's claims are made from their templates, and named in status.resourceClaimStatuses;
//   a claim is no longer reserved for a pod that is done or gone; without any reservation left it
//     is deallocated, and deleted if it was made for that pod.
//
// All of it is done on the executor's next turn after the change that asks for it.
//
// Thread safety: one owner, who runs the executor too.
class ClaimController {
 public:
  // Both must outlive it.
  ClaimController(MemoryApi& api, base::Executor& executor, ControllersOf of = ControllersOf::kAll)
      : api_(api), executor_(executor), of_(of) {}
  ClaimController(const ClaimController&) = delete;
  ClaimController& operator=(const ClaimController&) = delete;

  // Takes a change of the API in; of every kind, in order.
  void See(const informers::InformerEvent& event);

 private:
  using Names = std::set<std::string, std::less<>>;

  void SeePod(const api::Pod* before, const api::Pod* after);
  void SeeEndOf(const api::Pod& pod);
  bool SeesTo(const api::ObjectMeta& meta) const {
    return of_ == ControllersOf::kAll || IsOfManifest(meta);
  }
  // Does what is due, on the executor's next turn.
  void Wake();
  void Work();

  void MakeClaimsOf(const std::string& pod_key);
  // The name of the claim made for that entry of the pod's.
  std::string MakeClaim(const api::Pod& pod, const api::PodResourceClaim& entry,
                        const api::ResourceClaimTemplate& from);
  void SyncClaim(const std::string& key);
  bool IsGone(std::string_view pod_namespace, std::string_view name, const std::string& uid) const;

  MemoryApi& api_;
  base::Executor& executor_;
  const ControllersOf of_;
  bool awake_ = false;
  uint64_t made_ = 0;
  // Keys of what has to be looked at.
  Names due_pods_;
  Names due_claims_;
  // Keys of pods, by that of the template that they wait for.
  std::map<std::string, Names, std::less<>> waiting_;
  // Uids of pods that are done or gone.
  Names gone_;
};

}  // namespace berth::simulator
