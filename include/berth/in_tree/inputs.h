// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::inline in_tree {

// The parts of a pod that a plugin may say it reads; a set, as bits.
using PodParts = uint32_t;
namespace pod_part {
inline constexpr PodParts kNodeName = 1u << 0;
inline constexpr PodParts kTolerations = 1u << 1;
inline constexpr PodParts kNodeAffinity = 1u << 2;  // nodeSelector and affinity.nodeAffinity
inline constexpr PodParts kHostPorts = 1u << 3;
inline constexpr PodParts kRequests = 1u << 4;  // of containers, pod level, overhead
inline constexpr PodParts kImages = 1u << 5;    // of containers and image volumes
inline constexpr PodParts kLabels = 1u << 6;    // all of them
inline constexpr PodParts kNamespace = 1u << 7;
inline constexpr PodParts kPriority = 1u << 8;  // priority and preemptionPolicy
inline constexpr PodParts kPodAffinity = 1u << 9;
inline constexpr PodParts kTopologySpread = 1u << 10;
inline constexpr PodParts kVolumes = 1u << 11;  // claims and disks; not what only kubelet reads
inline constexpr PodParts kSchedulingGates = 1u << 12;
inline constexpr PodParts kOwner = 1u << 13;
inline constexpr PodParts kNodeFeatures = 1u << 14;  // what RequiredNodeFeatures() says
// The labels that a selector may test: of the pod's own affinity and spread terms, of any pod's
// affinity terms, of a Service, ReplicationController, ReplicaSet or StatefulSet, and of the
// plugins of a profile (Inputs::label_keys).
inline constexpr PodParts kTestedLabels = 1u << 15;
inline constexpr PodParts kResourceClaims = 1u << 16;
inline constexpr PodParts kSchedulingGroup = 1u << 17;
inline constexpr PodParts kLimits = 1u << 18;  // of containers
inline constexpr PodParts kEverything = ~PodParts{0};
}  // namespace pod_part

// How far the inputs of a node's verdict or score lie from that node.
enum class Reach : uint8_t {
  kNode,          // the node object of this row
  kUsage,         // the pods on this row and what they use
  kMeasured,      // what this row is measured to use: MeasuredNodes
  kAllNodes,      // the node objects of all rows
  kDomain,        // usage on rows with this row's value of a topology key
  kCluster,       // totals over all rows
  kOtherObjects,  // objects that are neither pods nor nodes
};

struct Input {
  Reach reach = Reach::kNode;
  std::string topology_key = {};  // kDomain only
};

// What a plugin's Filter and Score depend on. Verdicts are kept, and only rows within reach of a
// change evaluated again, for plugins that declare; an undeclared plugin is evaluated each time,
// and so are all others of its profile.
struct Inputs {
  // The plugin's signature: pods alike in these parts get alike verdicts and raw scores.
  PodParts pod = pod_part::kEverything;
  std::vector<Input> inputs = {};
  bool declared = false;
  bool each_pod = false;
  // With kTestedLabels: what the plugin's own selectors test.
  std::vector<std::string> label_keys = {};

  static Inputs Undeclared() { return {}; }
  static Inputs Of(PodParts pod, std::vector<Input> inputs) {
    return {.pod = pod, .inputs = std::move(inputs), .declared = true};
  }
  // For a plugin that depends on what belongs to one pod, such as its claims. PreFilter is asked
  // about each pod and, unless it says Skip, so is Filter, about every node that the other plugins
  // leave; their answers are kept. A pod for which PreFilter names nodes, or PreScore does not say
  // Skip, is evaluated by itself.
  static Inputs EachPod() { return {.each_pod = true}; }
};

}  // namespace berth::inline in_tree
