// SPDX-License-Identifier: Apache-2.0
#include "src/api/read_annotations.h"

#include <algorithm>

namespace berth::api {

bool IsReadAnnotation(std::string_view key) {
  static constexpr std::string_view kRead[] = {
      "cluster-autoscaler.kubernetes.io/safe-to-evict",
      "controller.kubernetes.io/pod-deletion-cost",
      "karpenter.sh/do-not-disrupt",
      "kubernetes.io/config.mirror",
      "pv.kubernetes.io/bind-completed",
      "pv.kubernetes.io/bound-by-controller",
      "pv.kubernetes.io/provisioned-by",
      "resource.kubernetes.io/extended-resource-claim",
      "resource.kubernetes.io/pod-claim-name",
      "scheduler.alpha.kubernetes.io/preferAvoidPods",
      "storage.alpha.kubernetes.io/migrated-plugins",
      "topology.node.k8s.io/fingerprint",
      "volume.beta.kubernetes.io/storage-class",
      "volume.kubernetes.io/selected-node",
  };
  return std::ranges::binary_search(kRead, key);
}

}  // namespace berth::api
