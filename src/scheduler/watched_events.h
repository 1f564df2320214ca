// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "berth/cluster_event.h"
#include "src/framework/profile.h"
#include "src/informers/informer_event.h"

// Which cluster events there can be: those of the kinds that are watched.
namespace berth::scheduler {

// Of cluster events about objects of this kind, but for pods: theirs differ by pod; nullopt: none
// are made.
std::optional<EventResource> EventResourceOf(informers::Kind kind);
// Whether any kind that is watched with these gates makes events of `resource`.
bool IsWatched(EventResource resource, const Features& features);
// Logs which of the profile's plugins registered for events that there will be none of.
void WarnOfUnwatchedEvents(const framework::Profile& profile, const Features& features);

}  // namespace berth::scheduler
