// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "berth/api/object.h"
#include "berth/result.h"

namespace berth::simulator {

// The objects of a cluster, as dumps hold them.
struct Cluster {
  // Nodes first, pods last; otherwise in file order.
  std::vector<api::ObjectPtr> objects;
  // Objects of kinds that Berth does not read, by "Secret" or "Deployment.apps".
  std::map<std::string, uint64_t> skipped;
};

// How much of the text of a file has been read.
using LoadProgress = std::function<void(size_t bytes, size_t of)>;

// Reads what `kubectl get ... -o json|yaml` printed; see documents::ReadDump. Dumps count as
// defaulted, so only a missing namespace ("default"), uid (made of kind and name) and schedulerName
// ("default-scheduler") are filled in. Pods that have Succeeded or Failed are left out.
//
// Errors begin with file, line and place, and name the field: what ReadDump refuses, an object
// without a name, an object or a pod's uid that stands there twice, a pod on a node that is not
// there, a bad label or node selector.
//
// Thread safety: any thread.
Result<Cluster> LoadCluster(const std::vector<std::string>& files,
                            const LoadProgress& progress = nullptr);

}  // namespace berth::simulator
