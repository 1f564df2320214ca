// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/object.h"
#include "berth/config_value.h"
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

// One object out of a document, filled in and checked as those of dumps; `kind` as in
// documents::ReadObject. Errors: with the field's path, which begins with `path`.
Result<api::ObjectPtr> ReadObject(const ConfigValue& value, std::string_view path,
                                  std::string_view kind = "");
// The same for a pod, which need not state that it is one.
Result<std::shared_ptr<const api::Pod>> ReadPod(const ConfigValue& value, std::string_view path);
// The same for a list of objects ("path[2]"), ordered as a cluster's; also refuses what stands
// there twice. Pods may be on nodes that are elsewhere.
Result<std::vector<api::ObjectPtr>> ReadObjects(const ConfigValue::List& values,
                                                std::string_view path);

}  // namespace berth::simulator
