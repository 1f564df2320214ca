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
#include "src/simulator/admission.h"
#include "src/simulator/memory_api.h"
#include "src/simulator/pod_controllers.h"

namespace berth::simulator {

// The objects of a cluster, as dumps hold them.
struct Cluster {
  // Nodes first, pods last, those without a node by their creation; otherwise in file order, as
  // are pods whose creation is not known, after the others.
  std::vector<api::ObjectPtr> objects;
  uint64_t ended_pods = 0;                   // that were read, and are not among them
  std::map<std::string, std::string> ended;  // their phases, by key
  // Objects of kinds that Berth does not read, by "Secret" or "Deployment.apps".
  std::map<std::string, uint64_t> skipped;
  // What was odd, each with its place: objects that were left out or count in part. Of
  // LoadCluster() last what MissingReferences() says.
  std::vector<std::string> warnings;
  // What was read as kubectl reads it, though it may be a mistake, each with its place.
  std::vector<std::string> remarks;
  // Those of LoadNewObjects(), whose pods are not among the objects: the cluster decides which
  // pods they make.
  std::vector<PodController> controllers;
  // The pods that asked for a name, by the key that they have now: their generateName.
  std::map<std::string, std::string> generated_pods;
  // Workloads of LoadCluster() that have no pods, for their replicas are 0.
  std::vector<PodController> idle;
  // Those whose pods are among the objects, by kind.
  std::map<std::string, uint64_t> expanded;
  AdmissionObjects admission;
};

// What a question brings to a cluster.
struct NewObjects {
  std::vector<api::ObjectPtr> objects;  // as a cluster's
  std::vector<PodController> controllers;
  AdmissionObjects admission;
  std::map<std::string, std::string> generated_pods;  // as a cluster's
};

// How much of the text of a file has been read.
using LoadProgress = std::function<void(size_t bytes, size_t of)>;

// Reads what `kubectl get ... -o json|yaml` printed; see documents::ReadDump. `files` are what
// `kubectl -f` would read of these arguments: "-" is the standard input, a folder its files that
// end in .json, .yaml or .yml, by name, but not those of folders inside. Commas stand between
// several. Anything else is a file, whether it is there or not. Dumps count as defaulted, so only a
// missing namespace ("default"), uid (made of kind and name) and schedulerName
// ("default-scheduler") are filled in. Pods that have Succeeded or Failed are left out.
//
// What has no uid was never stored: it is a manifest, such as people and charts write. Its pods get
// WithDefaults() and what admission fills in, its controllers make their pods (PodMaker), and an
// object with a generateName instead of a name gets one that is free.
//
// A dump holds what API servers have stored, so what is odd costs that object alone, with a
// warning, and the rest is decided as a scheduler of that cluster would: an object with fields that
// cannot be read is left out, unless it stands for itself all the same (informers::StandIn()); a
// bad label or node selector means to each plugin what it means in a live cluster; a pod on a node
// that is not there takes nothing, and is left out; so are an object without a name, and a pod
// whose uid another has. Of an object that stands there twice the last one counts, as when both are
// applied; that is a warning where they differ.
//
// Errors begin with file, line and place, and name the field: what ReadDump refuses, and files that
// cannot be read; "-" twice, and a folder that has no such file.
//
// Thread safety: any thread.
Result<Cluster> LoadCluster(const std::vector<std::string>& files,
                            const LoadProgress& progress = nullptr);

// The same for objects that a question brings to a cluster, so pods may be on nodes that are
// elsewhere; all of them count as manifests, and are in `default_namespace` where they name none.
// What is new must be whole: what is odd is an error,
// for an API server would refuse it.
Result<Cluster> LoadNewObjects(const std::vector<std::string>& files,
                               const std::string& default_namespace = "default");

// One object out of a document, filled in and checked as those of dumps; `kind` as in
// documents::ReadObject. Errors: with the field's path, which begins with `path`.
Result<api::ObjectPtr> ReadObject(const ConfigValue& value, std::string_view path,
                                  std::string_view kind = "");
// The same for a pod, which need not state that it is one.
Result<std::shared_ptr<const api::Pod>> ReadPod(const ConfigValue& value, std::string_view path);
// The same for a list of objects ("path[2]"), ordered as a cluster's; also refuses what stands
// there twice, and in manifests fields that the API does not have. Pods may be on nodes that are
// elsewhere, and have WithDefaults(); admission is left to the cluster.
Result<NewObjects> ReadObjects(const ConfigValue::List& values, std::string_view path);

// All objects as one list in JSON, for --cluster: what scheduling reads of each, an object a line,
// by kind and key, and for questions what admission goes by and workloads without pods. So there
// are no Secrets or ConfigMaps in it, and no environment and no arguments of containers; nor are
// annotations, but for those of volumes, their claims, classes and CSINodes, and of claims of
// devices, which scheduling reads. Objects of kinds that plugins ask for are there with their text.
std::string DumpOf(const MemoryApi& api, const AdmissionObjects& admission,
                   const std::vector<PodController>& idle);

}  // namespace berth::simulator
