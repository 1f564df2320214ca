// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "berth/in_tree/features.h"
#include "src/informers/informer_event.h"
#include "src/scheduler/profiles.h"

// Objects as they count, where that is not as the API server, a dump or a recording shows them.
namespace berth::scheduler {

// The pod as it counts; the same pointer where that is as it is.
// - What its status says of claims counts only behind the gate for that.
// - Where its profile has the plugin Coscheduling, the label scheduling.x-k8s.io/pod-group is its
//   spec.schedulingGroup; without the gate GenericWorkload what the field says does not count, with
//   it the field goes before the label. Of other schedulers' pods those on nodes are looked at,
//   too.
// What counts already counts as it is.
std::shared_ptr<const api::Pod> Counted(const std::shared_ptr<const api::Pod>& pod,
                                        const Features& features, const Profiles& profiles);

// The event with PodGroups of scheduling.x-k8s.io in the shape of those of scheduling.k8s.io, as
// one of these. Where both kinds are watched, the names of the former begin with
// "scheduling.x-k8s.io/", so that none is taken for one of the latter.
informers::InformerEvent Counted(const informers::InformerEvent& event, const Features& features);

}  // namespace berth::scheduler
