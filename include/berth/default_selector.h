// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth/api/pod.h"
#include "berth/label_selector.h"
#include "berth/listers.h"

namespace berth {

// The pods that belong together with `pod`: what the services that select it and its controller (a
// ReplicationController, ReplicaSet or StatefulSet) select, all of it demanded. Everything when
// nothing selects the pod. Objects that are not there and selectors that cannot be parsed demand
// nothing.
LabelSelectorMatcher DefaultSelector(const api::Pod& pod, const Listers& listers);

}  // namespace berth
