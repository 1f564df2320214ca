// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/config/types.h"

namespace berth::config {

// Lays what a profile says about one extension point over the defaults, as kube-scheduler's
// mergePluginSet does:
//  - disabled: the custom names, then the default ones; a disabled "*" drops all defaults.
//  - enabled: the defaults that are not disabled, in their order; one that `custom` enables too is
//    replaced in its place, weight included (an omitted weight is then 0, not the default's).
//  - then the other custom plugins in their order. A repeated one stays, and fails later.
// So a plugin both enabled and disabled in `custom` ends up enabled, at the end.
PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& custom);

// Merges each extension point.
Plugins MergePlugins(const Plugins& defaults, const Plugins& custom);

}  // namespace berth::config
