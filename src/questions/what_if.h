// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/object.h"
#include "berth/api/pod.h"
#include "berth/config_value.h"
#include "berth/result.h"
#include "src/questions/difference.h"
#include "src/questions/replicas.h"
#include "src/simulator/admission.h"
#include "src/simulator/pod_controllers.h"
#include "src/simulator/simulation.h"

namespace berth::questions {

// What is asked of a cluster that were another.
// More are no question any more.
inline constexpr size_t kMostNewNodes = 10'000;
inline constexpr size_t kMostObjects = 10'000;
inline constexpr size_t kMostNames = 1'000;  // of nodes, of controllers

// A workload of the cluster, of whose template pods are to be made; nullopt: there is none.
using FindWorkload =
    std::function<Result<std::optional<simulator::PodController>>(const Scale& scale)>;

// Changes, in the order in which they are made.
struct WhatIf {
  std::vector<api::ObjectPtr> add;  // nodes first, pods last
  // The generateName of those of its pods that take another name where the cluster has theirs.
  std::map<std::string, std::string> generated_pods;
  // Those whose pods are added, after `add`.
  std::vector<simulator::PodController> controllers;
  // By which pods of the question are admitted, besides what pods of the cluster tell.
  simulator::AdmissionObjects admission;
  size_t add_nodes = 0;
  std::string like;  // the node that these are like
  std::vector<std::string> remove_nodes;
  std::vector<Scale> scale;
  // Workloads of the cluster without pods: what `scale` makes pods of where none is there.
  std::vector<simulator::PodController> idle;
  // Finds others; may be empty.
  FindWorkload find_workload;
  // Cordoned before anything else; what `add` brings, after that.
  std::vector<std::string> cordon;
  std::vector<std::string> drain;
  bool reschedule = false;               // all pods that controllers make again
  std::shared_ptr<const api::Pod> fill;  // nullptr: nothing is filled
  size_t most = kMostCopies;
  // The text of a KubeSchedulerConfiguration to compare with; "": none. The caller makes the
  // other simulation of it.
  std::string new_config;

  bool any() const;
};

// What the parts of a question are called in messages: by default the members of a document.
struct PartNames {
  std::string_view add = "add";
  std::string_view like = "addNodes.like";
  std::string_view remove_nodes = "removeNodes";
  std::string_view scale = "scale";
  std::string_view cordon = "cordon";
  std::string_view drain = "drain";
  std::string_view fill = "fill.pod";
};

// Reads a question out of a document (docs/explain.md); how large a text it came from is for the
// caller to bound. Errors: all problems with the fields, unknown ones included, or the first object
// that cannot be read; each with the field's path.
Result<WhatIf> ParseWhatIf(const ConfigValue& document);
Result<WhatIf> ParseWhatIf(std::string_view json);

// What the question refers to that neither it nor the cluster has, for people: of its objects, and
// of the pods of its controllers.
std::vector<std::string> MissingOf(const WhatIf& question, const simulator::Simulation& cluster);
// The same of objects alone, beside the RuntimeClasses of `admission`.
std::vector<std::string> MissingOf(const std::vector<api::ObjectPtr>& objects,
                                   const simulator::AdmissionObjects& admission,
                                   const simulator::Simulation& cluster);

// Looks at `today`, lets it settle, then makes the changes, and tells what differs. With `other`,
// which was made of the same objects, the changes are made there, and the difference between the
// two counts, too; pods are then rescheduled in both. Neither has decided anything before.
//
// Errors: a node, a controller or the meaning of a PriorityClass that is not there, or a pod that
// admission would refuse, named as `names` says; a simulation was interrupted.
Result<WhatIfAnswer> AskWhatIf(const WhatIf& question, simulator::Simulation& today,
                               simulator::Simulation* other = nullptr, const PartNames& names = {});

}  // namespace berth::questions
