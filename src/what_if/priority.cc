// SPDX-License-Identifier: Apache-2.0
#include "src/what_if/priority.h"

#include <utility>

#include "berth/field_errors.h"

namespace berth::what_if {

void PriorityClasses::Read() {
  classes_["system-cluster-critical"].priority = 2'000'000'000;
  classes_["system-node-critical"].priority = 2'000'001'000;
  simulation_.api().ForEach(informers::Kind::kPod, [this](const api::ObjectPtr& object) {
    const api::PodSpec& spec = api::As<api::Pod>(object)->spec;
    if (spec.priority_class_name.empty() || !spec.priority) return;
    classes_[spec.priority_class_name] = {*spec.priority, spec.preemption_policy};
  });
}

Result<std::shared_ptr<const api::Pod>> PriorityClasses::Resolve(
    std::shared_ptr<const api::Pod> pod) {
  const std::string& name = pod->spec.priority_class_name;
  if (pod->spec.priority || name.empty()) return pod;
  if (classes_.empty()) Read();
  const auto found = classes_.find(name);
  if (found == classes_.end()) {
    return Fail("spec.priorityClassName: Not found: " + Quoted(name) +
                ": no pod of the cluster tells what it means; state spec.priority");
  }
  auto resolved = std::make_shared<api::Pod>(*pod);
  resolved->spec.priority = found->second.priority;
  if (!resolved->spec.preemption_policy) {
    resolved->spec.preemption_policy = found->second.preemption_policy;
  }
  return resolved;
}

}  // namespace berth::what_if
