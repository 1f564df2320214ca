// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/in_tree/async.h"
#include "berth/in_tree/handle.h"
#include "berth/result.h"
#include "plugins/volume_binding/find_volumes.h"

namespace berth::plugins {

// What a pod was given on its node, from Reserve until it is bound or unreserved.
//
// Thread safety: made on the scheduling thread, and not changed after that.
struct AssumedPodVolumes {
  // A volume bound to a claim.
  struct Binding {
    std::shared_ptr<const api::PersistentVolume> volume;
    std::string claim_namespace;
    std::string claim_name;
    bool to_write = false;  // the API server has not shown it so
  };
  // A claim that a volume is to be made for.
  struct Provision {
    std::shared_ptr<const api::PersistentVolumeClaim> claim;
    bool to_write = false;
  };

  std::string node_name;
  bool assumed = true;  // false: where Reserve is not called
  std::vector<Binding> bindings;
  std::vector<Provision> provisions;
};

// Assumes that the node gives the pod what was found there. Errors: as AssumedVolumes::Assume;
// then nothing is assumed.
Result<std::shared_ptr<AssumedPodVolumes>> AssumePodVolumes(const NodeVolumes& found,
                                                            std::string_view node_name,
                                                            Handle& handle);

// What was found on the node, as it is: nothing of it is assumed or written.
std::shared_ptr<AssumedPodVolumes> UnassumedPodVolumes(const NodeVolumes& found,
                                                       std::string_view node_name);

// Restores what is assumed, but for what has been written.
void RevertAssumed(const AssumedPodVolumes& volumes, AssumedVolumes& assumed);

// Whether all that was given is bound, as the API server shows it: Success, nullopt while it is not
// yet, or why it never will be, in kube-scheduler's words.
std::optional<AsyncStatus> CheckBindings(const AssumedPodVolumes& volumes, const api::Pod& pod,
                                         const Handle& handle);

}  // namespace berth::plugins
