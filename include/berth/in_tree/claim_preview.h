// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/pod.h"
#include "berth/pod_info.h"
#include "berth/snapshot.h"

namespace berth::inline in_tree {

// A Filter that can say what it is on a node that its rejection means, where the node and its pods
// alone do not show that. For people: reasons keep kube-scheduler's words.
class InTheWayPlugin {
 public:
  virtual ~InTheWayPlugin() = default;
  // "": nothing that it knows. As of now, without what a cycle keeps. Scheduling thread.
  virtual std::string InTheWayOf(const api::Pod& pod, const NodeView& node) const = 0;
  // Why a claim, by the name that a persistentVolumeClaim volume of the pod has for it, keeps the
  // pod off the node: its reason, and after that what is in the way. "": it does not.
  virtual std::string ProblemOfClaim(const api::Pod&, std::string_view, const NodeView&) const {
    return "";
  }
};

// What one of a pod's claims has, or would get, on a node.
struct ClaimPreview {
  std::string claim;        // "namespace/name"
  std::string volume;       // the volume that it has or would take; "" where there is none
  std::string provisioner;  // who would make a volume for it; "" where none is to be made
  std::string problem;      // why it keeps the pod off the node; "" where it does not
  // Of a claim of devices: what it has or would be given, each as "request: driver/pool/device".
  bool has_devices = false;
  std::vector<std::string> devices = {};
};

// A Filter that can say what a pod's claims would get.
class ClaimPreviewPlugin {
 public:
  // By node, what each claim would get, in the order in which the pod names them.
  using ByNode = std::function<std::vector<ClaimPreview>(const NodeView& node)>;

  virtual ~ClaimPreviewPlugin() = default;
  // Looks the claims up once; what is returned is good as long as the cycle; nullptr: the pod has
  // none that the plugin knows. Scheduling thread.
  virtual ByNode PreviewClaims(const PodInfo& pod) const = 0;
};

}  // namespace berth::inline in_tree
