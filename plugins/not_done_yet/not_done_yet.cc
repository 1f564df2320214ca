// SPDX-License-Identifier: Apache-2.0
#include "plugins/not_done_yet/not_done_yet.h"

#include <memory>

namespace berth::plugins {
namespace {

constexpr NotDoneYet::Missing kMissing[] = {
    {"GangScheduling",
     "pod belongs to a pod group (spec.schedulingGroup), which Berth does not support yet",
     pod_part::kSchedulingGroup,
     [](const api::PodSpec& spec) { return spec.scheduling_group.has_value(); }},
};

}  // namespace

PreFilterResult NotDoneYet::PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) {
  return {.status = missing_.needed_by(pod.pod->spec) ? rejection_ : Status::Skip()};
}

std::vector<PluginRegistration> PluginsNotDoneYet() {
  std::vector<PluginRegistration> registrations;
  for (const NotDoneYet::Missing& missing : kMissing) {
    registrations.push_back(
        {.name = missing.name,
         .factory = [&missing](const ConfigValue&, Handle& handle) -> Result<Plugin> {
           return AsPlugin(missing.name, std::make_unique<NotDoneYet>(missing, handle));
         },
         .partial = true,
         // kube-scheduler heeds groups only with the gate GenericWorkload;
         // where the API server has it, pods have groups all the same.
         .in_every_profile = missing.name == "GangScheduling"});
  }
  return registrations;
}

}  // namespace berth::plugins
